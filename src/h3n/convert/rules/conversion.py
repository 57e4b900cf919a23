"""From one phrase structure tree to one dependency tree."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from h3n.convert.rules.afterwards import Arcs
from h3n.convert.rules.heads import mark_heads
from h3n.convert.rules.nodes import Node, from_constituent
from h3n.convert.rules.relations import governors_by_heads, governors_by_patterns, relate
from h3n.convert.rules.scheme import Scheme
from h3n.convert.rules.transforms import transform_tree
from h3n.convert.upos import universal_tags
from h3n.trees import ROOT, Constituent, Dependencies, Sentence

UNIVERSAL = ("ud1", "ud2")


def to_dependencies(tree: Constituent, scheme: Scheme, *, unknown: Counter[str] | None = None) -> Dependencies:
    """Return one governor and relation per word of the tree; traces are not words, function tags may be there or not.

    (paper, section V-A)

    Categories without a head rule take the scheme's default and are counted in ``unknown``. Raises `TreeError` if the
    tree has no word.
    """
    root = from_constituent(tree, label=scheme.clean_label, tag=scheme.clean_tag, top=scheme.top)
    nodes = transform_tree(root, scheme.transforms)
    mark_heads(nodes, scheme.heads, unknown)
    tops = _tops(nodes)
    table = scheme.relations
    governors = governors_by_patterns(tops, table) if scheme.arcs_by_patterns else governors_by_heads(tops)
    relations = [
        table.root if governor == ROOT else relate(node, governor, table)
        for node, governor in zip(tops, governors, strict=True)
    ]
    arcs = Arcs(governors, relations, tops)
    for correct in scheme.corrections:
        correct(arcs)
    return Dependencies(tuple(arcs.governors), tuple(arcs.relations))


def with_made_dependencies(sentence: Sentence, dependencies: Dependencies, scheme: Scheme) -> Sentence:
    """Return the sentence with these dependencies, and with universal tags where the scheme is a universal one."""
    complete = replace(sentence, dependencies=dependencies)
    if scheme.name not in UNIVERSAL or sentence.tags is None or sentence.upos is not None:
        return complete
    return replace(complete, upos=universal_tags(sentence.words, sentence.tags, dependencies.relations))


def _tops(nodes: Sequence[Node]) -> list[Node]:
    """Return the highest node each word heads; ``nodes`` come children first, so the last one seen is the highest."""
    tops = {node.lexical: node for node in nodes}
    return [tops[word] for word in range(len(tops))]
