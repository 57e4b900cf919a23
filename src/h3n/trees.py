"""Sentences and their trees: immutable, standard library only.

Conventions. Words are numbered 0 .. n-1; a span is half-open, ``start <= word < end``; the governor of the root word
is ``ROOT`` (-1). Nothing here recurses, so that a tree may be as deep as it likes.

A phrase structure tree comes in two shapes. `Constituent` is the bracketing as it stands in a file: top label, unary
chains, traces and function tags included. `Span` is what is parsed and scored: unary chains collapsed into one label
(``S::VP``), tags not counted as spans, the top bracket stripped. `spans_of` and `tree_of` lead from one to the other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from h3n.errors import Place, TreeError

ROOT = -1
HELPER = "<H>"
UNARY = "::"
TRACE = "-NONE-"
TOPS = frozenset({"", "TOP", "ROOT", "S1", "VROOT"})


@dataclass(frozen=True, slots=True)
class Leaf:
    """A word with its part-of-speech tag, at the bottom of a phrase structure tree. No tag at all is ``""``."""

    tag: str
    word: str


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Constituent:
    """A labelled bracket with what stands inside it."""

    label: str
    children: tuple[Node, ...]

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Constituent):
            return NotImplemented
        return self is other or list(_preorder(self)) == list(_preorder(other))

    def __hash__(self) -> int:
        return hash(tuple(_preorder(self)))

    def __str__(self) -> str:
        """The tree in brackets on one line; `h3n.formats` writes files."""
        parts: list[str] = []
        stack: list[Node | str] = [self]
        while stack:
            node = stack.pop()
            if isinstance(node, str):
                parts.append(node)
            elif isinstance(node, Leaf):
                word = node.word.replace("(", "-LRB-").replace(")", "-RRB-")
                parts.append(f" ({node.tag} {word})" if node.tag else f" {word}")
            else:
                parts.append(f" ({node.label}")
                stack += [")", *reversed(node.children)]
        return "".join(parts).lstrip()

    def __repr__(self) -> str:
        return f"Constituent({self.label!r}, {len(self.children)} children, {sum(1 for _ in leaves(self))} words)"


Node: TypeAlias = Constituent | Leaf
LeafMap: TypeAlias = Callable[[Leaf], Leaf | None]
BracketMap: TypeAlias = Callable[[Constituent, tuple[Node, ...]], Node | None]


@dataclass(frozen=True, slots=True, order=True)
class Span:
    """A labelled stretch of words (paper, section II); ``label`` is a whole unary chain."""

    start: int
    end: int
    label: str


@dataclass(frozen=True, slots=True)
class Dependencies:
    """One governor and one relation per word (paper, section II)."""

    governors: tuple[int, ...]
    relations: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.governors)


@dataclass(frozen=True, slots=True)
class Insert:
    """A CoNLL-U row that is not a word (a multiword range or an empty node), as it stands before word ``before``."""

    before: int
    row: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Sentence:
    """A sentence with whatever is known of it. A column that is missing or empty throughout is None."""

    words: tuple[str, ...]
    tags: tuple[str, ...] | None = None
    upos: tuple[str, ...] | None = None
    lemmas: tuple[str, ...] | None = None
    features: tuple[str, ...] | None = None
    enhanced: tuple[str, ...] | None = None
    misc: tuple[str, ...] | None = None
    tree: Constituent | None = None
    dependencies: Dependencies | None = None
    comments: tuple[str, ...] = ()
    inserts: tuple[Insert, ...] = ()
    place: Place | None = field(default=None, compare=False)

    def __len__(self) -> int:
        return len(self.words)

    @property
    def sent_id(self) -> str | None:
        """Return the sentence's name in its treebank: what the comment ``# sent_id = NAME`` says."""
        for comment in self.comments:
            key, equals, value = comment.lstrip("# ").partition("=")
            if equals and key.strip() == "sent_id":
                return value.strip()
        return None


@dataclass(frozen=True, slots=True, order=True)
class HeadedSpan:
    """A span of the joint tree: it knows its head word."""

    start: int
    end: int
    label: str
    head: int


