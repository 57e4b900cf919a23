"""Paragraphs and lines out of a stream."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from h3n.text import blocks
from h3n.text.blocks import Block

PARAGRAPH = (
    "The quick brown fox jumps over the lazy dog. It does so every day. Nobody in Berlin knows why, but Anna and "
    "Peter have an idea. They went to New York to ask. Mr. Miller said he had 20 foxes and 30 dogs. All of them jump."
)


def texts(text: str) -> list[str]:
    return [block.text for block in blocks.blocks(text)]


def test_a_blank_line_ends_a_paragraph() -> None:
    assert texts("One\n\nTwo\r\n \r\nThree\fFour\u2029Five") == [
        "One\n\n",
        "Two\r\n \r\n",
        "Three\f",
        "Four\u2029",
        "Five",
    ]


@pytest.mark.parametrize("width", [50, 60, 72, 80, 100])
def test_wrapped_lines_are_one_block(width: int) -> None:
    wrapped = textwrap.fill(PARAGRAPH, width)
    assert wrapped.count("\n") > 1
    assert texts(wrapped) == [wrapped]


@pytest.mark.parametrize(
    "lines",
    [
        ["Introduction", PARAGRAPH],
        [PARAGRAPH, "Second paragraph.", PARAGRAPH],
        ["John Smith", "12 High Street", "London"],
        ["Bring:", "- a tent", "- food for two days", "* water"],
    ],
)
def test_lines_of_their_own_are_blocks(lines: list[str]) -> None:
    assert [block.strip() for block in texts("\n".join(lines))] == lines


@pytest.mark.parametrize("text", ["I went to\nParis", "He said,\nWell", "a line\nof verse"])
def test_an_unfinished_line_goes_on(text: str) -> None:
    assert texts(text) == [text]


def test_only_the_first_block_opens_a_paragraph() -> None:
    found = [(block.text, block.opens_paragraph) for block in blocks.blocks("Title\nText here.\n\nNext")]
    assert found == [("Title\n", True), ("Text here.\n\n", False), ("Next", True)]


ALPHABET = st.sampled_from("aB .,!?\n\n\n\r\t\f-'\u2029é")


@settings(deadline=None)
@given(st.text(ALPHABET, max_size=120), st.data())
def test_blocks_do_not_depend_on_the_pieces(text: str, data: st.DataObject) -> None:
    cuts = sorted(data.draw(st.lists(st.integers(0, len(text)))))
    pieces = [text[a:b] for a, b in zip([0, *cuts], [*cuts, len(text)], strict=True)]
    limit = data.draw(st.integers(1, 40))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(blocks, "LIMIT", limit)
        whole = list(blocks.blocks(text))
        assert list(blocks.blocks(pieces)) == whole
    assert "".join(block.text for block in whole) == text
    assert all(0 < len(block.text) <= limit for block in whole)
    assert all(text.startswith(block.text, block.start) for block in whole)


def test_an_endless_paragraph_is_cut_after_a_sentence_else_at_a_space(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blocks, "LIMIT", 30)
    assert texts("A sentence ends here. And then it goes on and on")[0] == "A sentence ends here. "
    assert texts("no sentence ends here and then on")[0] == "no sentence ends here and "
    assert texts("x" * 70) == ["x" * 30, "x" * 30, "x" * 10]


def test_a_paragraph_comes_before_the_next_is_read() -> None:
    read = []

    def pieces() -> Iterator[str]:
        for piece in ["One\n", "two\n", "\n", "Three\n", "four\n"]:
            read.append(piece)
            yield piece

    first = next(blocks.blocks(pieces()))
    assert first.text == "One\ntwo\n\n"
    assert read == ["One\n", "two\n", "\n"]


@settings(deadline=None)
@given(st.lists(st.text(st.sampled_from("ab \t\r"), max_size=5)), st.data())
def test_lines_come_one_by_one(lines: list[str], data: st.DataObject) -> None:
    text = "".join(line + "\n" for line in lines)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(text)))))
    pieces = [text[a:b] for a, b in zip([0, *cuts], [*cuts, len(text)], strict=True)]
    found = list(blocks.lines(pieces))
    assert [block.text for block in found] == [line.removesuffix("\r") for line in lines]
    assert all(text.startswith(block.text, block.start) for block in found)


def test_a_last_line_needs_no_line_end() -> None:
    assert list(blocks.lines("a\n\nb")) == [Block("a", 0), Block("", 2), Block("b", 3)]


@pytest.mark.parametrize("mark", ["\f", "\u2029"])
def test_a_separator_between_line_ends_is_the_same_break_in_pieces(mark: str) -> None:
    text = f"One.\n{mark}\nTwo."
    whole = list(blocks.blocks(text))
    for at in range(len(text)):
        assert list(blocks.blocks([text[:at], text[at:]])) == whole
