"""Input cut into shards, by sizes alone: nothing is read for it, and who does the work plays no part.

A shard is a run of whole files, or a part of one: of files of lines or paragraphs a range of bytes, to which those
belong that begin in it; of tables some of their row groups. Running text and CoNLL-U stay whole, and so do compressed
files, which cannot be entered in the middle.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from h3n.corpus.inputs import Input
from h3n.corpus.options import OUTPUTS, TABLES
from h3n.corpus.storage import Piece

SHOWN = 3  # files of a shard in a message
BY_LINES = ("paragraphs", "lines", "words", "jsonl")


@dataclass(frozen=True, slots=True)
class Shard:
    """What is parsed in one go and written as one file; ``size`` is in bytes of input."""

    number: int
    size: int
    pieces: tuple[Piece, ...]

    def __str__(self) -> str:
        """How messages name it: by its number and its files."""
        names = [*dict.fromkeys(piece.name for piece in self.pieces)]
        return f"shard {self.number} ({', '.join(names[:SHOWN])}{', ...' if len(names) > SHOWN else ''})"


def cut(inputs: Sequence[Input], size: int) -> Iterator[Shard]:
    """Yield the shards: pieces are put together while they have ``size`` bytes at most."""
    held: list[Piece] = []
    total = number = 0
    for piece, length in _pieces(inputs, size):
        if held and total + length > size:
            yield Shard(number, total, tuple(held))
            held, total, number = [], 0, number + 1
        held.append(piece)
        total += length
    if held:
        yield Shard(number, total, tuple(held))


def _pieces(inputs: Iterable[Input], size: int) -> Iterator[tuple[Piece, int]]:
    """Yield pieces with their bytes."""
    for one in inputs:
        if one.format in TABLES:
            for start, end, length in _runs(one.parts, size):
                yield Piece(one.name, one.url, one.format, start, end), length
        elif one.format in BY_LINES and not one.is_packed:
            for start in range(0, one.size, size):
                end = min(start + size, one.size)
                yield Piece(one.name, one.url, one.format, start, end), end - start
        else:
            yield Piece(one.name, one.url, one.format, 0, one.size), one.size


def _runs(parts: Sequence[int], size: int) -> Iterator[tuple[int, int, int]]:
    """Yield runs of parts, as first, end and bytes, of ``size`` bytes at most unless one alone has more."""
    first = total = 0
    for at, length in enumerate(parts):
        if at > first and total + length > size:
            yield first, at, total
            first, total = at, 0
        total += length
    if parts:
        yield first, len(parts), total


def shard_name(number: int, output_format: str) -> str:
    """Return the name of a shard's file."""
    return f"part-{number:06d}{OUTPUTS[output_format]}"
