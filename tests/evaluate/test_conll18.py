"""The CoNLL 2018 metrics against the official scorer, and by hand."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from itertools import count
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from h3n.errors import EmptyField, MismatchError, Place
from h3n.evaluate import AlignedCounts, conll18_lines, conll18_numbers, punctuation, score_attachments, score_conll18
from h3n.evaluate import alignment as parts_module
from h3n.evaluate.alignment import text_of
from h3n.evaluate.conll18 import score_texts
from h3n.trees import ROOT, Dependencies, MultiwordToken, Sentence

Reader = Callable[[Path], list[Sentence]]


def test_differently_cut_words_score_as_by_the_official_scorer(samples: Path, conllu_file: Reader) -> None:
    gold, predicted = (conllu_file(samples / f"cut.{side}.conllu") for side in ("gold", "pred"))
    assert conll18_lines(score_conll18(gold, predicted)) == (samples / "cut.conll18.txt").read_text().splitlines()


def test_real_sentences_score_as_by_the_official_scorer(data: Path, conllu_file: Reader) -> None:
    folder = data / "evalb"
    gold, predicted = (conllu_file(folder / f"cs_pud-{side}.conllu.xz") for side in ("gold", "system"))
    expected = (folder / "cs_pud-expected.txt").read_text().splitlines()
    # The last two lines are about enhanced graphs, which were no part of the shared task.
    assert conll18_lines(score_conll18(gold, predicted)) == expected[:-2]


def plain(*words: str, place: int = 1) -> Sentence:
    """Words in a row, each governed by the one before it; "du=de le" is a multiword token of two words."""
    flat: list[str] = []
    inserts: list[MultiwordToken] = []
    for word in words:
        form, _, inner = word.partition("=")
        parts = inner.split() or [form]
        if inner:
            inserts.append(MultiwordToken(len(flat), len(flat) + len(parts), form))
        flat += parts
    governors = tuple(range(ROOT, len(flat) - 1))
    relations = ("root", *["dep"] * (len(flat) - 1))
    return Sentence(
        words=tuple(flat),
        dependencies=Dependencies(governors, relations),
        inserts=tuple(inserts),
        place=Place("x.conllu", place),
    )


@pytest.mark.parametrize(
    ("gold", "predicted", "aligned"),
    [
        (["a", "b"], ["a", "b"], 2),
        (["ab"], ["a", "b"], 0),
        (["a", "bc", "d"], ["ab", "c", "d"], 1),
        (["du=de le"], ["du"], 0),
        (["du=de le"], ["du=de la"], 1),
        (["du=de le", "x"], ["dux=de x le"], 2),
        (["du=DE le"], ["du=de LE"], 2),
        (["a", "du=de le"], ["adu=a de le"], 3),
        (["d", "u"], ["du=d u"], 2),
    ],
)
def test_words_are_aligned_by_characters_or_forms(gold: list[str], predicted: list[str], aligned: int) -> None:
    found = score_conll18([plain(*gold)], [plain(*predicted)])["Words"]
    assert found.correct == aligned


def test_sentences_may_be_split_differently() -> None:
    found = score_conll18([plain("a", "b"), plain("c")], [plain("a"), plain("b", "c")])
    assert found["Sentences"] == AlignedCounts(0, 2, 2)
    assert found["Words"] == AlignedCounts(3, 3, 3)
    # a is the root on both sides, b was cut off its governor, c gained one.
    assert found["UAS"] == AlignedCounts(1, 3, 3, 3)


def test_blanks_inside_words_do_not_count() -> None:
    assert score_conll18([plain("1 000\u00a0000")], [plain("1000", "000")])["Tokens"].gold == 1


def test_other_characters_raise_and_say_where() -> None:
    gold = [plain("a", "b"), plain("c", "d", place=5)]
    with pytest.raises(MismatchError) as caught:
        score_conll18(gold, [plain("ab"), plain("c", "e", place=4)])
    assert str(caught.value) == (
        "the texts differ: gold has 'd' in sentence 2 (x.conllu:5) from token 2, "
        "predicted has 'e' in sentence 2 (x.conllu:4) from token 2"
    )
    with pytest.raises(MismatchError, match="predicted ends after 1 sentences"):
        score_conll18(gold, [plain("ab")])


def test_a_word_of_blanks_alone_is_an_error_as_in_the_official_scorer() -> None:
    with pytest.raises(EmptyField, match="has no characters to align"):
        score_conll18([plain("a", "\u00a0")], [plain("a")])


WORDS = st.sampled_from(["a", "bb", "du=de le", "ab=a b", "c"])


@st.composite
def two_cuts(draw: st.DrawFn) -> tuple[list[Sentence], list[Sentence]]:
    """The same characters twice, in words, multiword tokens and sentences of different lengths."""
    characters = "".join(word.partition("=")[0] for word in draw(st.lists(WORDS, min_size=1, max_size=20)))
    sides: list[list[Sentence]] = []
    for _ in range(2):
        sentences: list[list[str]] = [[]]
        rest = characters
        while rest:
            fitting = [
                w for w in ("a", "b", "bb", "c", "d", "u", "du=de le", "ab=a b") if rest.startswith(w.split("=")[0])
            ]
            word = draw(st.sampled_from(fitting))
            rest = rest[len(word.split("=")[0]) :]
            sentences[-1].append(word)
            if rest and draw(st.booleans()):
                sentences.append([])
        sides.append([plain(*words, place=at) for at, words in enumerate(sentences, start=1)])
    return sides[0], sides[1]


@settings(deadline=None, max_examples=300, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(sides=two_cuts(), size=st.integers(1, 2))
def test_the_parts_add_up_to_the_whole(
    monkeypatch: pytest.MonkeyPatch, sides: tuple[list[Sentence], list[Sentence]], size: int
) -> None:
    gold, predicted = sides
    whole = score_texts(text_of(gold, "gold"), text_of(predicted, "predicted"))
    monkeypatch.setattr(parts_module, "PART", size)
    assert score_conll18(gold, predicted) == whole


def test_the_official_scorers_figures_do_not_depend_on_the_size_of_parts(
    samples: Path, conllu_file: Reader, monkeypatch: pytest.MonkeyPatch
) -> None:
    gold, predicted = (conllu_file(samples / f"cut.{side}.conllu") for side in ("gold", "pred"))
    monkeypatch.setattr(parts_module, "PART", 1)
    assert len(list(parts_module.parallel_parts(gold, predicted))) > 3
    assert conll18_lines(score_conll18(gold, predicted)) == (samples / "cut.conll18.txt").read_text().splitlines()


def test_little_is_held_in_memory() -> None:
    read = Counter[str]()

    def counted(name: str, sentences: Iterable[Sentence]) -> Iterator[Sentence]:
        for sentence in sentences:
            read[name] += 1
            yield sentence

    # Every second boundary is where both sides end a sentence.
    gold = counted("gold", (plain("a", "b") for _ in range(5000)))
    predicted = counted("predicted", (plain("a", "b", "a", "b") for _ in range(2500)))
    seen = 0
    for wanted, _ in parts_module.parallel_parts(gold, predicted):
        seen += len(wanted.sentences)
        assert len(wanted.sentences) <= parts_module.PART + 2
        assert read["gold"] <= seen + 2
        assert read["predicted"] <= seen / 2 + 2
    assert seen == 5000


def test_texts_that_differ_early_are_not_read_to_the_end() -> None:
    with pytest.raises(MismatchError, match=r"gold has 'ab' in sentence 301 .* predicted has 'x' in sentence 301"):
        score_conll18(
            (plain("a", "b") for _ in iter(int, 1)),
            (plain("a", "b") if number < 300 else plain("x") for number in count()),
        )


@st.composite
def analyses(draw: st.DrawFn) -> tuple[Sentence, Sentence]:
    size = draw(st.integers(1, 6))
    made: list[Sentence] = []
    for _ in range(2):
        governors = [ROOT] + [draw(st.integers(0, word - 1)) for word in range(1, size)]
        relations = [draw(st.sampled_from(["nsubj", "nsubj:pass", "case", "punct"])) for _ in range(size)]
        words = tuple(f"w{word}" for word in range(size))
        made.append(Sentence(words=words, dependencies=Dependencies(tuple(governors), tuple(relations))))
    return made[0], made[1]


@settings(deadline=None)
@given(pairs=st.lists(analyses(), min_size=1, max_size=4))
def test_on_the_same_words_attachment_is_the_same(pairs: list[tuple[Sentence, Sentence]]) -> None:
    gold, predicted = zip(*pairs, strict=True)
    found = score_conll18(gold, predicted)
    plain_counts = score_attachments(gold, predicted, counted=punctuation("all"), subtypes=False)
    assert (found["UAS"].correct, found["LAS"].correct) == (plain_counts.governors, plain_counts.relations)
    assert found["Words"].f1 == found["Sentences"].f1 == 100.0


def test_numbers_hold_f1_and_details() -> None:
    numbers = conll18_numbers(score_conll18([plain("a", "b")], [plain("ab")]))
    assert (numbers["Tokens"], numbers["Words"], numbers["Sentences"]) == (0.0, 0.0, 100.0)
    assert isinstance(numbers["details"], dict)
    assert numbers["details"]["UAS_aligned"] == 0.0


def test_counts_add_up() -> None:
    assert AlignedCounts(1, 2, 3) + AlignedCounts(1, 2, 3) == AlignedCounts(2, 4, 6)
    assert AlignedCounts(1, 2, 3, 4) + AlignedCounts(1, 2, 3, 1) == AlignedCounts(2, 4, 6, 5)
