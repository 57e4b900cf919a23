"""A result as a sequence of words and of phrases, and given back by its JSON."""

from __future__ import annotations

import copy
import doctest
import json
import pickle
from dataclasses import FrozenInstanceError, replace
from io import StringIO
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import h3n
from h3n import draw, formats
from h3n.decode import Parse
from h3n.engine.naming import name_parse
from h3n.errors import BadJson, FormatError, Place, TreeError
from h3n.parser import Parser, Phrase, Result, Word, words
from h3n.parser.objects import parts_of
from h3n.parser.tables import WORD_COLUMNS, word_rows
from h3n.serve.corenlp import lemma_of
from h3n.trees import Sentence, leaves
from tests.strategies import dependencies, trees

TEXT = 'Oslo doesn\'t  like "the very old dogs" near Tokyo.'
slow = settings(
    deadline=None,
    max_examples=40,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
    derandomize=True,
)


@st.composite
def results(draw_one: st.DrawFn) -> Result:
    """Results with any two trees over the same words, one of them, or none."""
    n = draw_one(st.integers(1, 7))
    tree = draw_one(st.none() | trees(words=n))
    forms = tuple(leaf.word for leaf in leaves(tree)) if tree else tuple(f"w{w}" for w in range(n))
    cells = st.lists(st.sampled_from(["_", "x", "Case=Nom|Number=Sing"]), min_size=n, max_size=n).map(tuple)
    column = st.none() | cells.filter(lambda values: set(values) != {"_"})
    sentence = Sentence(
        words=forms,
        tags=tuple(leaf.tag for leaf in leaves(tree)) if tree else None,
        lemmas=draw_one(column),
        features=draw_one(column),
        misc=draw_one(st.none() | st.just(("SpaceAfter=No",) * n)),
        tree=tree,
        dependencies=draw_one(st.none() | dependencies(words=n)),
    )
    made = Result(**parts_of(sentence, {}, Place("here", 1)))
    sure = draw_one(st.floats(0, 1))
    return replace(
        made,
        arcs=tuple(replace(arc, confidence=sure) for arc in made.arcs),
        spans=tuple(replace(span, confidence=sure / 3) for span in made.spans),
        score=draw_one(st.floats(-1e6, 1e6)),
        source=draw_one(st.integers(0, 3)),
    )


def test_the_examples_of_the_module() -> None:
    assert doctest.testmod(words).failed == 0


@slow
@given(result=results())
def test_words_say_what_the_columns_say(result: Result) -> None:
    assert [word.text for word in result] == list(result.words) == [result[i].text for i in range(len(result))]
    assert len(list(result)) == len(result)
    assert result[-1] == result[len(result) - 1] == result[:][-1]
    with pytest.raises(IndexError):
        _ = result[len(result)]
    for word in result:
        assert (word.start, word.end) == result.offsets[word.index]
        assert word.tag == (result.tags[word.index] if result.tags else None)
        assert word.lemma == ({"_": None}.get(x := result.lemmas[word.index], x) if result.lemmas else None)
        if result.features and result.features[word.index] == "Case=Nom|Number=Sing":
            assert word.features == {"Case": "Nom", "Number": "Sing"}
        if not result.governors:
            for name in ("governor", "relation", "dependents", "ancestors", "subtree"):
                with pytest.raises(TreeError, match="has no dependencies"):
                    getattr(word, name)
            continue
        assert (word.governor.index if word.governor else -1) == result.governors[word.index]
        assert word.relation == result.relations[word.index]
        assert word.confidence == result.arcs[word.index].confidence
        assert tuple(one.index for one in word.dependents) == result.children(word.index)
        assert tuple(one.index for one in word.subtree) == result.subtree(word.index)
        assert [one.index for one in (word, *word.ancestors)] == list(result.path(word.index, -1))[:-1]
        assert all(word in one.subtree for one in word.ancestors)


@slow
@given(result=results())
def test_phrases_are_the_spans_and_the_tree(result: Result) -> None:
    expected = [(label, s.start, s.end, s.head, s.confidence) for s in result.spans for label in s.labels]
    assert expected == [(p.label, p.first, p.last + 1, p.lexical, p.confidence) for p in result.phrases]
    assert [p.index for p in result.phrases] == list(range(len(expected)))
    for phrase in result.phrases:
        assert [word for part in phrase.children for word in _words(part)] == list(phrase.words) == list(phrase)
        assert all(part.parent == phrase for part in phrase.children)
        assert phrase.parent is None or phrase in phrase.parent.children
        assert (phrase.start, phrase.end) == (phrase.words[0].start, phrase.words[-1].end)
        assert phrase.text == ("" if result.sentence.misc else " ").join(word.text for word in phrase)
    for word in result:
        headed = [phrase for phrase in result.phrases if phrase.head == word]
        assert word.phrase == (headed[0] if headed else None)