@dataclass(frozen=True, slots=True)
class JointTree:
    """The simplified HPSG tree: phrase structure in which every span knows its head word (paper, section I).

    ``spans`` stand in pre-order (outer before inner, left before right); those labelled `HELPER` group a word with its
    dependents inside a flat phrase and are spliced out when the phrase structure is shown. ``top`` is the top label of
    the bracketing, None where it had none. Governors are not stored: `h3n.convert.split` derives them from the heads.
    """

    words: tuple[str, ...]
    tags: tuple[str, ...]
    spans: tuple[HeadedSpan, ...]
    relations: tuple[str, ...]
    top: str | None = "TOP"

    def __len__(self) -> int:
        return len(self.words)


def _preorder(tree: Constituent) -> Iterator[object]:
    """Yield labels, child counts and leaves in pre-order: a flat image that two equal trees share."""
    stack: list[Node] = [tree]
    while stack:
        node = stack.pop()
        if isinstance(node, Leaf):
            yield node
        else:
            yield node.label
            yield len(node.children)
            stack.extend(reversed(node.children))


def leaves(tree: Constituent) -> Iterator[Leaf]:
    """Yield the leaves from left to right, traces included."""
    stack: list[Node] = [tree]
    while stack:
        node = stack.pop()
        if isinstance(node, Leaf):
            yield node
        else:
            stack.extend(reversed(node.children))


def rebuild(tree: Constituent, leaf: LeafMap, bracket: BracketMap) -> Node | None:
    """Return the tree made bottom-up by the two functions; a None from either drops that part.

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
    made = Constituent(inner, tuple(children))
    for name in reversed(outer):
        made = Constituent(name, (made,))
    return made


def check_dependencies(dependencies: Dependencies) -> None:
    """Raise `TreeError` unless every word has a governor in range, exactly one is the root and no word governs itself
    through a chain of others."""
    governors = dependencies.governors
    n = len(governors)
    if len(dependencies.relations) != n:
        raise TreeError(f"{n} governors but {len(dependencies.relations)} relations")
    for word, governor in enumerate(governors):
        if not (governor == ROOT or 0 <= governor < n):
            raise TreeError(f"word {word + 1} has governor {governor + 1}, outside the sentence of {n} words")
    roots = [word + 1 for word, governor in enumerate(governors) if governor == ROOT]
    if n and len(roots) != 1:
        raise TreeError(f"{len(roots)} root words" + (f" ({', '.join(map(str, roots))})" if roots else ""))
    if (cycle := find_cycle(governors)) is not None:
        raise TreeError(f"the governors of words {', '.join(str(w + 1) for w in cycle)} form a cycle")


def find_cycle(governors: Sequence[int]) -> tuple[int, ...] | None:
    """Return the words of one cycle in ascending order, or None if there is none. O(n)."""
    visited = [0] * len(governors)  # 0: not yet, otherwise the number of the walk that came by
    for start in range(len(governors)):
        word = start
        while word != ROOT and not visited[word]:
            visited[word] = start + 1
            word = governors[word]
        if word != ROOT and visited[word] == start + 1:
            cycle = [word]
            while (word := governors[word]) != cycle[0]:
                cycle.append(word)
            return tuple(sorted(cycle))
    return None


def depths_of(governors: Sequence[int]) -> list[int]:
    """Return every word's distance from the root word of a dependency tree. O(n)."""
    depths = [-1] * len(governors)
    for start in range(len(governors)):
        path = []
        word = start
        while word != ROOT and depths[word] < 0:
            path.append(word)
            word = governors[word]
        base = -1 if word == ROOT else depths[word]
        for steps, above in enumerate(reversed(path), start=1):
            depths[above] = base + steps
    return depths


def is_projective(governors: Sequence[int]) -> bool:
    """Return whether every word between a governor and its dependent hangs below that governor. O(n log n)."""
    # The same as: no two arcs cross, with an arc from the left of the sentence (ROOT is -1) to the root word.
    # Arcs are brackets: at one word they close before others open, and of those that open there the longest is first.
    arcs = sorted((min(w, g), -max(w, g)) for w, g in enumerate(governors))
    open_ends: list[int] = []
    for left, negative_right in arcs:
        right = -negative_right
        while open_ends and open_ends[-1] <= left:
            open_ends.pop()
        if open_ends and open_ends[-1] < right:
            return False
        open_ends.append(right)
    return True
