"""What is done with brackets: rewriting them, and the way to spans and back."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TypeAlias

from h3n.errors import TreeError
from h3n.trees.structures import HELPER, TOPS, TRACE, UNARY, Constituent, HeadedSpan, Leaf, Node, Span

LeafMap: TypeAlias = Callable[[Leaf], Leaf | None]
BracketMap: TypeAlias = Callable[[Constituent, tuple[Node, ...]], Node | None]


def rebuild(tree: Constituent, leaf: LeafMap, bracket: BracketMap) -> Node | None:
    """Return the tree that the two functions build bottom-up; a None from either drops that part.

    The common engine of everything that rewrites trees, so that none of it recurses.
    """
    done: list[list[Node]] = [[]]
    stack: list[tuple[Constituent, Iterator[Node]]] = [(tree, iter(tree.children))]
    done.append([])
    while stack:
        node, rest = stack[-1]
        child = next(rest, None)
        if child is None:
            stack.pop()
            changed = bracket(node, tuple(done.pop()))
        elif isinstance(child, Leaf):
            changed = leaf(child)
        else:
            stack.append((child, iter(child.children)))
            done.append([])
            continue
        if changed is not None:
            done[-1].append(changed)
    return done[0][0] if done[0] else None


def map_leaves(tree: Constituent, change: Callable[[Leaf], Leaf]) -> Constituent:
    """Return the tree with its leaves changed by the function, from left to right."""
    changed = rebuild(tree, change, lambda node, children: Constituent(node.label, children))
    return changed if isinstance(changed, Constituent) else tree


def bare_label(label: str) -> str:
    """Return a label without function tags, co-indices and gaps: ``NP-SBJ=2`` is ``NP``, ``-LRB-`` stays."""
    if label.startswith("-"):
        return label
    cut = len(label)
    for mark in "-=|#^~_":
        at = label.find(mark, 1)
        if 0 < at < cut:
            cut = at
    return label[:cut]


def strip_tree(tree: Constituent, *, traces: bool = True, functions: bool = True) -> Constituent | None:
    """Return the tree without traces (and brackets left empty) and without function tags, each as asked.

    None if nothing is left.
    """

    def leaf(node: Leaf) -> Leaf | None:
        return None if traces and node.tag == TRACE else node

    def bracket(node: Constituent, children: tuple[Node, ...]) -> Constituent | None:
        if traces and not children:
            return None
        return Constituent(bare_label(node.label) if functions else node.label, children)

    stripped = rebuild(tree, leaf, bracket)
    return stripped if isinstance(stripped, Constituent) else None


def top_of(tree: Constituent) -> str | None:
    """Return the label of the top bracket, or None where the tree has none."""
    return tree.label if tree.label in TOPS else None


def spans_of(tree: Constituent) -> tuple[Span, ...]:
    """Return the spans in pre-order: unary chains collapsed, the top bracket stripped, tags left out.

    A top bracket over several children, or over one bare leaf, is kept as the label of the whole sentence: a parse
    always has one. Traces must be gone (`strip_tree`), since a span covers at least one word. (paper, section II)
    """
    found: list[Span | None] = []
    word = 0
    # On the way down: a node. On the way up: the index of its span in `found`, its start and its label.
    stack: list[Node | tuple[int, int, str]] = [_below_top(tree)]
    while stack:
        node = stack.pop()
        if isinstance(node, Leaf):
            word += 1
        elif isinstance(node, Constituent):
            labels = [node.label]
            while len(node.children) == 1 and isinstance(node.children[0], Constituent):
                node = node.children[0]
                labels.append(node.label)
            stack.append((len(found), word, UNARY.join(labels)))
            stack.extend(reversed(node.children))
            found.append(None)
        else:
            index, start, label = node
            if start == word:
                raise TreeError(f"constituent {label!r} covers no word; remove empty elements first")
            found[index] = Span(start, word, label)
    return tuple(span for span in found if span is not None)


def _below_top(tree: Constituent) -> Constituent:
    """Return the tree without its top bracket, unless that bracket alone covers the whole sentence."""
    only = tree.children[0] if len(tree.children) == 1 else None
    stripped = tree.label in TOPS and isinstance(only, Constituent) and only.label not in TOPS
    return only if stripped and isinstance(only, Constituent) else tree


def tree_of(
    spans: Iterable[Span | HeadedSpan], words: Sequence[str], tags: Sequence[str], *, top: str | None = "TOP"
) -> Constituent:
    """Return the bracketing of these spans under a top bracket (None: no such bracket): the inverse of `spans_of`.

    Spans may come in any order but must nest, at most one per stretch; helper spans are spliced out.
    """
    order = sorted((s for s in spans if s.label != HELPER), key=lambda s: (s.start, -s.end))
    leaves = [Leaf(tags[w], word) for w, word in enumerate(words)]
    bottom: list[Node] = []
    # Spans that are open, the innermost last, each with what stands around it; `inside` is being filled.
    open_spans: list[tuple[Span | HeadedSpan, list[Node]]] = []
    inside, position, last = bottom, 0, len(words)

    def close() -> None:
        nonlocal inside, position
        span, around = open_spans.pop()
        if position < span.end:
            inside.extend(leaves[position : span.end])
            position = span.end
        around.append(_chain(span.label, inside))
        inside = around

    for span in order:
        while open_spans and open_spans[-1][0].end <= span.start:
            close()
        if not 0 <= span.start < span.end <= last:
            raise TreeError(f"{span} lies outside the sentence of {last} words")
        if open_spans and span.end > open_spans[-1][0].end:
            raise TreeError(f"{span} crosses {open_spans[-1][0]}")
        inside.extend(leaves[position : span.start])
        position = span.start
        open_spans.append((span, inside))
        inside = []
    while open_spans:
        close()
    bottom.extend(leaves[position:])
    whole = bottom[0] if len(bottom) == 1 else None
    if isinstance(whole, Constituent) and (top is None or whole.label in TOPS):
        return whole
    return Constituent(top if top is not None else "TOP", tuple(bottom))


def _chain(label: str, children: list[Node]) -> Constituent:
    if UNARY not in label:
        return Constituent(label, tuple(children))
    *outer, inner = label.split(UNARY)
    tree = Constituent(inner, tuple(children))
    for name in reversed(outer):
        tree = Constituent(name, (tree,))
    return tree
