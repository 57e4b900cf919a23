"""Two streams that lose step find it again."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from h3n.errors import MismatchError, Place
from h3n.prepare.align import WINDOW, align, describe
from h3n.trees import Sentence


def sentences(numbers: list[int], file: str) -> list[Sentence]:
    return [Sentence(words=(f"w{n}",), place=Place(file, line)) for line, n in enumerate(numbers, start=1)]


@settings(deadline=None)
@given(st.lists(st.sampled_from(["both", "left", "right"]), max_size=WINDOW - 1))
def test_every_common_sentence_finds_its_partner(kinds: list[str]) -> None:
    left = sentences([n for n, kind in enumerate(kinds) if kind != "right"], "left")
    right = sentences([n for n, kind in enumerate(kinds) if kind != "left"], "right")
    lonely: list[Sentence] = []
    pairs = align(
        iter(left),
        iter(right),
        same=lambda a, b: a.words == b.words,
        on_loss=lambda sentence, _: lonely.append(sentence),
    )
    assert [a.words for a, _ in pairs] == [(f"w{n}",) for n, kind in enumerate(kinds) if kind == "both"]
    alone = sum(kind != "both" for kind in kinds)
    assert alone / 2 <= len(lonely) <= alone  # two that stand against each other are told of once


def test_streams_are_read_no_further_than_they_must() -> None:
    taken: list[int] = []

    def stream(file: str, first: int) -> list[Sentence]:
        return sentences(list(range(first, first + 10_000)), file)

    def watched(source: list[Sentence]):  # type: ignore[no-untyped-def]
        for number, sentence in enumerate(source):
            taken.append(number)
            yield sentence

    def refuse(_: Sentence, error: MismatchError) -> None:
        raise error

    pairs = align(
        watched(stream("a", 0)), watched(stream("b", 5)), same=lambda a, b: a.words == b.words, on_loss=refuse
    )
    with pytest.raises(MismatchError, match=r"^a:1: word 1 is 'w0', but 'w5' at b:1$"):
        next(pairs)
    assert max(taken) < WINDOW


def test_the_first_difference_is_described() -> None:
    short, long = Sentence(words=("a",), place=Place("x", 1)), Sentence(words=("a", "b"), place=Place("y", 7))
    assert describe(short, long) == "x:1: 1 words, but 2 at y:7"
