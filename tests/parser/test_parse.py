"""From text to trees: what may be parsed, what results hold, which decoders and constraints there are."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from h3n.convert import governors_of, split
from h3n.decode import Constraints
from h3n.errors import DecodeError, Place, UnknownName, UsageError
from h3n.parser import Parser, Result
from h3n.trees import (
    HELPER,
    ROOT,
    Constituent,
    Dependencies,
    EmptyWord,
    Leaf,
    MultiwordToken,
    Sentence,
    SoftLabels,
    Span,
    leaves,
    spans_of,
)
from tests.parser.samples import sentences

TEXT = "This dog saw the old house. Oslo found every telescope near a green dog!"
WORDS = ["this", "dog", "saw", "the", "old", "house", "."]


def words_of(results: Iterator[Result]) -> list[tuple[str, ...]]:
    return [result.words for result in results]


def test_text_is_cut_into_sentences_and_words_with_offsets(parser: Parser) -> None:
    first, second = parser.parse(TEXT)
    assert first.words == ("This", "dog", "saw", "the", "old", "house", ".")
    assert second.words[-2:] == ("dog", "!")
    for result in (first, second):
        assert tuple(TEXT[start:end] for start, end in result.offsets) == result.words
        assert result.text in TEXT


def test_both_trees_are_learned_and_agree(parser: Parser) -> None:
    (result,) = parser.parse(words=WORDS)
    assert result.heads == (2, 3, 0, 6, 6, 3, 3)
    assert result.relations == ("det", "nsubj", "root", "det", "amod", "obj", "punct")
    assert result.governors == tuple(head - 1 for head in result.heads)
    assert result.joint is not None
    assert governors_of(result.joint) == result.governors
    assert split(result.joint)[0] == result.tree
    assert [(s.label, s.start, s.end, s.head) for s in result.spans] == [
        ("S", 0, 7, 2),
        ("NP", 0, 2, 1),
        ("VP", 2, 6, 2),
        ("NP", 3, 6, 5),
    ]


def test_every_kind_of_input(parser: Parser) -> None:
    one = ("this", "dog", "saw", ".")
    assert words_of(parser.parse(words=list(one))) == words_of(parser.parse(words=[one])) == [one]
    assert words_of(parser.parse([one])) == words_of(parser.parse(words=iter([one]))) == [one]
    assert words_of(parser.parse(Sentence(words=one))) == [one]
    assert words_of(parser.parse("this dog saw.")) == [one]
    assert words_of(parser.parse([list(one), "this dog saw. Oslo found.", Sentence(words=one)])) == [
        one,
        one,
        ("Oslo", "found", "."),
        one,
    ]


def test_soft_labels_of_another_parser_are_not_passed_on(parser: Parser) -> None:
    given = Sentence(words=("Dogs", "sleep"), soft_labels=SoftLabels(spans=((Span(0, 2, "X"), 1000),)))
    (result,) = parser.parse(given)
    assert result.sentence.soft_labels is None


def test_a_list_of_strings_is_a_list_of_texts(parser: Parser) -> None:
    texts = ["She sleeps well.", "He eats cake."]
    expected = [("She", "sleeps", "well", "."), ("He", "eats", "cake", ".")]
    for source in (texts, tuple(texts), iter(texts)):
        assert words_of(parser.parse(source)) == expected
    (result,) = parser.parse(words=texts)
    assert result.words == tuple(texts)
    with pytest.raises(UsageError, match="both a text and words= to parse"):
        parser.parse("A dog.", words=["A", "dog"])
    with pytest.raises(UsageError, match="words= is a str; accepted: a list of words, or a list of such lists"):
        parser.parse(words="A dog.")


def test_results_know_which_input_they_are_from(parser: Parser) -> None:
    given = (text for text in ("", TEXT, "Oslo found a dog."))
    assert [result.source for result in parser.parse(given)] == [1, 1, 2]
    assert [result.offsets[0] for result in parser.parse(given)] == []
    assert [result.offsets[0][0] for result in parser.parse(iter([TEXT, TEXT]))] == [0, 28, 0, 28]


def test_nothing_and_sentences_without_words(parser: Parser) -> None:
    assert list(parser.parse("")) == list(parser.parse(" \n ")) == list(parser.parse([])) == []
    first, blank, last = parser.parse([["a", "dog"], [], ["a", "house"]])
    assert (first.words, blank.words, last.words) == (("a", "dog"), (), ("a", "house"))
    assert (blank.heads, blank.spans, blank.tree, blank.joint) == ((), (), None, None)
    assert (blank.brackets(), blank.joint_brackets(), blank.conllu(), str(blank)) == ("", "", "# text =\n\n", "")


@pytest.mark.parametrize(
    ("source", "message"),
    [
        (7, "cannot parse an int; accepted: a text, a list of lists of words, a Sentence, or an iterable of these"),
        (None, r"nothing to parse; accepted: a text, .* or words=\[\.\.\.\]"),
        (b"text", "cannot parse a bytes"),
        ([["a"], 7], "input 2 is an int"),
        ([["a", ""]], "input 1: word 2 is empty"),
        (Sentence(words=("a", "")), "input 1: word 2 is empty"),
        (Sentence(words=("",), place=Place("a.jsonl", 3)), "a.jsonl:3: word 1 is empty"),
        ([["a"], ["b", "c\ud83d"]], r"input 2: word 2 \('c\\ud83d'\) holds half a character"),
    ],
)
def test_what_cannot_be_parsed_is_refused(parser: Parser, source: Any, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        list(parser.parse(source))


def test_wrong_options_are_refused_at_once(parser: Parser) -> None:
    with pytest.raises(UnknownName, match="unknown decoder 'best'; known: auto, cky"):
        parser.parse("A dog.", decoder="best")
    with pytest.raises(UsageError, match="look-ahead of -1"):
        parser.parse("A dog.", look_ahead=-1)
    wrong: Any = [Constraints()]
    with pytest.raises(UsageError, match="constraints of type list; accepted: Constraints, or a function"):
        parser.parse("A dog.", constraints=wrong)
    with pytest.raises(UsageError, match=r"the function of constraints gave \[.*; accepted: Constraints or None"):
        list(parser.parse("A dog.", constraints=lambda _: wrong))


def test_given_tags_spacing_and_ranges_are_kept_and_old_trees_are_not(parser: Parser) -> None:
    given = Sentence(
        words=("dogs", "did", "n't", "run"),
        tags=("XX", "YY", "ZZ", "VB"),
        lemmas=("dog", "do", "not", "run"),
        misc=("_", "_", "_", "SpaceAfter=No"),
        enhanced=("2:nsubj", "0:root", "2:advmod", "2:x"),
        tree=Constituent("OLD", tuple(Leaf("X", word) for word in ("dogs", "did", "n't", "run"))),
        dependencies=Dependencies((ROOT, 0, 0, 0), ("root", "old", "old", "old")),
        comments=("# sent_id = x",),
        inserts=(MultiwordToken(1, 3, "didn't"), EmptyWord(2, 1, "ghost")),
    )
    (result,) = parser.parse(given)
    assert result.tags == given.tags
    assert len(result.upos) == 4
    assert [leaf.tag for leaf in leaves(result.tree or Constituent("", ()))] == list(given.tags or ())
    assert "old" not in result.relations
    assert result.conllu().splitlines()[:2] == ["# sent_id = x", "# text = dogs didn't run"]
    rows = result.conllu().splitlines()[1:]
    assert rows[2] == "2-3\tdidn't" + "\t_" * 8
    assert not any("ghost" in row for row in rows)
    assert [row.split("\t")[8] for row in rows[1:6]] == ["_"] * 5
    assert rows[5].split("\t")[2] == "run"
    assert rows[5].endswith("SpaceAfter=No")


def test_words_without_a_tag_among_others_get_one(parser: Parser) -> None:
    (guessed,) = parser.parse(words=WORDS)
    tags, upos = ("XX", "_", "", "XX", "_", "_", "_"), ("_", "_", "_", "_", "_", "_", "X")
    (result,) = parser.parse(Sentence(words=tuple(WORDS), tags=tags, upos=upos))
    assert result.tags == ("XX", *guessed.tags[1:3], "XX", *guessed.tags[4:])
    assert result.upos == (*guessed.upos[:6], "X")


def test_words_may_be_brackets_or_hold_blanks(parser: Parser) -> None:
    (result,) = parser.parse(words=["(", "New York", ")", "-LRB-"])
    assert result.words == ("(", "New York", ")", "-LRB-")
    assert [word for _, word in result.to_nltk().pos()] == [t.tag for t in leaves(result.tree or Constituent("", ()))]
    assert result.to_nltk().leaves() == list(result.words)
    assert "New_York" in result.brackets()
    assert "-LRB-" in result.brackets()
    assert "\tNew York\t" in result.conllu()


DECODERS = ["auto", "cky", "eisner", "h3n", "hpsg", "mst"]


@pytest.mark.parametrize("decoder", DECODERS)
def test_every_decoder(parser: Parser, decoder: str) -> None:
    (result,) = parser.parse(words=WORDS, decoder=decoder)
    phrases, arcs = decoder not in ("eisner", "mst"), decoder != "cky"
    assert bool(result.spans) == bool(result.tree) == phrases
    assert bool(result.heads) == bool(result.relations) == bool(result.arcs) == arcs
    assert (result.joint is not None) == (phrases and arcs)
    assert all((span.head is None) == (decoder == "cky") for span in result.spans)
    assert "dog" in result.pretty()
    assert result.svg().startswith("<svg")


def test_spans_are_those_of_the_tree(parser: Parser) -> None:
    for result in parser.parse(TEXT, decoder="cky"):
        assert result.tree is not None
        assert [(s.start, s.end, s.label) for s in result.spans] == [
            (s.start, s.end, s.label) for s in spans_of(result.tree)
        ]


def test_constraints_are_obeyed(parser: Parser) -> None:
    (free,) = parser.parse(words=WORDS)
    phrase = next(span for span in free.spans if span.label == "NP")
    wanted = Constraints(
        require_spans=((1, 3),),
        forbid_spans=((phrase.start, phrase.end),),
        require_arcs=((5, 4),),
        forbid_arcs=((2, 6),),
    )
    (bound,) = parser.parse(words=WORDS, constraints=wanted)
    assert bound.joint is not None
    found = {(span.start, span.end) for span in bound.joint.spans}
    assert (1, 3) in found
    assert (phrase.start, phrase.end) not in found
    assert bound.governors[4] == 5
    assert bound.governors[6] != 2


def test_constraints_may_depend_on_the_sentence(parser: Parser) -> None:
    def root_is_last(sentence: Sentence) -> Constraints | None:
        return Constraints(require_arcs=((ROOT, len(sentence) - 1),)) if len(sentence) > 3 else None

    for result in parser.parse(sentences(30, seed=2), constraints=root_is_last):
        if len(result) > 3:
            assert result.heads[-1] == 0


def test_contradicting_constraints_name_the_sentence(parser: Parser) -> None:
    def wanted(sentence: Sentence) -> Constraints | None:
        crossing = Constraints(require_spans=((0, 2), (1, 3)))
        return crossing if sentence.words[0] == "Oslo" else None

    given = [["the", "dog"], [], ["a", "b", "c", "d", "e"], ["Oslo", "found", "dogs"], ["a"]]
    with pytest.raises(DecodeError, match=r"^sentence 4 \(Oslo found dogs\): .*span \(0, 2\).*span \(1, 3\)"):
        list(parser.parse(given, constraints=wanted))


def test_confidences_are_probabilities(parser: Parser) -> None:
    (result,) = parser.parse(words=WORDS)
    assert len(result.arcs) == len(WORDS)
    assert all(0 < item.confidence <= 1 for item in (*result.arcs, *result.spans))
    assert result.arcs[1].confidence > 0.5
    # By hand: a softmax over all governors, and one over all labels and none.
    ((_, scored),) = parser.engine.score([Sentence(words=tuple(WORDS))])
    (scores,) = scored.scores
    assert scores.arc is not None
    assert scores.root is not None
    for arc in result.arcs:
        chosen = scores.root[arc.word] if arc.governor < 0 else scores.arc[arc.governor, arc.word]
        assert arc.confidence == pytest.approx(float(np.exp(chosen)), abs=1e-5)
    inner = next(span for span in result.spans if (span.start, span.end) == (3, 6))
    (labels,) = scored.output.label_scores(*(np.array([at]) for at in (0, 3, 6)))
    odds = np.exp([0.0, *labels])
    label = parser.engine.vocabulary.label_index[inner.label]
    assert inner.confidence == pytest.approx(float(odds[label] / odds.sum()), abs=1e-5)


def test_helper_spans_are_in_the_joint_tree_alone(parser: Parser) -> None:
    # "quite" is part of no phrase of its own in the treebank, yet depends on the adjective.
    (result,) = parser.parse(words=["Oslo", "found", "every", "quite", "old", "teacher", "."])
    assert result.joint is not None
    assert HELPER in {span.label for span in result.joint.spans}
    assert HELPER not in {span.label for span in result.spans}
    assert HELPER not in result.brackets()
    assert HELPER not in result.json()


def test_a_required_span_is_shown(parser: Parser) -> None:
    words = ["Oslo", "found", "every", "quite", "old", "teacher", "."]
    for pair in ((3, 5), (2, 5), (1, 3)):
        (result,) = parser.parse(words=words, constraints=Constraints(require_spans=(pair,)))
        assert pair in {(span.start, span.end) for span in result.spans}
    with pytest.raises(DecodeError, match=r"span \(3, 50\)"):
        list(parser.parse(words=words, constraints=Constraints(require_spans=((3, 50),))))
