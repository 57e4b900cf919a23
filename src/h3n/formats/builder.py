"""From bracketed text, in pieces as it comes, to trees. Nothing here recurses, so that no tree is too deep.

Round brackets inside words are always escaped, since bracket notation needs it. The other escapes of the Penn Treebank
are undone and made on request only: most treebanks do not use them.
"""

from __future__ import annotations

import re
import sys
from typing import TypeAlias

from h3n.errors import EmptyConstituent, FormatError, Place, TextOutsideBrackets, UnbalancedBrackets
from h3n.formats.options import Problems
from h3n.trees import TOPS, Constituent, Leaf, Node

# What follows an opening bracket up to the next one, in all but odd cases: a label alone, or a tag and a word.
_OPENING = re.compile(r"[ \t\r\n]*([^ \t\r\n()]*)[ \t\r\n]*")
_LEAF = re.compile(r"[ \t\r\n]*([^ \t\r\n()]+)[ \t\r\n]+([^ \t\r\n()]+)[ \t\r\n]*\)([) \t\r\n]*)")
_SYMBOL = re.compile(r"[^ \t\r\n()]+|\)")
_CACHED = 1 << 15

# A label to open a bracket with; or a leaf and the number of brackets to close after it, more than there can be in an
# odd case.
_Step: TypeAlias = str | tuple[Leaf, int]
_ODD = (Leaf("", ""), sys.maxsize)

# Three steps in place of a call: the constructor of a frozen dataclass would take a quarter of the time of reading.
_new = object.__new__
_set_label = Constituent.__dict__["label"].__set__
_set_children = Constituent.__dict__["children"].__set__

ROUND = {"-LRB-": "(", "-RRB-": ")"}
ALL = ROUND | {"-LCB-": "{", "-RCB-": "}", "-LSB-": "[", "-RSB-": "]", "\\/": "/", "\\*": "*"}

_UNESCAPE = {False: ROUND, True: ALL}
_ESCAPE = {every: {word: escape for escape, word in table.items()} for every, table in _UNESCAPE.items()}
_ESCAPED = {every: re.compile("|".join(map(re.escape, table))) for every, table in _UNESCAPE.items()}
_RAW = {every: re.compile("|".join(map(re.escape, table))) for every, table in _ESCAPE.items()}


def unescape(word: str, *, every: bool = False) -> str:
    """Return the word as it is written in running text."""
    if "-" not in word and "\\" not in word:  # nearly every word, and much faster than to search for all escapes
        return word
    return _ESCAPED[every].sub(lambda match: _UNESCAPE[every][match[0]], word)


def escape(word: str, *, every: bool = False) -> str:
    """Return the word as it may stand inside brackets: the inverse of `unescape`."""
    return _RAW[every].sub(lambda match: _ESCAPE[every][match[0]], word)


class _Steps(dict[str, _Step]):
    """What to do about the text between two opening brackets. What has been seen is kept in mind."""

    def __init__(self, *, all_escapes: bool) -> None:
        self._all_escapes = all_escapes

    def __missing__(self, bracket: str) -> _Step:
        if len(self) >= _CACHED:
            self.clear()
        step: _Step = _ODD
        if ")" not in bracket:
            if match := _OPENING.fullmatch(bracket):
                step = match[1]
        elif match := _LEAF.fullmatch(bracket):
            step = Leaf(match[1], unescape(match[2], every=self._all_escapes)), match[3].count(")")
        self[bracket] = step
        return step


