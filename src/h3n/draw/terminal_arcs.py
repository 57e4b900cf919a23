"""Dependencies without phrases, for the terminal: arcs to the left of the words, one word on each line."""

from __future__ import annotations

from collections.abc import Iterator

from h3n.draw.arcs import arc_levels
from h3n.draw.cells import Line
from h3n.draw.figure import Figure
from h3n.trees import ROOT

UP, DOWN, LEFT, RIGHT = 1, 2, 4, 8
_UNICODE = {
    UP | DOWN: "│",
    LEFT | RIGHT: "─",
    UP | RIGHT: "╰",
    DOWN | RIGHT: "╭",
    UP | LEFT | RIGHT: "┴",
    DOWN | LEFT | RIGHT: "┬",
    UP | DOWN | RIGHT: "├",
    UP | DOWN | LEFT | RIGHT: "┼",
}
_ASCII = {UP | DOWN: "|", LEFT | RIGHT: "-"}  # a corner is a plus


def arc_width(figure: Figure) -> int:
    """Return how many columns the arcs need when packed as tightly as can be."""
    return max(_levels(figure), default=-2) + 2


def arc_lines(figure: Figure, room: int, *, ascii_only: bool) -> Iterator[Line]:
    """Yield the arcs of each word in at most ``room`` columns; outer arcs that find no place there are left out."""
    levels = _levels(figure)
    outermost = min(max(levels, default=0), max(room - 2, 0))
    step = 2 if 2 * outermost + 2 <= room else 1
    width = outermost * step + 2 if figure.arcs else 0
    sides: list[dict[int, int]] = [{} for _ in figure.words]  # by word and column: where lines go from there
    for arc, level in zip(figure.arcs, levels, strict=True):
        if arc.governor == ROOT or level > outermost:
            continue
        column = (outermost - level) * step
        for word, turn in ((arc.left, DOWN), (arc.right, UP)):
            _add(sides[word], column, turn | RIGHT)
            for passed in range(column + 1, width):
                _add(sides[word], passed, LEFT | RIGHT)
        for word in range(arc.left + 1, arc.right):
            _add(sides[word], column, UP | DOWN)
    for word, found in enumerate(sides):
        arrow = bool(figure.arcs) and figure.arcs[word].governor != ROOT
        yield _line(found, width, arrow=arrow, ascii_only=ascii_only)


def _levels(figure: Figure) -> list[int]:
    """Return the levels of the arcs; the arc of the root word, which is not drawn, has level 0."""
    levels = arc_levels(figure.arcs)
    return [0 if arc.governor == ROOT else level for arc, level in zip(figure.arcs, levels, strict=True)]


def _add(sides: dict[int, int], column: int, directions: int) -> None:
    sides[column] = sides.get(column, 0) | directions


def _line(sides: dict[int, int], width: int, *, arrow: bool, ascii_only: bool) -> Line:
    line = Line()
    line.fill(0, width, " ")
    for column, directions in sides.items():
        mark = _ASCII.get(directions, "+") if ascii_only else _UNICODE[directions]
        line.put(column, mark, "head")
    if arrow and width - 1 in sides:
        line.put(width - 1, ">" if ascii_only else "▸", "head")
    return line
