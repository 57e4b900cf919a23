"""``doc.noun_chunks`` of spaCy from our own phrases.

spaCy finds noun chunks by the relations of its own models, and other treebanks have other ones. Here a chunk is an NP
whose head is not in a smaller NP, from its first word up to what follows the head: a phrase, a conjunction, or
punctuation. Further nouns that such an NP coordinates without phrases of their own are chunks as well. As everywhere in
spaCy heads are nouns, names and pronouns, and no chunk lies in another.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeAlias

from h3n.integrations.spacy_phrases import Node, nodes_in
from h3n.trees import bare_label

NAME = "NP"
LABELS = frozenset({"NP", "WHNP"})
NOMINAL = frozenset({"NOUN", "PROPN", "PRON"})
APART = frozenset({"PUNCT", "CCONJ", "SPACE"})  # what is between chunks, not in them
AFTER = frozenset({"ADP", "SCONJ", "VERB", "AUX"})  # what begins something else after a head
INSIDE = frozenset({"NML", "NX", "QP", "NAC"})  # phrases after a head that belong to its chunk
THERE = "EX"  # the tag of "there" in "there is"

Iterate: TypeAlias = Callable[[Any], Iterator[tuple[int, int, int]]]


class NounChunks:
    """What a vocabulary of spaCy calls for the chunks of a document or of a span.

    ``other`` is the language's own way, for documents that h3n did not parse or whose dependencies it did not write.
    """

    def __init__(self, other: Iterate | None, *, keep: bool) -> None:
        self.other = other
        self.keep = keep

    def __call__(self, doclike: Any) -> Iterator[tuple[int, int, int]]:
        doc = doclike.doc
        own = doc._.h3n is not None and not (self.keep and doc.has_annotation("DEP"))
        if not own and self.other is not None:
            yield from self.other(doclike)
            return
        label, end = doc.vocab.strings.add(NAME), -1
        for first, last in sorted(_chunks(doclike), key=lambda chunk: (chunk[0], -chunk[1])):
            if first >= end:
                yield first, last, label
                end = last


def _chunks(doclike: Any) -> Iterator[tuple[int, int]]:
    """Yield the chunks in any order, some of them inside others."""
    doc = doclike.doc
    if not len(doclike):
        return
    end = doclike[-1].idx + len(doclike[-1])
    nodes = nodes_in(doc, doclike[0].idx, end)
    for at, node in enumerate(nodes):
        if _is_noun_phrase(node):
            yield from _of_phrase(doc, nodes, at)


def _of_phrase(doc: Any, nodes: Sequence[Node], at: int) -> Iterator[tuple[int, int]]:
    """Yield the chunks of a noun phrase: none of its own if its head is in a smaller one."""
    start, head = nodes[at].start, nodes[at].head
    while True:
        parts = [below for below in _inside(nodes, at) if below.depth == nodes[at].depth + 1]
        if not parts:  # one word
            parts = [nodes[at]]
        core = next((number for number, part in enumerate(parts) if part.start <= head < part.end), None)
        if core is None or (parts[core] is not nodes[at] and _is_noun_phrase(parts[core])):
            return
        if not parts[core].label or parts[core].label in INSIDE or parts[core] is nodes[at]:
            break
        at = nodes.index(parts[core])  # a phrase of another kind around the head, such as a parenthesis
    yield from _of_parts(doc, parts, core, start=start, head=head)


def _inside(nodes: Sequence[Node], at: int) -> Iterator[Node]:
    for node in nodes[at + 1 :]:
        if node.depth <= nodes[at].depth:
            return
        yield node


def _is_noun_phrase(node: Node) -> bool:
    return any(bare_label(label).upper() in LABELS for label in node.labels)


def _of_parts(doc: Any, parts: Sequence[Node], core: int, *, start: int, head: int) -> Iterator[tuple[int, int]]:
    """Yield the chunk around the head, then those that are coordinated with it."""
    while start < head and _is_apart(doc[start]) and not (doc[start].is_quote or doc[start].is_left_punct):
        start += 1
    last = core
    while last + 1 < len(parts) and _goes_on(doc, parts[last + 1]):
        last += 1
    if _is_nominal(doc[head]):
        yield start, parts[last].end
    begin: int | None = None
    for part in parts[last + 1 :]:
        if part.label or _is_apart(doc[part.start]):
            begin = None if part.label else part.end
        elif begin is not None and doc[part.start].dep_ == "conj" and _is_nominal(doc[part.start]):
            yield begin, part.end


def _goes_on(doc: Any, part: Node) -> bool:
    if part.label:
        return part.label in INSIDE
    return not _is_apart(doc[part.start]) and doc[part.start].pos_ not in AFTER


def _is_apart(token: Any) -> bool:
    """Return whether a token is punctuation or a conjunction; a mark inside a word, as in Spider-Man, is not."""
    if not (token.pos_ in APART if token.pos_ else token.is_punct):
        return False
    glued = token.i and not token.nbor(-1).whitespace_ and not token.whitespace_ and token.i + 1 < len(token.doc)
    return not (glued and token.text in {"-", "–", "/", "&", "'", "’"})


def _is_nominal(token: Any) -> bool:
    return (token.pos_ in NOMINAL or not token.pos_) and token.tag_ != THERE
