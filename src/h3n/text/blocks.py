"""A text of any length, read piece by piece, as blocks that can be looked at one after the other.

A block is a paragraph, or a line of its own inside one: a heading, an item of a list, a paragraph in a text that has
one per line. The blocks joined are the text. What they are does not depend on how the text was cut into pieces.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise

from h3n.errors import UnknownName

LIMIT = 1 << 16
"""Characters in a block at most. Where there is no end of a paragraph in so many, one is made."""

# Nobody wraps lines at fewer columns or at more; and a line that leaves a fifth of the room unused is ended on purpose.
_NARROWEST = 50
_WIDEST = 150
_FULL = 0.8

# A form feed or paragraph separator is a break of its own, so it is no part of a blank line: what a break is must not
# depend on whether the line end after it has been read.
_BREAK = re.compile(r"\n[^\S\n\f\u2029]*\n|[\f\u2029]")
_LINE_END = re.compile(r"[\n\f\u2029]")
_BREAK_ENDS = re.compile(r"[^\S\n\f\u2029]*\n")
_ROW = re.compile(r"[^\n]*\n|[^\n]+")
_SENTENCE_END = re.compile(r"[.!?…][\"'”’)\]]*\s+(?=[^\sa-z])")
_SPACE = re.compile(r"\s+")
_BULLET = re.compile(r"\s*[-*•‣◦·▪]\s+\S")
_START = re.compile(r"\s*[\"'“‘(\[#]*[A-Z0-9À-ÞΑ-ΫА-Я]")
_UNFINISHED = re.compile(r"(?:[,\-–—(]|\b(?:a|an|and|at|by|for|from|in|of|on|or|that|the|to|with))\s*$")


@dataclass(frozen=True, slots=True)
class Block:
    """A stretch of text that no sentence crosses, and the offset of its first character."""

    text: str
    start: int
    opens_paragraph: bool = True
    ends_text: bool = False


def blocks(text: str | Iterable[str], newlines: str = "paragraph") -> Iterator[Block]:
    """Yield the blocks of a text, or of the pieces that a text comes in, such as the lines of an open file.

    A paragraph is yielded as soon as its last piece is in. ``newlines``, a name in `NEWLINES`, says what a line end is.
    """
    if newlines not in NEWLINES:
        raise UnknownName("newlines", newlines, NEWLINES)
    return NEWLINES[newlines]([text] if isinstance(text, str) else text)


def _wrapped(pieces: Iterable[str]) -> Iterator[Block]:
    """Yield the blocks of a text in which a line may be wrapped."""
    for paragraph in _paragraphs(pieces):
        whole = paragraph.text
        at = 0
        for end in (*_line_ends(whole), len(whole)):
            opens = paragraph.opens_paragraph and at == 0
            yield Block(whole[at:end], paragraph.start + at, opens, paragraph.ends_text and end == len(whole))
            at = end


def _unwrapped(pieces: Iterable[str]) -> Iterator[Block]:
    """Yield every line as a block, with its line end; one after an empty line opens a paragraph."""
    held: list[str] = []
    size = offset = 0
    opens = True
    for piece in pieces:
        held.append(piece)
        size += len(piece)
        if size < LIMIT and not _LINE_END.search(piece):
            continue
        text = "".join(held)
        start = 0
        while True:
            match = _LINE_END.search(text, start, start + LIMIT)
            if match is not None:
                end = match.end()
            elif len(text) - start >= LIMIT:
                end = start + _cut(text[start : start + LIMIT])
            else:
                break
            yield Block(text[start:end], offset + start, opens)
            opens = match is not None and (match[0] != "\n" or _is_blank(text[start:end]))
            start = end
        offset += start
        held = [text[start:]]
        size = len(held[0])
    if size:
        yield Block("".join(held), offset, opens, ends_text=True)


def lines(text: str | Iterable[str]) -> Iterator[Block]:
    """Yield the lines of a text without their line ends, empty ones too."""
    held: list[str] = []
    start = 0
    for piece in [text] if isinstance(text, str) else text:
        *complete, rest = piece.split("\n")
        for end in complete:
            line = "".join((*held, end))
            held.clear()
            yield Block(line.removesuffix("\r"), start)
            start += len(line) + 1
        held.append(rest)
    if last := "".join(held):
        yield Block(last, start)


def _paragraphs(pieces: Iterable[str]) -> Iterator[Block]:
    """Yield the paragraphs. Pieces are put together only when a paragraph ends in one: so small ones cost no more."""
    held: list[str] = []
    size = offset = 0
    opens, blank = True, False  # blank: what is held ends in an empty line that may still become a break
    for piece in pieces:
        held.append(piece)
        size += len(piece)
        if size < LIMIT and not _BREAK.search(piece) and not (blank and _BREAK_ENDS.match(piece)):
            blank = _ends_blank(piece) if "\n" in piece else blank and _is_blank(piece)
            continue
        text = "".join(held)
        start = 0
        while True:
            match = _BREAK.search(text, start, start + LIMIT)
            if match is not None:
                end = match.end()
            elif len(text) - start >= LIMIT:
                end = start + _cut(text[start : start + LIMIT])
            else:
                break
            yield Block(text[start:end], offset + start, opens)
            opens = match is not None
            start = end
        offset += start
        held = [text[start:]]
        size = len(held[0])
        blank = _ends_blank(held[0])
    if size:
        yield Block("".join(held), offset, opens, ends_text=True)


def _ends_blank(text: str) -> bool:
    """Return whether nothing but blanks follows the last line end of the text, if it has one."""
    return "\n" in text and _is_blank(text[text.rindex("\n") + 1 :])


def _is_blank(text: str) -> bool:
    return not text or text.isspace()


def _cut(text: str) -> int:
    """Return where to cut a text that has no end: after a sentence, else at a space, else at its end."""
    for pattern in (_SENTENCE_END, _SPACE):
        ends = [match.end() for match in pattern.finditer(text, len(text) // 2)]
        if ends:
            return ends[-1]
    return len(text)


def _line_ends(paragraph: str) -> list[int]:
    """Return where a line of the paragraph was ended on purpose, not because the margin was near."""
    rows = _ROW.findall(paragraph)
    width = max([_NARROWEST, *(len(row.rstrip()) for row in rows if " " in row.strip())])
    ends = []
    at = 0
    for row, following in pairwise(rows):
        at += len(row)
        if _BULLET.match(following) or _ended_on_purpose(row.rstrip(), following, width):
            ends.append(at)
    return ends


def _ended_on_purpose(row: str, following: str, width: int) -> bool:
    word = following.split(None, 1)[:1]
    if not row or not word or not _START.match(following) or _UNFINISHED.search(row):
        return False
    return width > _WIDEST or len(row) + 1 + len(word[0]) <= _FULL * width


# What a line end is: part of a paragraph, unless it was made on purpose; or always the end of a sentence.
NEWLINES: dict[str, Callable[[Iterable[str]], Iterator[Block]]] = {"paragraph": _wrapped, "sentence": _unwrapped}