class Builder:
    """Takes text by `feed` and keeps the trees that are complete in ``finished``, each with its line and its leaves.

    A piece of text must not end inside a word. Damage goes to ``problems``; a damaged tree is not kept.
    """

    def __init__(self, name: str, problems: Problems, *, all_escapes: bool) -> None:
        self.name = name
        self.line = 1
        self.finished: list[tuple[int, Node | None, list[Leaf]]] = []
        self._problems = problems
        self._all_escapes = all_escapes
        self._steps = _Steps(all_escapes=all_escapes)
        self.forget()

    def forget(self) -> None:
        """Start anew with the next tree."""
        self._labels: list[str] = []  # of the brackets that are open
        self._outer: list[list[Node]] = []  # what the brackets around the innermost hold so far
        self._inner: list[Node] = []  # what the innermost holds so far
        self._leaves: list[Leaf] = []
        self._empty: str | None = None
        self._start = self.line

    @property
    def is_open(self) -> bool:
        """Whether the text so far ends inside a tree."""
        return bool(self._labels)

    def feed(self, text: str) -> None:
        """Take the next piece of text.

        Treebanks repeat themselves: most of what stands between two opening brackets has been seen before, and what
        to do about it is looked up.
        """
        labels, outer, steps = self._labels, self._outer, self._steps
        if not labels:
            self._start = self.line
        before, *brackets = text.split("(")
        if before:
            self._take_symbols(before)
        inner, words = self._inner, self._leaves
        for bracket in brackets:
            step = steps[bracket]
            if isinstance(step, str):
                labels.append(step)
                outer.append(inner)
                inner = []
                continue
            leaf, closing = step
            if closing <= len(labels):
                inner.append(leaf)
                words.append(leaf)
                while closing:
                    closing -= 1
                    constituent = _new(Constituent)
                    _set_label(constituent, labels.pop())
                    _set_children(constituent, tuple(inner))
                    inner = outer.pop()
                    inner.append(constituent)
                if labels:
                    continue
                self._inner = inner
                self._finish()
            else:
                self._inner = inner
                self._open()
                self._take_symbols(bracket)
            inner, words = self._inner, self._leaves
        self._inner = inner

    def expect_closed(self, where: str, *, expected: str = "a closing bracket for each") -> None:
        """Report and forget a tree that is still open."""
        if self._labels:
            count = f"{len(self._labels)} brackets" if len(self._labels) > 1 else "1 bracket"
            self._report(UnbalancedBrackets, f"{count} still open {where}", expected, line=self._start)
            self.forget()

    def _take_symbols(self, text: str) -> None:
        """Take labels, words and closing brackets one by one."""
        for symbol in _SYMBOL.findall(text):
            if symbol == ")":
                self._close()
            elif not self._labels:
                self._report_stray(TextOutsideBrackets, f"{symbol!r} outside brackets", "trees and nothing else")
            elif not self._labels[-1] and not self._inner:
                self._labels[-1] = symbol
            else:
                leaf = Leaf("", unescape(symbol, every=self._all_escapes))
                self._inner.append(leaf)
                self._leaves.append(leaf)

    def _open(self) -> None:
        self._labels.append("")
        self._outer.append(self._inner)
        self._inner = []

    def _close(self) -> None:
        if not self._labels:
            self._report_stray(UnbalancedBrackets, "a closing bracket without an opening one", "a new tree")
            return
        constituent = self._bracket(self._labels.pop(), tuple(self._inner))
        self._inner = self._outer.pop()
        self._inner.append(constituent)
        if not self._labels:
            self._finish()

    def _bracket(self, label: str, children: tuple[Node, ...]) -> Node:
        """Return a constituent, or a leaf where there is one word and nothing else."""
        if not children and (self._empty is None or self._empty in TOPS):
            self._empty = label
        if len(children) == 1 and isinstance(children[0], Leaf) and not children[0].tag:
            self._leaves[-1] = Leaf(label, children[0].word)
            return self._leaves[-1]
        return Constituent(label, children)

    def _finish(self) -> None:
        node = self._inner.pop()
        if self._empty is not None and (self._leaves or self._empty not in TOPS):
            self._report(EmptyConstituent, f"the bracket ({self._empty}) holds nothing", "words or brackets inside it")
        if self._problems.none_in(self._start, self.line):
            self.finished.append((self._start, node, self._leaves))
        self._leaves, self._empty, self._start = [], None, self.line

    def _report_stray(self, kind: type[FormatError], found: str, expected: str) -> None:
        """Report what stands between trees, once for a line and not for every word of it."""
        if self._problems.none_in(self.line, self.line):
            self._report(kind, found, expected)

    def _report(self, kind: type[FormatError], found: str, expected: str, *, line: int | None = None) -> None:
        self._problems.found(kind(Place(self.name, line or self.line), found, expected))
