"""How arcs nest: which runs outside which, and in which order they leave a word.

An arc between two words covers the gaps between them, gap g lying between words g and g + 1.
"""

from __future__ import annotations

from collections.abc import Sequence

from h3n.draw.figure import Arc
from h3n.trees import ROOT


def arc_levels(arcs: Sequence[Arc]) -> tuple[int, ...]:
    """Return a level from 1 for each arc, such that arcs over a common gap differ and a longer one runs outside.

    The arc of the root word, which comes from nowhere, runs outside every arc that ends at that word.
    """
    levels = [0] * len(arcs)
    outermost = [0] * (len(arcs) + 1)  # by gap: the level of the outermost arc so far
    between = [i for i, arc in enumerate(arcs) if arc.governor != ROOT]
    for i in sorted(between, key=lambda i: arcs[i].right - arcs[i].left):
        gaps = slice(arcs[i].left, arcs[i].right)
        levels[i] = 1 + max(outermost[gaps])
        outermost[gaps] = [levels[i]] * (arcs[i].right - arcs[i].left)
    for i, arc in enumerate(arcs):
        if arc.governor == ROOT:
            word = arc.dependent
            levels[i] = 1 + max(outermost[word - 1 : word + 1] if word else outermost[:1])
    return tuple(levels)


def arc_ports(arcs: Sequence[Arc], words: int) -> list[list[int]]:
    """Return for each word the arcs that end at it, from left to right so that nested arcs do not cross.

    To the left the shortest comes first, to the right the longest, the arc of the root word between them.
    """
    ports: list[list[tuple[int, int, int]]] = [[] for _ in range(words)]
    for i, arc in enumerate(arcs):
        if arc.governor == ROOT:
            ports[arc.dependent].append((1, 0, i))
        else:
            length = arc.right - arc.left
            ports[arc.left].append((2, -length, i))
            ports[arc.right].append((0, length, i))
    return [[i for _, _, i in sorted(ends)] for ends in ports]
