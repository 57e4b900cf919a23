"""What is asked of governors: whether they make a tree, how deep it is, whether arcs cross."""

from __future__ import annotations

from collections.abc import Sequence

from h3n.errors import TreeError
from h3n.trees.structures import ROOT, Dependencies


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
    """Return whether every word between a governor and its dependent is below that governor: no arc crosses.

    >>> is_projective((1, -1, 1)), is_projective((2, 3, -1, 2))
    (True, False)

    O(n log n); `crossing_arcs` counts them.
    """
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


def crossing_arcs(governors: Sequence[int]) -> int:
    """Return the number of arcs over a word that the arc's head does not dominate; the root's own does not count."""
    first, last = _intervals(governors)
    count = 0
    for word, head in enumerate(governors):
        if head != ROOT:
            low, high = min(word, head), max(word, head)
            inside = first[low + 1 : high]
            count += any(not first[head] <= number <= last[head] for number in inside)
    return count


def _intervals(governors: Sequence[int]) -> tuple[list[int], list[int]]:
    """Return for every word its number in pre-order and the last number among its descendants."""
    children: list[list[int]] = [[] for _ in governors]
    for word, head in enumerate(governors):
        if head != ROOT:
            children[head].append(word)
    first = [0] * len(governors)
    order: list[int] = []
    stack = [word for word, head in enumerate(governors) if head == ROOT]
    while stack:
        word = stack.pop()
        first[word] = len(order)
        order.append(word)
        stack += children[word]
    last = first.copy()
    for word in reversed(order):
        if governors[word] != ROOT:
            last[governors[word]] = max(last[governors[word]], last[word])
    return first, last
