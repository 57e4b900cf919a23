"""Joint trees as brackets with heads marked, and back.

::

    (TOP (S@root (NP@nsubj (PRP* She)) (VP* (VBZ@aux is) (VBG* making) (NP@obj (DT@det the) (NN* cake)))))

In every phrase one part is the head and is marked ``*``; every other part depends on it and carries its relation after
``@``. So each word's relation is written once, on the largest phrase it heads. The bracket of the whole sentence
carries the relation of the root word; the top bracket, if there is one, has no mark at all.

As in treebanks, brackets inside a word are written ``-LRB-`` and ``-RRB-``. Whatever else would be misread (blanks,
backslashes and control characters; in labels, tags and relations also brackets, ``*`` and ``@``) is written as its code
point, ``\\20;`` for a blank, and ``\\;`` stands for an empty word. Reading gives back exactly what was written.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass

from h3n.draw.figure import Drawable, joint_of
from h3n.errors import TreeError
from h3n.trees import HeadedSpan, JointTree

HEAD = "*"
RELATION = "@"
_IN_LABEL = re.compile(r"[\s\\()*@\x00-\x1f\x7f-\x9f]")
_IN_WORD = re.compile(r"[\s\\\x00-\x1f\x7f-\x9f]|-(?=[LR]RB-)")
_ESCAPED = re.compile(r"\\([0-9a-f]*);")
_WORD_BRACKETS = {"-LRB-": "(", "-RRB-": ")"}
_WORD_ESCAPED = re.compile(rf"{_ESCAPED.pattern}|-LRB-|-RRB-")
_TOKEN = re.compile(r"[()]|[^\s()]+")
_MARKED = re.compile(r"([^*@]*)(\*|@[^*@]*)?")


def joint_brackets(source: Drawable) -> str:
    """Return the joint tree on one line, heads marked.

    `TreeError` where the head of a span is the head of none of its parts.
    """
    joint = joint_of(source)
    top = () if joint.top is None else (f" ({_label(joint.top)}", ")")
    return "".join([*top[:1], *_parts(joint), *top[1:]]).lstrip()


def _parts(joint: JointTree) -> Iterator[str]:
    open_spans: list[HeadedSpan] = []
    headed: list[bool] = []  # for each open span: whether the part with its head has come by
    word = 0

    def mark(head: int) -> str:
        """Return the mark of the part with this head that comes next in the innermost open span."""
        if open_spans and open_spans[-1].head == head:
            headed[-1] = True
            return HEAD
        return RELATION + _label(joint.relations[head])

    def words(end: int) -> Iterator[str]:
        for w in range(word, end):
            yield f" ({_label(joint.tags[w])}{mark(w)} {_word(joint.words[w])})"

    def close() -> str:
        span = open_spans.pop()
        if not headed.pop():
            raise TreeError(f"{span} has a head that is the head of none of its parts")
        return ")"

    for span in joint.spans:
        while open_spans and open_spans[-1].end <= span.start:
            yield from words(open_spans[-1].end)
            word = max(word, open_spans[-1].end)
            yield close()
        yield from words(span.start)
        word = max(word, span.start)
        yield f" ({_label(span.label)}{mark(span.head)}"
        open_spans.append(span)
        headed.append(False)
    while open_spans:
        yield from words(open_spans[-1].end)
        word = max(word, open_spans[-1].end)
        yield close()
    yield from words(len(joint))


@dataclass(slots=True)
class _Open:
    """A bracket while it is read. ``mark`` is ``*``, ``@`` with a relation, or nothing; ``at`` is where it opens.

    ``number`` is its place among the brackets; its head is known by the time it closes.
    """

    label: str
    mark: str
    start: int
    number: int
    at: int
    parts: int = 0
    head: int | None = None
    leaf: bool = False


def read_joint_brackets(text: str) -> JointTree:
    """Return the joint tree of one bracketing with heads marked, however it is spread over lines.

    `TreeError` says at which character the text is none.
    """
    reader = _Reader()
    tokens = [(found.group(), found.start() + 1) for found in _TOKEN.finditer(text)]
    position = 0
    while position < len(tokens):
        token, at = tokens[position]
        position += 1
        if token == "(":
            label = tokens[position][0] if position < len(tokens) and tokens[position][0] not in "()" else ""
            position += bool(label)
            reader.open(label, at)
        elif token == ")":
            reader.close(at)
        else:
            reader.word(token, at)
    return reader.finish(len(text))


class _Reader:
    """Takes brackets and words one after the other; everything is checked as it comes."""

    def __init__(self) -> None:
        self.words: list[str] = []
        self.tags: list[str] = []
        self.relations: dict[int, str] = {}
        self.spans: list[HeadedSpan | None] = []  # in the order in which their brackets open
        self.stack: list[_Open] = []
        self.top: str | None = None
        self.trees = 0

    def open(self, token: str, at: int) -> None:
        found = _MARKED.fullmatch(token)
        if found is None:
            raise _error(at, f"{token!r}", "a label with one mark, * or @relation")
        node = _Open(_unescaped(found[1]), found[2] or "", len(self.words), len(self.spans), at)
        outer = self.stack[-1] if self.stack else None
        self._check_place(node, outer)
        if outer is not None:
            outer.parts += 1
        self.trees += outer is None
        self.stack.append(node)
        self.spans.append(None)

    def _check_place(self, node: _Open, outer: _Open | None) -> None:
        """Raise unless this bracket may stand inside ``outer``."""
        found = f"bracket {node.label!r} {f'marked {node.mark}' if node.mark else 'without a mark'}"
        if outer is not None and outer.leaf:
            raise _error(node.at, "a bracket after a word", "a closing bracket")
        if outer is None and (self.top is not None or (self.trees and not node.mark)):
            raise _error(node.at, "a second tree", "one tree")
        if outer is not None and outer.mark and not node.mark:
            raise _error(node.at, found, "* for a head or @relation")
        if outer is not None and not outer.mark and not node.mark.startswith(RELATION):
            raise _error(node.at, f"{found} below the top", "@relation")
        if outer is None and node.mark == HEAD:
            raise _error(node.at, f"{found} outside of every phrase", "@relation")

    def word(self, token: str, at: int) -> None:
        outer = self.stack[-1] if self.stack else None
        if outer is None or outer.parts or outer.leaf or not outer.mark:
            raise _error(at, f"the word {token!r}", "a bracket of its own around each word, with a marked tag")
        outer.leaf = True
        outer.head = len(self.words)
        self.words.append(_unescaped_word(token))
        self.tags.append(outer.label)

    def close(self, at: int) -> None:
        if not self.stack:
            raise _error(at, "a closing bracket that was never opened", "a tree")
        node = self.stack.pop()
        if not node.mark:
            self.top = node.label
            return
        if node.head is None:
            raise _error(node.at, f"phrase {node.label!r} without a head", "one part marked *")
        if not node.leaf:
            self.spans[node.number] = HeadedSpan(node.start, len(self.words), node.label, node.head)
        if node.mark != HEAD:
            self.relations[node.head] = _unescaped(node.mark[1:])
        elif self.stack[-1].head is not None:
            raise _error(node.at, f"a second head in phrase {self.stack[-1].label!r}", "one part marked *")
        else:
            self.stack[-1].head = node.head

    def finish(self, at: int) -> JointTree:
        if self.stack:
            raise _error(self.stack[-1].at, "a bracket that is never closed", f"its end by character {at}")
        relations = tuple(self.relations[w] for w in range(len(self.words)))
        spans = tuple(span for span in self.spans if span is not None)
        return JointTree(tuple(self.words), tuple(self.tags), spans, relations, top=self.top)


def _error(at: int, found: str, expected: str) -> TreeError:
    return TreeError(f"character {at}: {found}; expected {expected}")


def _label(text: str) -> str:
    return _IN_LABEL.sub(_code, text)


def _word(text: str) -> str:
    escaped = _IN_WORD.sub(_code, text).replace("(", "-LRB-").replace(")", "-RRB-")
    return escaped or r"\;"


def _code(found: re.Match[str]) -> str:
    return f"\\{ord(found[0]):x};"


def _unescaped(text: str) -> str:
    return _ESCAPED.sub(_character, text)


def _character(found: re.Match[str]) -> str:
    code = int(found[1] or "0", 16)
    if code > sys.maxunicode:
        raise TreeError(f"{found[0]!r} is the code of no character; expected at most \\{sys.maxunicode:x};")
    return chr(code) if found[1] else ""


def _unescaped_word(text: str) -> str:
    return _WORD_ESCAPED.sub(lambda found: _WORD_BRACKETS.get(found[0]) or _unescaped(found[0]), text)
