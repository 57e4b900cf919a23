"""Patterns over both trees of a sentence at once, wherever it comes from: a treebank, a parser, a corpus.

The pattern is one of the rules' (`h3n.convert.rules.patterns`, docs/conversion.md). Its nodes know the dependencies as
well: ``NP @ nsubj < PP`` is an NP whose head word is an ``nsubj``, with a PP as a child; ``NP @lemma dog @feature
Number=Plur`` one whose head word is a plural of *dog*.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from h3n.convert.joint import join
from h3n.convert.rules.matching import Bound, Match, Tried, compile_pattern
from h3n.convert.rules.nodes import NOWHERE, LinkedNode
from h3n.convert.rules.patterns import Vocabulary, parse
from h3n.errors import FormatError, Place, UsageError
from h3n.trees import HELPER, UNARY, Sentence, spans_of, strip_tree

Headed: TypeAlias = tuple[int, int, str, int | None]  # start, end, label and head of a span
NONE = "_"


@dataclass(frozen=True, slots=True, kw_only=True)
class Columns:
    """What is known of a sentence: a value for every word in each column, or none at all; spans outer before inner."""

    words: Sequence[str]
    tags: Sequence[str] = ()
    upos: Sequence[str] = ()
    lemmas: Sequence[str] = ()
    features: Sequence[str] = ()
    governors: Sequence[int] = ()
    relations: Sequence[str] = ()
    spans: Sequence[Headed] = ()


@dataclass(frozen=True, slots=True)
class Linked:
    """The nodes of a sentence: phrases in pre-order, the labels of a unary chain one by one, and words."""

    roots: list[LinkedNode]
    phrases: list[LinkedNode]
    words: list[LinkedNode]


def compiled(pattern: str) -> Match:
    """Return the test of a node that a pattern is; what is wrong with it is a `UsageError`."""
    try:
        return compile_pattern(parse(pattern, Vocabulary({}, {}, {}), Place("the pattern", 1)), shared=True)
    except FormatError as error:
        raise UsageError(f"{error.found}; expected {error.expected}") from None


def fitting(nodes: Linked, fits: Match) -> Iterator[LinkedNode]:
    """Yield the phrases and words that fit, from left to right, an outer phrase before what is in it."""
    tried: Tried = {}
    for node in sorted((*nodes.phrases, *nodes.words), key=lambda node: (node.start, -node.end)):
        if fits(node, Bound.sharing(tried)):
            yield node


def columns_of(sentence: Sentence) -> Columns:
    """Return what a sentence knows; traces are left out, and with both trees every phrase has its head."""
    dependencies = sentence.dependencies
    return Columns(
        words=sentence.words,
        tags=sentence.tags or (),
        upos=sentence.upos or (),
        lemmas=sentence.lemmas or (),
        features=sentence.features or (),
        governors=dependencies.governors if dependencies is not None else (),
        relations=dependencies.relations if dependencies is not None else (),
        spans=_spans(sentence),
    )


def _spans(sentence: Sentence) -> list[Headed]:
    tree = strip_tree(sentence.tree, functions=False) if sentence.tree is not None else None
    if tree is None:
        return []
    if sentence.dependencies is None:
        return [(span.start, span.end, span.label, None) for span in spans_of(tree)]
    joint = join(tree, sentence.dependencies).tree
    return [(span.start, span.end, span.label, span.head) for span in joint.spans if span.label != HELPER]


def link(columns: Columns) -> Linked:
    """Return the nodes of a sentence; its roots are one phrase where it has a phrase tree, otherwise its words."""
    words = _words(columns)
    roots: list[LinkedNode] = []
    phrases: list[LinkedNode] = []
    open_phrases: list[tuple[LinkedNode, list[LinkedNode]]] = []
    at = 0

    def close(until: int) -> None:
        nonlocal at
        while open_phrases and open_phrases[-1][0].end <= until:
            node, children = open_phrases.pop()
            children += words[at : node.end]
            at = max(at, node.end)
            _finish(node, children)
            (open_phrases[-1][1] if open_phrases else roots).append(node)

    for start, end, chain, head in columns.spans:
        close(start)
        (open_phrases[-1][1] if open_phrases else roots).extend(words[at:start])
        at = max(at, start)
        for label in chain.split(UNARY):
            phrases.append(LinkedNode(label, start, end, None if head is None else words[head]))
            open_phrases.append((phrases[-1], []))
    close(len(words))
    roots += words[at:]
    for root in roots:
        root.parent = NOWHERE
    return Linked(roots, phrases, words)


def _finish(node: LinkedNode, children: Sequence[LinkedNode]) -> None:
    """Give a phrase its children and the one its head is in."""
    node.adopt(children)
    if node.anchor is not None:
        head = node.anchor.number
        node.head = next((child for child in children if child.start <= head < child.end), None)
        node.lexical = head


def _words(columns: Columns) -> list[LinkedNode]:
    tags = columns.tags or columns.upos or [""] * len(columns.words)
    nodes = [
        LinkedNode(tag, at, at + 1, form=form) for at, (tag, form) in enumerate(zip(tags, columns.words, strict=True))
    ]
    for node, governor, relation in zip(nodes, columns.governors, columns.relations, strict=False):
        node.link(nodes[governor] if governor >= 0 else None, relation)
    for name in ("upos", "lemmas", "features"):
        for node, cell in zip(nodes, getattr(columns, name), strict=False):
            if cell not in ("", NONE):
                node.describe(name, cell.split("|") if name == "features" else [cell])
    return nodes
