"""What a shard is made of."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Piece:
    """A file or a part of it: bytes of one by lines, row groups of a table, from ``start`` up to ``end``."""

    name: str
    url: str
    format: str
    start: int
    end: int
