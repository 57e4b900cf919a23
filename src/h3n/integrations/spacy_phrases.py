"""Phrases in documents of spaCy: extensions of its spans and tokens, with the names that benepar gave them.

The phrases lie in ``doc._.h3n`` as plain lists, outer before inner, so that they are saved with the document. They are
stretches of characters, so that tokens may be merged and split afterwards: a phrase that begins or ends inside a token
is passed over from then on. Words are nodes of the tree too. White space is not, and at the ends of a span it does not
count.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from h3n.errors import TreeError
from h3n.parser import Result
from h3n.trees import UNARY, Span, tree_of

_BLANK = re.compile(r"\s")
NO_LABEL = ""  # of a word


class NonConstituentException(TreeError):
    """A span of a document that is not a constituent; benepar has this name for it."""


@dataclass(frozen=True, slots=True)
class Piece:
    """The tokens of a sentence, and which of them are words."""

    start: int
    end: int
    words: tuple[int, ...]


Parsed: TypeAlias = Sequence[tuple[Piece, Result]]


def phrases(doc: Any, parsed: Parsed) -> list[list[Any]]:
    """Return the phrases of a document in pre-order: start, end, label, start of the head and number of the parent.

    Places count characters of the document; -1 stands for a head that is not known and for no parent.
    """
    rows: list[list[Any]] = []
    for piece, result in parsed:
        around: list[int] = []
        for span in result.spans:
            first, last = doc[piece.words[span.start]], doc[piece.words[span.end - 1]]
            while around and rows[around[-1]][1] <= first.idx:
                around.pop()
            parent = around[-1] if around else -1
            around.append(len(rows))
            head = -1 if span.head is None else doc[piece.words[span.head]].idx
            rows.append([first.idx, last.idx + len(last), span.label, head, parent])
    return rows


@dataclass(frozen=True, slots=True)
class Node:
    """A phrase or a word of a document: its tokens, its label, its head (-1: not known), and how deep it stands."""

    start: int
    end: int
    label: str
    head: int
    depth: int

    @property
    def labels(self) -> tuple[str, ...]:
        return tuple(self.label.split(UNARY)) if self.label else ()


def nodes_in(doc: Any, start: int, end: int) -> list[Node]:
    """Return the phrases and words within these characters, in pre-order; those of ``depth`` 0 are outermost."""
    rows = _rows(doc)
    found: list[Node] = []
    inside = doc.char_span(start, end, alignment_mode="contract") if end > start else None
    tokens = [token.i for token in inside if not token.is_space] if inside is not None else []
    todo = [(token, token + 1, NO_LABEL, token) for token in tokens]
    at = bisect_left(rows, start, key=lambda row: row[0])
    while at < len(rows) and rows[at][0] < end:
        first, last, label, head, _ = rows[at]
        span = doc.char_span(first, last)
        if last <= end and span is not None:
            place = doc.char_span(head, head + 1, alignment_mode="expand") if head >= 0 else None
            todo.append((span.start, span.end, label, -1 if place is None else place.start))
        at += 1
    alone = {first for first, last, label, _ in todo if label and last - first == 1}
    around: list[int] = []  # the ends of the phrases that are open
    for first, last, label, lexical in sorted(todo, key=lambda one: (one[0], -one[1])):
        if not label and first in alone:
            continue
        while around and around[-1] <= first:
            around.pop()
        found.append(Node(first, last, label, lexical, len(around)))
        around.append(last)
    return found


def _rows(doc: Any) -> Sequence[Sequence[Any]]:
    if doc._.h3n is None:
        raise TreeError("the document has no phrases; does its pipeline have the component 'h3n'?")
    rows: Sequence[Sequence[Any]] = doc._.h3n
    return rows


def _characters(span: Any) -> tuple[int, int]:
    """Return where a span begins and ends without white space at its ends; twice the same if it is nothing else."""
    words = [token for token in span if not token.is_space]
    return (words[0].idx, words[-1].idx + len(words[-1])) if words else (span.start_char, span.start_char)


def _place(span: Any) -> tuple[int, int, Sequence[Any] | None] | None:
    """Return where a constituent begins and ends, and its row, or None for a bare word; nothing for white space."""
    rows = _rows(span.doc)
    start, end = _characters(span)
    if start == end:
        return None
    at = bisect_left(rows, (start, -end), key=lambda row: (row[0], -row[1]))
    if at < len(rows) and tuple(rows[at][:2]) == (start, end):
        return start, end, rows[at]
    if sum(not token.is_space for token in span) > 1:
        tokens = f"tokens {span.start} to {span.end - 1}"
        raise NonConstituentException(f"{span.text!r} ({tokens}) is not a constituent of its sentence")
    return start, end, None


def _below(span: Any) -> list[Node]:
    """Return the nodes from the span downwards in pre-order, none of white space; it must be a constituent."""
    place = _place(span)
    return [] if place is None else nodes_in(span.doc, *place[:2])


def _span(doc: Any, node: Node) -> Any:
    return doc[node.start : node.end]


def labels(span: Any) -> tuple[str, ...]:
    """Return the labels of a constituent, outermost first: several in a unary chain, none of a bare word."""
    place = _place(span)
    return () if place is None or place[2] is None else tuple(place[2][2].split(UNARY))


def constituents(span: Any) -> Iterator[Any]:
    """Yield the constituent and all inside it in pre-order, words included."""
    return (_span(span.doc, node) for node in _below(span))


def children(span: Any) -> Iterator[Any]:
    """Yield the constituents right below, words included."""
    return (_span(span.doc, node) for node in _below(span) if node.depth == 1)


def parent(span: Any) -> Any:
    """Return the constituent right above, or None for the whole sentence."""
    place = _place(span)
    if place is None:
        return None
    start, end, _ = place
    rows = _rows(span.doc)
    at = bisect_right(rows, start, key=lambda row: row[0]) - 1
    while at >= 0:
        first, last, _, _, above = rows[at]
        if end <= last and (first, last) != (start, end):
            around = span.doc.char_span(first, last)
            if around is not None:
                return around
        at = above
    return None


def head(span: Any) -> Any:
    """Return the token that is the head of a constituent, or None where the decoder finds no heads."""
    place = _place(span)
    if place is None:
        return None
    start = place[0] if place[2] is None else place[2][3]
    return None if start < 0 else span.doc.char_span(start, start + 1, alignment_mode="expand")[0]


def head_span(token: Any) -> Any:
    """Return the largest constituent whose head the token is; at least the word alone."""
    largest = _alone(token)
    above = parent(largest)
    while above is not None and head(above) == token:
        largest, above = above, parent(above)
    return largest


def parse_string(span: Any) -> str:
    """Return the tree of a constituent in brackets, with the tags that the tokens have; empty for white space."""
    nodes = _below(span)
    if not nodes:
        return ""
    words = [token for token in _span(span.doc, nodes[0]) if not token.is_space]
    number = {token.i: at for at, token in enumerate(words)}
    last = {token.i + 1: at + 1 for at, token in enumerate(words)}
    spans = [Span(number[node.start], last[node.end], node.label) for node in nodes if node.label]
    forms = [_BLANK.sub("_", token.text) for token in words]  # merged tokens have blanks, which brackets cannot show
    tree = str(tree_of(spans, forms, [token.tag_ for token in words], top=None))
    # Without a phrase there is only the word, below a top bracket that stands for none.
    return tree if spans else tree.removeprefix("(TOP ").removesuffix(")")


def _alone(token: Any) -> Any:
    return token.doc[token.i : token.i + 1]


def _of_word(getter: Callable[[Any], Any]) -> Callable[[Any], Any]:
    return lambda token: getter(_alone(token))


SPAN_EXTENSIONS: dict[str, Callable[[Any], Any]] = {
    "labels": labels,
    "constituents": constituents,
    "children": children,
    "parent": parent,
    "head": head,
    "parse_string": parse_string,
}
TOKEN_EXTENSIONS: dict[str, Callable[[Any], Any]] = {
    "labels": _of_word(labels),
    "parent": _of_word(parent),
    "parse_string": _of_word(parse_string),
    "head_span": head_span,
}


def register() -> None:
    """Make the extensions known to spaCy.

    By force, so that a second call does no harm and that those of benepar, if it was imported, give way.
    """
    from spacy.tokens import Doc, Token
    from spacy.tokens import Span as SpacySpan

    Doc.set_extension("h3n", default=None, force=True)
    for name, getter in SPAN_EXTENSIONS.items():
        SpacySpan.set_extension(name, getter=getter, force=True)
    for name, getter in TOKEN_EXTENSIONS.items():
        Token.set_extension(name, getter=getter, force=True)
