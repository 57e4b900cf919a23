"""How the trees of a bracket file are spread over its lines."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import chain

from h3n.errors import H3nError
from h3n.formats.lines import LONGEST
from h3n.formats.options import Layout

SAMPLE = 8192
_BRACKET = re.compile(r"[()]")
_FIRST = re.compile(r"[^ \t\r\n]")


def take_sample(pieces: Iterator[str]) -> tuple[list[str], Iterator[str]]:
    """Return the first pieces of a file, and all of them.

    They are enough to judge by, and no line is torn that may be one tree as a whole. An error among them is raised
    when it is reached.
    """
    taken: list[str] = []
    size, depth, one_tree = 0, 0, True
    while size < SAMPLE or (one_tree and size < LONGEST and taken[-1][-1:] != "\n"):
        try:
            piece = next(pieces, None)
        except H3nError as error:
            return taken, chain(taken, _raised(error))
        if piece is None:
            break
        if not taken or taken[-1][-1:] == "\n":
            depth, one_tree = 0, True
        depth, one_tree = _follow(piece, depth, one_tree=one_tree)
        taken.append(piece)
        size += len(piece)
    return taken, chain(taken, pieces)


def _raised(error: H3nError) -> Iterator[str]:
    raise error
    yield  # so that it is raised when somebody asks for a piece


def _follow(piece: str, depth: int, *, one_tree: bool) -> tuple[int, bool]:
    """Return how many brackets are open after a piece of a line, and whether the line may still be one tree."""
    for match in _BRACKET.finditer(piece) if one_tree else ():
        depth += 1 if match[0] == "(" else -1
        if depth <= 0:
            one_tree = _FIRST.search(piece, match.end()) is None
            break
    return depth, one_tree


def guess_layout(sample: str) -> Layout:
    """Return the layout of a file that begins with these lines.

    The answer rests on all of them, so that one damaged line among many does not change it.
    """
    lines = [line for line in sample.split("\n") if line.strip()]
    whole = sum(map(_is_one_tree, lines))
    continued = sum(line[0] in " \t" for line in lines)
    if whole == len(lines) or (not continued and 2 * whole >= len(lines)):
        return "lines"
    starts = sum(line[0] == "(" and not _is_one_tree(line) for line in lines)
    return "indented" if continued >= starts else "free"


def _is_one_tree(line: str) -> bool:
    """Return whether the line is one bracket from its first to its last character."""
    depth = 0
    text = line.strip()
    for match in _BRACKET.finditer(text):
        depth += 1 if match[0] == "(" else -1
        if depth <= 0:
            return depth == 0 and match.end() == len(text)
    return False
