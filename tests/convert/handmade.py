"""Examples checked by hand: blocks of ``# name``, a tree, per scheme a line ``scheme word/governor/relation ...``."""

from __future__ import annotations

import io
from dataclasses import dataclass
from pathlib import Path

from h3n import formats
from h3n.convert.rules import load_scheme, to_dependencies
from h3n.trees import TRACE, Constituent, check_dependencies, leaves


@dataclass(frozen=True, slots=True)
class Example:
    """A tree and what a scheme should make of it."""

    name: str
    tree: str
    scheme: str
    expected: tuple[str, ...]


def examples(file: str) -> list[Example]:
    """Return the examples of a file beside this one."""
    text = (Path(__file__).parent / "examples" / f"{file}.txt").read_text(encoding="utf-8")
    found = []
    for block in text.strip().split("\n\n"):
        name, tree, *lines = block.splitlines()
        for line in lines:
            scheme, *expected = line.split()
            found.append(Example(name.removeprefix("# "), tree, scheme, tuple(expected)))
    return found


def read_tree(text: str, format: str = "brackets") -> Constituent:  # noqa: A002
    """Return the tree of one bracketing."""
    tree = next(formats.read(io.StringIO(text), format=format)).tree
    assert tree is not None
    return tree


def shown(example: Example) -> tuple[str, ...]:
    """Return what the scheme makes of the tree, a word at a time, in the notation of the file."""
    tree = read_tree(example.tree)
    made = to_dependencies(tree, load_scheme(example.scheme))
    check_dependencies(made)
    words = [leaf.word for leaf in leaves(tree) if leaf.tag != TRACE]
    return tuple(f"{w}/{g + 1}/{r}" for w, g, r in zip(words, made.governors, made.relations, strict=True))
