"""The bytes of a piece, unpacked, as lines or paragraphs: each belongs to exactly one piece, wherever files are cut."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import BinaryIO, TypeAlias

from h3n import files
from h3n.corpus import storage
from h3n.corpus.storage import Piece
from h3n.formats.lines import LONGEST

Line: TypeAlias = tuple[int, bytes]  # the byte that a line begins at, and the line with its end


def read_lines(piece: Piece, *, beyond: bool = False) -> Iterator[Line]:
    """Yield the lines that begin in the piece, or ``beyond`` it too; of one that is too long as much as shows that."""
    packed = piece.is_packed
    start = 0 if packed else piece.start
    with unpacked(piece, start=max(0, start - 1)) as handle:
        at = max(0, start - 1)
        if start:  # the line that the byte before belongs to began in the piece before
            at += _skip(handle)
        while packed or beyond or at < piece.end:
            raw = handle.readline(LONGEST + 1)
            if not raw:
                return
            yield at, raw
            at += len(raw)
            if not raw.endswith(b"\n") and len(raw) > LONGEST:
                at += _skip(handle)


def read_paragraphs(piece: Piece) -> Iterator[tuple[int, list[Line]]]:
    """Yield where each paragraph begins, and its lines; of one that is too long as many as show that.

    A paragraph belongs to the piece in which the blank line before it begins; before the first one that is the start.
    """
    held: list[Line] = []
    length, found = 0, piece.start == 0 or piece.is_packed  # `found`: the blank line before the next paragraph
    with files.up_to_error(read_lines(piece, beyond=True)) as lines:
        for at, raw in lines:
            if raw.strip() and found:
                if length <= LONGEST:
                    held.append((at, raw))
                length += len(raw)
            elif not raw.strip():
                if held:
                    yield held[0][0], held
                held, length, found = [], 0, True
                if at >= piece.end and not piece.is_packed:
                    return
            elif at >= piece.end:  # nothing begins here
                return
        if held:
            yield held[0][0], held


def _skip(handle: BinaryIO) -> int:
    """Read up to the end of the line and return how many bytes that were."""
    passed = 0
    while raw := handle.readline(LONGEST):
        passed += len(raw)
        if raw.endswith(b"\n"):
            break
    return passed


@contextlib.contextmanager
def unpacked(piece: Piece, *, start: int = 0) -> Iterator[BinaryIO]:
    """Yield the bytes of a piece's file from one of them on, unpacked where it is compressed."""
    with storage.opened(piece.url, name=piece.name, start=start) as handle:
        if not piece.is_packed:
            yield handle
        else:
            with files.opened(handle) as plain:
                yield plain
