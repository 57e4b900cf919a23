"""Phrases in documents of spaCy: extensions of its spans and tokens, with the names that benepar gave them.

The phrases lie in ``doc._.h3n`` as plain lists, outer before inner, so that they are saved with the document. A word
without a phrase of its own is there too, with the label ``""``, as it is a node of the tree. White space at the ends of
a span does not count.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from h3n.errors import TreeError
from h3n.parser import Result
from h3n.trees import UNARY, Span, tree_of


@dataclass(frozen=True, slots=True)
class Piece:
    """The tokens of a sentence, and which of them are words."""

    start: int
    end: int
    words: tuple[int, ...]


Parsed: TypeAlias = Sequence[tuple[Piece, Result]]


def phrases(parsed: Parsed) -> list[list[Any]]:
    """Return the phrases and words of a document in pre-order: start, end, label, head and number of the parent.

    Numbers count tokens of the document; -1 stands for a head that is not known and for no parent.
    """
    rows: list[list[Any]] = []
    for piece, result in parsed:
        nodes = [(span.start, span.end, span.label, span.head) for span in result.spans]
        alone = {start for start, end, *_ in nodes if end - start == 1}
        nodes += [(word, word + 1, "", word) for word in range(len(result)) if nodes and word not in alone]
        around: list[int] = []
        for start, end, label, head in sorted(nodes, key=lambda node: (node[0], -node[1])):
            first, last = piece.words[start], piece.words[end - 1] + 1
            while around and rows[around[-1]][1] <= first:
                around.pop()
            parent = around[-1] if around else -1
            around.append(len(rows))
            rows.append([first, last, label, -1 if head is None else piece.words[head], parent])
    return rows


def _place(span: Any) -> tuple[list[list[Any]], int]:
    """Return the nodes of the document and which of them the span is, white space at its ends left out."""
    rows, start, end = span.doc._.h3n, span.start, span.end
    if rows is None:
        raise TreeError("the document has no phrases; does its pipeline have the component 'h3n'?")
    while end - start > 1 and span.doc[end - 1].is_space:
        end -= 1
    while end - start > 1 and span.doc[start].is_space:
        start += 1
    at = bisect_left(rows, (start, -end), key=lambda row: (row[0], -row[1]))
    # Plain comparison of lists would not do: saved and read again, they are tuples.
    if at == len(rows) or tuple(rows[at][:2]) != (start, end):
        raise TreeError(f"{span.text!r} (tokens {start} to {end - 1}) is not a constituent of its sentence")
    return rows, at


def _below(span: Any) -> Iterator[tuple[int, list[Any]]]:
    """Yield the nodes from the span downwards in pre-order, each with its number."""
    rows, at = _place(span)
    end = rows[at][1]
    while at < len(rows) and rows[at][0] < end:
        yield at, rows[at]
        at += 1


def labels(span: Any) -> tuple[str, ...]:
    """Return the labels of a constituent, outermost first: several in a unary chain, none of a bare word."""
    rows, at = _place(span)
    return tuple(rows[at][2].split(UNARY)) if rows[at][2] else ()


def constituents(span: Any) -> Iterator[Any]:
    """Yield the constituent and all inside it in pre-order, words included."""
    return (span.doc[row[0] : row[1]] for _, row in _below(span))


def children(span: Any) -> Iterator[Any]:
    """Yield the constituents right below, words included."""
    _, top = _place(span)
    return (span.doc[row[0] : row[1]] for _, row in _below(span) if row[4] == top)


def parent(span: Any) -> Any:
    """Return the constituent right above, or None for the whole sentence."""
    rows, at = _place(span)
    above = rows[at][4]
    return None if above < 0 else span.doc[rows[above][0] : rows[above][1]]


def head(span: Any) -> Any:
    """Return the token that is the head of a constituent, or None where the decoder finds no heads."""
    rows, at = _place(span)
    return None if rows[at][3] < 0 else span.doc[rows[at][3]]


def head_span(token: Any) -> Any:
    """Return the largest constituent whose head the token is; at least the word alone."""
    rows, at = _place(_alone(token))
    while rows[at][4] >= 0 and rows[rows[at][4]][3] == token.i:
        at = rows[at][4]
    return token.doc[rows[at][0] : rows[at][1]]


def parse_string(span: Any) -> str:
    """Return the tree of a constituent in brackets, with the tags that the tokens have."""
    nodes = [row for _, row in _below(span)]
    words = [token for token in span.doc[nodes[0][0] : nodes[0][1]] if not token.is_space]
    number = {token.i: at for at, token in enumerate(words)}
    spans = [Span(number[row[0]], number[row[1] - 1] + 1, row[2]) for row in nodes if row[2]]
    tree = str(tree_of(spans, [token.text for token in words], [token.tag_ for token in words], top=None))
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