def _words(part: Word | Phrase) -> tuple[Word, ...]:
    return (part,) if isinstance(part, Word) else part.words


@slow
@given(result=results(), choice=st.data())
def test_the_lowest_phrase_is_the_smallest_of_all_that_hold_both(result: Result, choice: st.DataObject) -> None:
    parts = [*result, *result.phrases]
    one, other = (choice.draw(st.sampled_from(parts)) for _ in range(2))
    holding = [p for p in result.phrases if {*_words(one), *_words(other)} <= {*p.words}]
    # Of a unary chain the innermost that is not inside one of the two.
    holding = [p for p in holding if all(not isinstance(x, Phrase) or p.index <= x.index for x in (one, other))]
    assert result.common(one, other) == (max(holding, key=lambda p: p.index) if holding else None)
    if isinstance(one, Word):
        assert result.at(one.start, one.end) == one
    elif len(one) > 1:
        lowest = result.at(one.start, one.end)
        assert isinstance(lowest, Phrase)
        assert lowest.words == one.words


@slow
@given(result=results())
def test_json_gives_the_same_result_back(result: Result) -> None:
    again = Result.from_dict(result.to_dict())
    assert again == result
    assert (again.pretty(), again.svg(confidence=True)) == (result.pretty(), result.svg(confidence=True))
    (read,) = h3n.read(StringIO(result.json() + "\n"), format="jsonl")
    assert read == result == Result.from_dict(json.loads(result.json()))


@pytest.mark.parametrize("decoder", [None, "hpsg", "cky", "eisner", "mst"])
def test_what_a_parser_gives_comes_back(parser: Parser, tmp_path: Path, decoder: str | None) -> None:
    found = list(parser.parse([TEXT, "", "It is (really) an old house. Yes!"], decoder=decoder))
    found.append(Result(sentence=Sentence(words=("a", "b")), note="too long", source=3))
    (tmp_path / "a.jsonl").write_text("".join(result.json() + "\n" for result in found), encoding="utf-8")
    again = list(h3n.read(tmp_path / "a.jsonl"))
    assert again == found
    for one, other in zip(again, found, strict=True):
        assert (one.joint, one.offsets, one.text, one.conllu()) == (
            other.joint,
            other.offsets,
            other.text,
            other.conllu(),
        )
        assert draw.svg(one.with_confidence) == draw.svg(other.with_confidence)
    assert [sentence.words for sentence in formats.read(tmp_path / "a.jsonl")] == [one.words for one in found]


def test_what_was_written_is_the_text_of_a_phrase(parser: Parser) -> None:
    (result,) = parser.parse(TEXT)
    whole = result.phrases[0]
    assert whole.text == result.text == " ".join(TEXT.split())
    assert TEXT[whole.start : whole.end] == TEXT
    assert [TEXT[word.start : word.end] for word in result] == list(result.words)
    quoted = result.at(TEXT.index("the"), TEXT.index("dogs") + 4)
    assert isinstance(quoted, Phrase)
    assert "the very old dogs" in quoted.text
    assert result.at(len(TEXT), len(TEXT) + 5) is None
    assert result.at(0, 0) == result[0]


def test_words_are_frozen_compared_copied_and_pickled(parser: Parser) -> None:
    one, other = (next(iter(parser.parse(TEXT))) for _ in range(2))
    with pytest.raises(FrozenInstanceError):
        one[0].index = 1  # type: ignore[misc]
    assert one[3] == other[3] != one[2]
    assert {one[3], other[3], one.phrases[0], other.phrases[0]} == {one[3], one.phrases[0]}
    assert pickle.loads(pickle.dumps(one[3])) == one[3] == copy.copy(one[3])
    assert one[3] != 3
    assert one.phrases[0] != one[0]
    assert (str(one[0]), repr(one[0])) == ("Oslo", "<word 0: 'Oslo'>")


