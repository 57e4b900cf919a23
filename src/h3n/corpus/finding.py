"""Sentences of a parsed corpus by a pattern over both trees at once.

The pattern is one of the rules' (`h3n.convert.rules.patterns`, docs/conversion.md). In a corpus its nodes know the
dependencies too: ``NP @ nsubj < PP`` is an NP whose head word is an ``nsubj``, with a PP as a child.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from h3n.convert.rules.matching import Bound, Match, Tried, compile_pattern
from h3n.convert.rules.nodes import NOWHERE, LinkedNode, bottom_up
from h3n.convert.rules.patterns import Vocabulary, parse
from h3n.corpus.reading import CorpusSentence, parsed_of, rows_of
from h3n.errors import FormatError, Place, UsageError
from h3n.trees import UNARY


@dataclass(frozen=True, slots=True)
class Hit:
    """A phrase or word that a pattern fits, from ``start`` up to ``end``, and the row of its sentence."""

    label: str
    start: int
    end: int
    row: Mapping[str, Any]

    @property
    def words(self) -> str:
        return " ".join(self.row["words"][self.start : self.end])

    @property
    def parsed(self) -> CorpusSentence:
        """The sentence as `h3n.corpus.read` gives it."""
        return parsed_of(self.row)


def find(folder: str | os.PathLike[str], pattern: str) -> Iterator[Hit]:
    """Return all that a pattern fits in a corpus in Parquet, in order, an outer phrase before what is in it."""
    fits = _compiled(pattern)
    return (found for row in rows_of(folder) for found in _fitting(row, fits))


def _compiled(pattern: str) -> Match:
    try:
        return compile_pattern(parse(pattern, Vocabulary({}, {}, {}), Place("the pattern", 1)), shared=True)
    except FormatError as error:
        raise UsageError(f"{error.found}; expected {error.expected}") from None


def _fitting(row: Mapping[str, Any], fits: Match) -> Iterator[Hit]:
    roots = linked(row)
    nodes = sorted(
        (node for root in roots for node in bottom_up(root) if isinstance(node, LinkedNode)),
        key=lambda node: (node.start, -node.end),
    )
    tried: Tried = {}
    for node in nodes:
        if fits(node, Bound.sharing(tried)):
            yield Hit(node.label, node.start, node.end, row)


def linked(row: Mapping[str, Any]) -> list[LinkedNode]:
    """Return the roots of a sentence's nodes: one where it has a phrase tree, otherwise its words."""
    words = _words(row)
    spans = row["spans"]
    roots: list[LinkedNode] = []
    open_phrases: list[tuple[LinkedNode, list[LinkedNode]]] = []
    at = 0

    def place(node: LinkedNode) -> None:
        (open_phrases[-1][1] if open_phrases else roots).append(node)

    def close(until: int) -> None:
        nonlocal at
        while open_phrases and open_phrases[-1][0].end <= until:
            node, children = open_phrases.pop()
            children += words[at : node.end]
            at = max(at, node.end)
            _finish(node, children)
            place(node)

    for span in spans:
        close(span["start"])
        (open_phrases[-1][1] if open_phrases else roots).extend(words[at : span["start"]])
        at = max(at, span["start"])
        for label in span["label"].split(UNARY):
            head = span["head"]
            node = LinkedNode(label, span["start"], span["end"], None if head is None else words[head])
            open_phrases.append((node, []))
    close(len(words))
    roots += words[at:]
    for root in roots:
        root.parent = NOWHERE
    return roots


def _finish(node: LinkedNode, children: Sequence[LinkedNode]) -> None:
    """Give a phrase its children and the one its head is in."""
    node.adopt(children)
    if node.anchor is not None:
        head = node.anchor.number
        node.head = next((child for child in children if child.start <= head < child.end), None)
        node.lexical = head


def _words(row: Mapping[str, Any]) -> list[LinkedNode]:
    forms, governors = row["words"], row["governors"]
    tags = row["tags"] or row["upos"] or [""] * len(forms)
    nodes = [LinkedNode(tag, at, at + 1, form=form) for at, (tag, form) in enumerate(zip(tags, forms, strict=True))]
    for node, governor, relation in zip(nodes, governors, row["relations"], strict=False):
        node.link(nodes[governor] if governor >= 0 else None, relation)
    return nodes
