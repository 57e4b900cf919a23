"""The two trees of a sentence joined into one head-driven tree, and taken apart again.

`join` is total: it accepts every pair over the same words. Its choices where the two trees disagree:

- The phrase structure is never changed; only governors give way.
- A span's head is the word whose governor lies outside it. Of several, the one nearest the root of the dependency tree
  wins, the left-most on a tie.
- A part of a span whose governor is not the head of a sister part hangs on the sister that holds the governor, or on
  the head where that would lead in a circle or out of the span.
- A group (a part with everything that hangs on it) that is not contiguous is cut to the run around its head; what lies
  beyond the gap is lifted to the next higher group.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields

from h3n.errors import JoinError, MismatchError
from h3n.trees import (
    HELPER,
    ROOT,
    Constituent,
    Dependencies,
    HeadedSpan,
    JointTree,
    Span,
    check_dependencies,
    depths_of,
    leaves,
    spans_of,
    top_of,
    tree_of,
)

LEVELS = 32


@dataclass(frozen=True, slots=True)
class JoinCounts:
    """What joining met; counts of several sentences add up.

    ``consistent`` sentences are those whose joint tree gives back every governor; ``several_heads`` are spans with more
    than one word attached outside, ``broken_groups`` groups that were not contiguous, ``moved`` words whose governor in
    the joint tree is another than in the dependency tree.
    """

    sentences: int = 0
    consistent: int = 0
    words: int = 0
    spans: int = 0
    helpers: int = 0
    several_heads: int = 0
    broken_groups: int = 0
    moved: int = 0

    def __add__(self, other: JoinCounts) -> JoinCounts:
        return JoinCounts(*(getattr(self, f.name) + getattr(other, f.name) for f in fields(self)))


@dataclass(frozen=True, slots=True)
class Joined:
    """A joint tree with the counts of its making."""

    tree: JointTree
    counts: JoinCounts


@dataclass(slots=True)
class _Part:
    """A child of a span while its siblings are sorted into groups: one word or one labelled span."""

    start: int
    end: int
    head: int


def join(tree: Constituent, dependencies: Dependencies, *, strict: bool = False) -> Joined:
    """Return the joint tree of a phrase structure tree without traces and a dependency tree over the same words.

    It is the simplified HPSG tree (paper, section I). Never fails on two well-formed trees; in strict mode `JoinError`
    says where they disagree.
    """
    bottom = list(leaves(tree))
    if len(bottom) != len(dependencies):
        raise MismatchError(f"the phrase tree has {len(bottom)} words, the dependency tree {len(dependencies)}")
    check_dependencies(dependencies)
    governors = dependencies.governors
    depths = depths_of(governors)
    spans: list[HeadedSpan] = []
    several = broken = helpers = 0
    finished: list[_Part] = []  # spans that wait for their parent, the left-most last
    for span in reversed(spans_of(tree)):  # inner spans come before outer ones
        parts = _parts_of(span, finished)
        head, groups, gaps = _group(parts, span, governors, depths)
        several += _attached_outside(span, governors) > 1
        broken += gaps
        helpers += len(groups)
        spans.extend(groups)
        spans.append(HeadedSpan(span.start, span.end, span.label, head))
        finished.append(_Part(span.start, span.end, head))
    spans.sort(key=lambda s: (s.start, -s.end))
    joint = JointTree(
        words=tuple(leaf.word for leaf in bottom),
        tags=tuple(leaf.tag for leaf in bottom),
        spans=tuple(spans),
        relations=dependencies.relations,
        top=top_of(tree),
    )
    derived = governors_of(joint)
    moved = [word for word, governor in enumerate(governors) if derived[word] != governor]
    if strict and moved:
        raise _disagreement(joint, moved, governors, derived)
    counts = JoinCounts(
        sentences=1,
        consistent=int(not moved),
        words=len(joint),
        spans=len(spans) - helpers,
        helpers=helpers,
        several_heads=several,
        broken_groups=broken,
        moved=len(moved),
    )
    return Joined(joint, counts)


def _disagreement(
    joint: JointTree, moved: Sequence[int], governors: Sequence[int], derived: Sequence[int]
) -> JoinError:
    word = moved[0]
    return JoinError(
        f"word {word + 1} ({joint.words[word]!r}) has governor {governors[word] + 1} in the dependency tree, "
        f"but the phrases allow only {derived[word] + 1}; {len(moved)} of {len(joint)} words disagree"
    )


def split(joint: JointTree) -> tuple[Constituent, Dependencies]:
    """Return the phrase structure tree (helper spans spliced out) and the dependency tree of a joint tree."""
    tree = tree_of(joint.spans, joint.words, joint.tags, top=joint.top)
    return tree, Dependencies(governors_of(joint), joint.relations)


def governors_of(joint: JointTree) -> tuple[int, ...]:
    """Return every word's governor: the head of a part depends on the head of the span the part stands in.

    That is the Head Feature Principle (paper, section I).
    """
    governors = [ROOT] * len(joint)
    open_spans: list[HeadedSpan] = []
    word = 0

    def attach_words(end: int) -> int:
        """Give the words before ``end`` that stand directly in the innermost open span their governor."""
        for w in range(word, end):
            if w != open_spans[-1].head:
                governors[w] = open_spans[-1].head
        return max(word, end)

    for span in joint.spans:
        while open_spans and open_spans[-1].end <= span.start:
            word = attach_words(open_spans[-1].end)
            open_spans.pop()
        if open_spans:
            word = attach_words(span.start)
            if span.head != open_spans[-1].head:
                governors[span.head] = open_spans[-1].head
        open_spans.append(span)
    while open_spans:
        word = attach_words(open_spans[-1].end)
        open_spans.pop()
    return tuple(governors)


def levels(joint: JointTree) -> tuple[int, ...]:
    """Return every word's level, 1 .. `LEVELS`: the smallest level of any span it heads, the root span having level 1.

    It is what the head scorer learns (paper, section III-E). A word that heads no span has the last level, and deeper
    heads are clipped to the one before it: so a head always stands above the words that head nothing.
    """
    found = [LEVELS] * len(joint)
    open_ends: list[int] = []
    for span in joint.spans:
        while open_ends and open_ends[-1] <= span.start:
            open_ends.pop()
        open_ends.append(span.end)
        found[span.head] = min(found[span.head], len(open_ends), LEVELS - 1)
    return tuple(found)


def _parts_of(span: Span, finished: list[_Part]) -> list[_Part]:
    """Return the children of a span from left to right; its inner spans are taken off ``finished``."""
    parts: list[_Part] = []
    word = span.start
    while finished and finished[-1].end <= span.end:
        part = finished.pop()
        parts.extend(_Part(w, w + 1, w) for w in range(word, part.start))
        parts.append(part)
        word = part.end
    parts.extend(_Part(w, w + 1, w) for w in range(word, span.end))
    return parts


def _attached_outside(span: Span, governors: Sequence[int]) -> int:
    return sum(not span.start <= governors[word] < span.end for word in range(span.start, span.end))


def _group(
    parts: list[_Part], span: Span, governors: Sequence[int], depths: Sequence[int]
) -> tuple[int, list[HeadedSpan], int]:
    """Return the head of the span, its helper spans, and how many groups had to be cut."""
    if len(parts) == 1:
        return parts[0].head, [], 0
    above = _parents(parts, span, governors)
    roots = [p for p, parent in enumerate(above) if parent is None] or range(len(parts))
    top = min(roots, key=lambda p: depths[parts[p].head])
    order, parents = _anchored(above, top)
    below: list[list[int]] = [[] for _ in parts]
    first = list(range(len(parts)))  # the group of part p covers parts first[p] .. last[p]
    last = list(range(len(parts)))
    helpers: list[HeadedSpan] = []
    gaps = 0
    for p in reversed(order):  # deepest first, so that the groups below are complete
        beyond = _extend(p, below[p], first, last)
        if p == top:
            break
        gaps += bool(beyond)
        below[parents[p]].extend([p, *beyond])
        if first[p] < last[p]:
            helpers.append(HeadedSpan(parts[first[p]].start, parts[last[p]].end, HELPER, parts[p].head))
    return parts[top].head, helpers, gaps


def _parents(parts: list[_Part], span: Span, governors: Sequence[int]) -> list[int | None]:
    """Return for each part the part its head hangs on; None where that is outside the span (or the part itself)."""
    owner: list[int] = []
    for p, part in enumerate(parts):
        owner.extend([p] * (part.end - part.start))
    found: list[int | None] = []
    for p, part in enumerate(parts):
        governor = governors[part.head]
        inside = span.start <= governor < span.end
        parent = owner[governor - span.start] if inside else None
        found.append(None if parent == p else parent)
    return found


def _anchored(above: list[int | None], top: int) -> tuple[list[int], list[int]]:
    """Return the parts in an order with parents first, and their parents: circles and stray roots hang on ``top``."""
    parents = [top if parent is None else parent for parent in above]
    reached = [False] * len(parents)
    reached[top] = True
    order = [top]
    for start in range(len(parents)):
        path: list[int] = []
        p = start
        on_path: set[int] = set()
        while not reached[p] and p not in on_path:
            path.append(p)
            on_path.add(p)
            p = parents[p]
        if not reached[p]:  # a circle, entered at p
            parents[p] = top
            path.remove(p)
            path.append(p)
        for q in reversed(path):
            reached[q] = True
            order.append(q)
    return order, parents


def _extend(p: int, groups: list[int], first: list[int], last: list[int]) -> list[int]:
    """Grow the group of part ``p`` over the groups that touch it; return those that do not."""
    ranked = sorted(groups, key=lambda q: first[q])
    left = [q for q in ranked if q < p]
    right = [q for q in ranked if q > p]
    while left and last[left[-1]] == first[p] - 1:
        first[p] = first[left.pop()]
    right.reverse()
    while right and first[right[-1]] == last[p] + 1:
        last[p] = last[right.pop()]
    return left + right