def test_a_treebank_is_read_as_results() -> None:
    folder = Path(__file__).parents[2] / "examples" / "treebank"
    both = list(h3n.read(folder / "dev.ptb", dependencies=folder / "dev.conllu"))
    alone = list(h3n.read(folder / "dev.conllu"))
    phrases = list(h3n.read(folder / "dev.ptb"))
    for joint, flat, tree in zip(both, alone, phrases, strict=True):
        assert joint.joint is not None
        assert joint.governors == flat.governors
        assert [(p.label, p.first, p.last) for p in joint.phrases] == [(p.label, p.first, p.last) for p in tree.phrases]
        assert tree.phrases[0].head is None
        assert joint.phrases[0].head == joint[joint.root or 0]
        assert joint.confidence == 1.0


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("spans", "x"),
        ("spans", [{"label": "NP"}]),
        ("spans", [{"label": "S", "start": 0, "end": 3, "head": 0, "confidence": 1}]),
        ("spans", [{"label": "S", "start": 0, "end": 2, "head": 2, "confidence": 1}]),
        ("spans", []),
        ("helpers", [[0, 1]]),
        ("helpers", [[0, 2, 5]]),
        ("arc_confidences", [1.0]),
        ("arc_confidences", ["a", "b"]),
        ("score", "high"),
        ("source", -1),
        ("note", 7),
        ("words", ["a", 1]),
        ("version", 9),
    ],
)
def test_a_damaged_object_is_one_line(key: str, value: object) -> None:
    sound = {
        "version": 1,
        "words": ["a", "b"],
        "heads": [0, 1],
        "relations": ["root", "obj"],
        "tree": "(S (X a) (Y b))",
        "spans": [{"label": "S", "start": 0, "end": 2, "head": 0, "confidence": 1}],
        "helpers": [],
    }
    assert len(Result.from_dict(sound)) == 2
    with pytest.raises(BadJson, match=r"^the object:1: ") as raised:
        Result.from_dict(sound | {key: value})
    assert isinstance(raised.value, FormatError)
    assert "\n" not in str(raised.value)


GIVEN = Sentence(
    words=("The", "dogs", "barked", "."),
    lemmas=("the", "dog", "bark", "."),
    features=("_", "Number=Plur", "Tense=Past|VerbForm=Fin", "_"),
)


def test_lemmas_and_features_that_are_given_are_in_every_output(parser: Parser) -> None:
    nltk = pytest.importorskip("h3n.integrations.nltk", reason="nltk is not installed")
    (result,) = parser.parse(GIVEN)
    assert (result.lemmas, result.features) == (GIVEN.lemmas, GIVEN.features)
    assert [word.features.get("Number") for word in result] == [None, "Plur", None, None]
    rows = [row.split("\t") for row in result.conllu().splitlines() if row[:1].isdigit()]
    assert [(row[2], row[5]) for row in rows] == list(zip(result.lemmas, result.features, strict=True))
    assert (result.to_dict()["lemmas"], result.to_dict()["features"]) == (GIVEN.lemmas, GIVEN.features)
    cells = [dict(zip(WORD_COLUMNS, row, strict=True)) for row in word_rows([result])]
    assert [(one["lemma"], one["features"]) for one in cells] == [(row[2], row[5]) for row in rows]
    graph = nltk.dependency_graph(result)
    assert [(graph.nodes[n]["lemma"], graph.nodes[n]["feats"]) for n in range(1, 5)] == [(r[2], r[5]) for r in rows]
    assert [lemma_of(result, word) for word in range(4)] == list(result.lemmas)


@pytest.mark.parametrize("name", ["conllu", "conllx", "jsonl", "spmrl"])
def test_lemmas_and_features_go_through_every_format_that_shows_them(parser: Parser, name: str) -> None:
    (result,) = parser.parse(GIVEN)
    stream = StringIO()
    formats.write([result.sentence], stream, format=name)
    (again,) = h3n.read(StringIO(stream.getvalue()), format=name)
    assert (again.lemmas, again.features) == (GIVEN.lemmas, GIVEN.features)


def test_predicted_lemmas_and_features_fill_what_is_not_given(parser: Parser) -> None:
    """What a model predicts comes into results at one place."""
    found = {"lemmas": ("a", "b"), "features": ("F=1", "_")}
    parse = Parse((), (-1, 0), 0.0)

    def named(sentence: Sentence) -> Sentence:
        vocabulary = parser.engine.vocabulary
        return name_parse(sentence, parse, vocabulary, relations=None, tags=None, upos=None, **found).sentence

    bare = named(Sentence(words=("x", "y")))
    assert (bare.lemmas, bare.features) == (("a", "b"), ("F=1", "_"))
    some = named(Sentence(words=("x", "y"), lemmas=("given", "_"), features=("_", "F=2")))
    assert (some.lemmas, some.features) == (("given", "b"), ("_", "F=2"))
