"""Attachment scores, head accuracy, and sentences that do not belong together."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from h3n.errors import MismatchError, Place, UnknownName
from h3n.evaluate import (
    PUNCTUATION,
    AttachmentCounts,
    ClassCounts,
    attachment_numbers,
    by_tag,
    count_attachments,
    count_classes,
    is_punctuation,
    punctuation,
    score_attachments,
)
from h3n.trees import Dependencies, Sentence


def sentence(governors: tuple[int, ...], relations: str, *, tags: str = "N V .", words: str = "a b .") -> Sentence:
    return Sentence(
        words=tuple(words.split()),
        tags=tuple(tags.split()),
        dependencies=Dependencies(governors, tuple(relations.split())),
        place=Place("x", 4),
    )


GOLD = sentence((1, -1, 1), "nsubj:pass root punct")


def test_every_way_of_leaving_out_punctuation() -> None:
    predicted = sentence((1, -1, 0), "nsubj root punct")
    counts = {name: count_attachments(GOLD, predicted, counted=counted) for name, counted in PUNCTUATION.items()}
    assert counts["all"] == AttachmentCounts(3, 2, 1, 1, 0, 0)
    for name in ("unicode", "tag", "relation"):
        assert counts[name] == AttachmentCounts(2, 2, 1, 1, 1, 0)
    numbers = attachment_numbers(counts, main="unicode")
    assert (numbers["UAS"], numbers["LAS"], numbers["UAS_all"], numbers["LAS_all"]) == (100.0, 50.0, 66.6667, 33.3333)


def test_subtypes_may_be_ignored() -> None:
    predicted = sentence((1, -1, 1), "nsubj root punct")
    assert count_attachments(GOLD, predicted).las == 50.0
    assert count_attachments(GOLD, predicted, subtypes=False).las == 100.0


def test_tags_of_punctuation_may_be_chosen() -> None:
    assert count_attachments(GOLD, GOLD, counted=by_tag(frozenset({"N", "V"}))).words == 1


@pytest.mark.parametrize(
    ("word", "answer"),
    [(".", True), ("...", True), ("«", True), ("-", True), ("``", False), ("$", False), ("a.", False)],
)
def test_punctuation_is_what_unicode_says(word: str, answer: bool) -> None:
    assert is_punctuation(word) == answer


def test_an_unknown_way_lists_the_known_ones() -> None:
    with pytest.raises(UnknownName, match="all, relation, tag, unicode"):
        punctuation("letters")


@given(st.lists(st.tuples(*[st.integers(0, 9)] * 6), min_size=1, max_size=4))
def test_counts_add_up(rows: list[tuple[int, ...]]) -> None:
    total = sum((AttachmentCounts(*row) for row in rows), AttachmentCounts())
    assert total == AttachmentCounts(*map(sum, zip(*rows, strict=True)))


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("a x .", "sentence 2 (gold x:4, predicted x:4): word 2 is 'b' in gold, 'x' predicted"),
        ("a b", "sentence 2 (gold x:4, predicted x:4): 3 words in gold, 2 predicted"),
    ],
)
def test_other_words_raise_and_say_where(words: str, message: str) -> None:
    size = len(words.split())
    other = sentence((1, -1, 1)[:size], " ".join(["dep"] * size), tags=" ".join(["N"] * size), words=words)
    with pytest.raises(MismatchError) as caught:
        score_attachments([GOLD, GOLD], [GOLD, other])
    assert str(caught.value) == message


def test_other_numbers_of_sentences_raise() -> None:
    with pytest.raises(MismatchError, match="predicted ends after 1 sentences, gold goes on at x:4 with sentence 2"):
        score_attachments([GOLD, GOLD], [GOLD])


def test_a_sentence_without_dependencies_raises() -> None:
    with pytest.raises(MismatchError, match="x:4: the predicted sentence has no dependencies"):
        score_attachments([GOLD], [Sentence(words=GOLD.words, place=Place("x", 4))])


def test_real_sentences_score_as_expected(data: Path, conllu_file: Callable[[Path], list[Sentence]]) -> None:
    folder = data / "evalb"
    gold = conllu_file(folder / "masc-dev.gold.conllu.xz")
    predicted = conllu_file(folder / "masc-dev.perturbed.conllu.xz")
    names = {"all": "all", "tag": "noPunct_xpos", "relation": "noPunct_deprel"}
    expected = (folder / "masc-dev.dep-expected.txt").read_text()
    for name, title in names.items():
        found = score_attachments(gold, predicted, counted=punctuation(name))
        line = (
            f"{title} tokens={found.words} head_correct={found.governors} head_and_label_correct={found.relations} "
            f"UAS={found.uas:.4f} LAS={found.las:.4f}"
        )
        assert re.search(f"^{re.escape(line)}$", expected, re.MULTILINE), line


def test_classes_are_right_or_wrong() -> None:
    found = count_classes((1, 2, 32), (1, 3, 32)) + count_classes(("NN",), ("VB",))
    assert found == ClassCounts(4, 2)
    assert found.accuracy == 50.0
    with pytest.raises(MismatchError, match="1 words in gold, 2 predicted"):
        count_classes((1,), (1, 2))
