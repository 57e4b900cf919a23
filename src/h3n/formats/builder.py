"""From bracketed text, in pieces as it comes, to trees. Nothing here recurses, so that no tree is too deep."""

from __future__ import annotations

import re

from h3n.errors import EmptyConstituent, FormatError, Place, TextOutsideBrackets, UnbalancedBrackets
from h3n.formats.escapes import unescape
from h3n.formats.options import Problems
from h3n.trees import TOPS, Constituent, Leaf, Node

# A bracket with its label, a word, closing brackets, and what else comes before the next bracket (usually nothing).
_BRACKET = re.compile(r"\([ \t\r\n]*([^ \t\r\n()]*)[ \t\r\n]*([^ \t\r\n()]*)((?:[ \t\r\n]*\))*)[ \t\r\n]*([^(]*)")
_REST = re.compile(r"[^ \t\r\n()]+|\)")
_CACHED = 1 << 16


class Builder:
    """Takes text by `feed` and keeps the trees that are complete in ``finished``, each with its line and its leaves.

    A piece of text must not end inside a word. Damage goes to ``problems``; a damaged tree is not kept.
    """

    def __init__(self, name: str, problems: Problems, *, all_escapes: bool) -> None:
        self.line = 1
        self.finished: list[tuple[int, Node, list[Leaf]]] = []
        self._name = name
        self._problems = problems
        self._all_escapes = all_escapes
        self._cache: dict[tuple[str, str], Leaf] = {}
        self.reset()

    def reset(self) -> None:
        """Forget the tree under construction."""
        self._labels: list[str] = []
        self._children: list[list[Node]] = [[]]  # of every open bracket; the first list is that of no bracket
        self._leaves: list[Leaf] = []
        self._empty: str | None = None
        self._start = self.line

    @property
    def depth(self) -> int:
        """The number of brackets that are open."""
        return len(self._labels)

    def feed(self, text: str) -> None:
        """Take the next piece of text."""
        labels, children, cache = self._labels, self._children, self._cache
        if not labels:
            self._start = self.line
        first = text.find("(")
        if first:
            self._take_rest(text[:first] if first > 0 else text)
        if first < 0:
            return
        for label, word, closes, rest in _BRACKET.findall(text, first):
            if word and closes:
                leaf = cache.get((label, word)) or self._leaf(label, word)
                children[-1].append(leaf)
                self._leaves.append(leaf)
                self._close(closes.count(")") - 1)
            else:
                labels.append(label)
                children.append([])
                if word:
                    self._take_word(word)
                elif closes:
                    self._close(closes.count(")"))
            if rest:
                self._take_rest(rest)

    def expect_closed(self, where: str, *, expected: str = "a closing bracket for each") -> None:
        """Report and forget a tree that is still open."""
        if self._labels:
            count = f"{len(self._labels)} brackets" if len(self._labels) > 1 else "1 bracket"
            self._report(UnbalancedBrackets, f"{count} still open {where}", expected, line=self._start)
            self.reset()

    def _close(self, times: int) -> None:
        labels, children = self._labels, self._children
        for _ in range(times):
            if not labels:
                self._report(UnbalancedBrackets, "a closing bracket without an opening one", "a new tree")
                continue
            label, inner = labels.pop(), children.pop()
            children[-1].append(Constituent(label, tuple(inner)) if len(inner) > 1 else self._small(label, inner))
        if not labels and children[0]:
            self._finish()

    def _small(self, label: str, inner: list[Node]) -> Node:
        """Return a bracket around nothing or one thing; around a word without a tag it is a leaf."""
        if not inner:
            self._empty = label if self._empty is None or self._empty in TOPS else self._empty
        elif type(only := inner[0]) is Leaf and not only.tag:
            self._leaves[-1] = Leaf(label, only.word)
            return self._leaves[-1]
        return Constituent(label, tuple(inner))

    def _finish(self) -> None:
        node = self._children[0].pop()
        if self._empty is not None and (self._leaves or self._empty not in TOPS):
            self._report(EmptyConstituent, f"the bracket ({self._empty}) holds nothing", "words or brackets inside it")
        if self._problems.none_in(self._start, self.line):
            self.finished.append((self._start, node, self._leaves))
        self._leaves, self._empty, self._start = [], None, self.line

    def _take_rest(self, text: str) -> None:
        for token in _REST.findall(text):
            if token == ")":
                self._close(1)
            elif not self._labels:
                found = f"{token!r} outside brackets"
                self._report(TextOutsideBrackets, found, "trees and nothing else")
            elif not self._labels[-1] and not self._children[-1]:
                self._labels[-1] = token  # the label stands on the line after its bracket
            else:
                self._take_word(token)

    def _take_word(self, word: str) -> None:
        leaf = self._leaf("", word)
        self._children[-1].append(leaf)
        self._leaves.append(leaf)

    def _leaf(self, tag: str, word: str) -> Leaf:
        if len(self._cache) >= _CACHED:
            self._cache.clear()
        leaf = self._cache[tag, word] = Leaf(tag, unescape(word, every=self._all_escapes))
        return leaf

    def _report(self, kind: type[FormatError], found: str, expected: str, *, line: int | None = None) -> None:
        self._problems.found(kind(Place(self._name, line or self.line), found, expected))
