"""Every option of reading and writing, on one page."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, TypeAlias

from h3n.errors import FormatError
from h3n.trees import Constituent, leaves, strip_tree

BLANK = "_"
Layout: TypeAlias = Literal["auto", "lines", "indented", "free"]
Handler: TypeAlias = Callable[[FormatError], object]


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """How to read. All but the last concern phrase structure alone.

    ``layout`` says where a tree ends: ``lines`` (one sentence on every line; an empty line is a sentence without a
    parse, several brackets on a line are one sentence), ``indented`` (a bracket in the first column starts a tree),
    ``free`` (where its brackets close), or ``auto`` (judge by the beginning of the file). ``all_escapes`` undoes
    ``-LCB-``, ``-LSB-`` and ``\\/`` besides ``-LRB-``. ``on_problem`` is called with every problem found, and reading
    goes on with the next sentence; without it the first problem is raised.
    """

    layout: Layout = "auto"
    all_escapes: bool = False
    strip_traces: bool = False
    strip_functions: bool = False
    on_problem: Handler | None = None

    def strip(self, tree: Constituent | None) -> Constituent | None:
        """Return the tree without what the options take away. One that says "no parse" stays as it is."""
        if tree is None or not (self.strip_traces or self.strip_functions) or next(leaves(tree), None) is None:
            return tree
        return strip_tree(tree, traces=self.strip_traces, functions=self.strip_functions)


@dataclass(frozen=True, slots=True, kw_only=True)
class Writing:
    """How to write. All but the last concern bracketed trees alone.

    ``indent`` spreads a tree over several lines. ``top`` puts this label on top of every tree, in place of the top
    label it has. ``blank`` stands for a blank inside a word, which bracket notation cannot show; with None such a
    word is an error. ``all_escapes`` is the inverse of the reading option.
    """

    indent: bool = False
    all_escapes: bool = False
    top: str | None = None
    blank: str | None = BLANK
    newline: Literal["\n", "\r\n"] = "\n"


READING = Reading()
WRITING = Writing()


class Problems:
    """Hands problems on to the handler and remembers their lines, or raises the first where there is no handler."""

    __slots__ = ("_handler", "_lines")

    def __init__(self, handler: Handler | None) -> None:
        self._handler = handler
        self._lines: set[int] = set()

    def found(self, error: FormatError) -> None:
        """Take note of damage: its sentence is lost."""
        if self._handler is None:
            raise error
        self._lines.add(error.place.line)
        self._handler(error)

    def noticed(self, error: FormatError) -> None:
        """Report a problem that costs no sentence; without a handler it is passed over."""
        if self._handler is not None:
            self._handler(error)

    def none_in(self, first: int, last: int) -> bool:
        """Return whether these lines are free of damage."""
        return not self._lines or self._lines.isdisjoint(range(first, last + 1))
