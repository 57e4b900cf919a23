"""A tree for the terminal: one word on each line, the phrases to the left of it, its governor to the right.

::

    S─┬─NP━━━━━━━━━━━━━━ 1 She       PRP 4 nsubj
      ┝━VP─┬──────────── 2 is        VBZ 4 aux
      │    ├─ADVP━━━━━━━ 3 carefully RB  4 advmod
      │    ┕━VP─┮━━━━━━━ 4 making    VBG 0 root
      │         └─NP─┬── 5 the       DT  6 det
      │              ┕━━ 6 cake      NN  4 obj
      └───────────────── 7 .         .   4 punct

Every phrase stands on the line of its first word, right of the phrase it is part of; heavy lines lead to the head.
Where the lines would get too long, a phrase starts again at the left margin (``▸``), so that a tree of any depth fits.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import groupby

from h3n.draw.arcs import arc_levels
from h3n.draw.figure import Drawable, Figure, figure_of
from h3n.draw.widths import cells, columns, fit, shorten, visible
from h3n.errors import UsageError
from h3n.trees import ROOT, UNARY

# style -> the terminal's code for it
STYLES = {"": "", "head": "1;34", "label": "1", "word": "", "faint": "2", "relation": "33"}
COLOURS = ("\x1b[0m", *(f"\x1b[{code}m" for code in STYLES.values() if code))


@dataclass(slots=True)
class Line:
    """A line under construction. A wide character takes two cells, the second of them empty."""

    cells: list[tuple[str, str]] = field(default_factory=list)

    def put(self, column: int, text: str, style: str = "") -> None:
        """Write the text from this column on, over what stands there."""
        for character, width in cells(text):
            if not width:  # a combining mark belongs to the character before it
                if column:
                    before, kept = self.cells[column - 1]
                    self.cells[column - 1] = (before + character, kept)
                continue
            self._reach(column + width)
            self.cells[column] = (character, style)
            if width == 2:
                self.cells[column + 1] = ("", style)
            column += width

    def fill(self, start: int, end: int, mark: str, style: str = "") -> None:
        """Repeat a mark over the cells from ``start`` up to ``end``."""
        self.put(start, mark * (end - start), style)

    def add(self, text: str, width: int, *, style: str = "", right: bool = False) -> None:
        """Append a text of exactly this many columns."""
        fitted = fit(text, width)
        if right:
            fitted = " " * (width - columns(text)) + text
        self.cells.append((fitted, style))

    def render(self, *, colour: bool) -> str:
        """Return the line without blanks at its end, with codes for the styles if asked."""
        if not colour:
            return _text(self.cells).rstrip()
        runs = [(style, _text(run)) for style, run in groupby(self.cells, key=lambda cell: cell[1])]
        return "".join(f"\x1b[{STYLES[style]}m{text}\x1b[0m" if STYLES[style] else text for style, text in runs)

    def _reach(self, column: int) -> None:
        self.cells.extend([(" ", "")] * (column - len(self.cells)))


def _text(cells: Iterable[tuple[str, str]]) -> str:
    return "".join(text for text, _ in cells)


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


NARROWEST = 40
TREE_SHARE = 0.5  # of the width: what the tree may take before words are cut
FLOORS = (10, 4, 8)  # what words, tags and relations may be cut to, in columns


@dataclass(frozen=True, slots=True)
class Marks:
    """The characters a tree is drawn with; each pair is the light one and the heavy one, which leads to the head."""

    line: str
    first: str
    middle: str
    last: str
    down: str
    jump: str
    margin: str


UNICODE = Marks(line="─━", first="┬┮", middle="├┝", last="└┕", down="│", jump="▸", margin="┊")
ASCII = Marks(line="-=", first="+#", middle="+#", last="+#", down="|", jump=">", margin=":")


@dataclass(frozen=True, slots=True)
class _Node:
    """A phrase as it is written: its label, the column it starts in, and whether it starts again at the margin."""

    label: str
    column: int
    jumps: bool
    branch: int  # the column of the lines to its children


def pretty(
    source: Drawable, *, width: int = 80, colour: bool = False, ascii_only: bool = False, helpers: bool = False
) -> str:
    """Return the tree as lines of at most ``width`` columns: number, word, tag, governor and relation beside the tree.

    Dependencies without phrases are drawn as arcs. ``ascii_only`` concerns the lines, not the words.
    """
    if width < NARROWEST:
        raise UsageError(f"a width of {width} columns is too narrow for a tree; give {NARROWEST} or more")
    figure = figure_of(source, helpers=helpers)
    marks = ASCII if ascii_only else UNICODE
    table = _Table(figure, room=width - min(_needed(figure), int(width * TREE_SHARE)))
    if figure.phrases:
        lines = list(_tree_lines(figure, table, room=width - table.width, marks=marks))
    else:
        lines = list(arc_lines(figure, width - table.width, ascii_only=ascii_only))
        for word, line in enumerate(lines):
            table.complete(line, word)
    return "".join(f"{line.render(colour=colour)}\n" for line in lines)


class _Table:
    """The columns beside the tree, as wide as their contents unless that leaves too little room."""

    def __init__(self, figure: Figure, *, room: int) -> None:
        self.figure = figure
        self.words = [visible(word) for word in figure.words]
        self.tags = [visible(tag) for tag in figure.tags]
        self.relations = [visible(arc.relation) for arc in figure.arcs]
        self.number = len(str(len(figure)))
        self.governor = self.number if figure.arcs else 0
        texts = (self.words, self.tags, self.relations)
        self.widths = [min(max(map(columns, column), default=0), room) for column in texts]
        while self.width > room:
            excess = [width - floor for width, floor in zip(self.widths, FLOORS, strict=True)]
            if max(excess) <= 0:
                break
            self.widths[excess.index(max(excess))] -= 1

    @property
    def width(self) -> int:
        shown = [width for width in (self.number, *self.widths, self.governor) if width]
        return sum(shown) + len(shown)

    def complete(self, line: Line, word: int) -> None:
        """Append the columns of this word to its line."""
        arc = self.figure.arcs[word] if self.figure.arcs else None
        cells = [
            (str(word + 1), self.number, "faint", True),
            (self.words[word], self.widths[0], "word", False),
            (self.tags[word], self.widths[1], "faint", False),
            (str(arc.governor + 1) if arc else "", self.governor, "", True),
            (self.relations[word] if arc else "", self.widths[2], "relation", False),
        ]
        for text, width, style, right in cells:
            if width:
                line.add(" ", 1)
                line.add(text, width, style=style, right=right)


def _needed(figure: Figure) -> int:
    """Return how many columns the drawing would like to have, without blanks between its marks."""
    if not figure.phrases:
        return arc_width(figure)
    nodes = _nodes(figure, room=1 << 30, space=0, marks=UNICODE)
    return max(node.branch for node in nodes) + 2


def _nodes(figure: Figure, *, room: int, space: int, marks: Marks) -> list[_Node]:
    """Return how each phrase is written in ``room`` columns, ``space`` columns between a label and its branches."""
    labels = []
    for phrase in figure.phrases:
        chain = map(visible, phrase.label.split(UNARY))
        labels.append(shorten(marks.line[phrase.head is not None].join(chain), room - 4))
    needs = _needs(figure, [columns(label) for label in labels], space=space)
    nodes: list[_Node] = []
    for phrase, label, need in zip(figure.phrases, labels, needs, strict=True):
        column = nodes[phrase.parent].branch + 1 + space if phrase.parent != ROOT else 0
        # What does not fit moves as a whole, unless it stands so far left that little would be won.
        jumps = column + need > room and (column > room // 2 or column + columns(label) + space + 2 > room)
        column = 1 if jumps else column
        nodes.append(_Node(label, column, jumps, column + columns(label) + space))
    return nodes


def _needs(figure: Figure, widths: list[int], *, space: int) -> list[int]:
    """Return how many columns each phrase needs with all that stands inside it."""
    inside = [1 + space] * len(widths)
    for number in range(len(widths) - 1, -1, -1):  # children stand after their parents
        parent = figure.phrases[number].parent
        inside[number] += widths[number] + space + 1
        if parent != ROOT:
            inside[parent] = max(inside[parent], inside[number] + space)
    return inside


def _tree_lines(figure: Figure, table: _Table, *, room: int, marks: Marks) -> Iterator[Line]:
    spacious = _nodes(figure, room=1 << 30, space=1, marks=marks)
    space = int(max(node.branch for node in spacious) + 3 <= room)
    nodes = spacious if space else _nodes(figure, room=room, space=0, marks=marks)
    width = max(node.branch for node in nodes) + 2 + space
    draw = _Rows(figure, nodes, width=width, marks=marks)
    beginning: list[list[int]] = [[] for _ in figure.words]  # by word: the phrases that start again at the margin
    for number, node in enumerate(nodes):
        if node.jumps:
            beginning[figure.phrases[number].start].append(number)
    for word, parent in enumerate(figure.word_parents):
        for number in beginning[word]:
            phrase = figure.phrases[number]
            if phrase.parent != ROOT:
                yield draw.row(phrase.parent, phrase.start, phrase.end, jumps=True)
        line = draw.row(parent, word, word + 1)
        table.complete(line, word)
        yield line


@dataclass(frozen=True, slots=True)
class _Rows:
    """Draws the tree's part of single lines."""

    figure: Figure
    nodes: list[_Node]
    width: int
    marks: Marks

    def row(self, parent: int, start: int, end: int, *, jumps: bool = False) -> Line:
        """Return the line on which a child of ``parent``, a word or a phrase, begins: it, and all around it.

        The way up ends at a phrase that starts at the margin.
        """
        line = Line()
        line.fill(0, self.width, " ")
        row_start, innermost = start, True
        while parent != ROOT:
            phrase, node = self.figure.phrases[parent], self.nodes[parent]
            head = phrase.head is not None and start <= phrase.head < end
            style = "head" if head else "faint"
            if start == row_start:
                until = self.width if innermost else self._next_column(line, node.branch)
                line.fill(node.branch, until, self.marks.line[head], style)
                line.put(node.branch, self._branch(phrase.start == start, phrase.end == end)[head], style)
            elif end < phrase.end:
                line.put(node.branch, self.marks.down, "faint")
            if innermost and jumps:
                line.put(self.width - 1, self.marks.jump, style)
            if phrase.start == row_start:
                line.put(node.column, node.label, "label")
                only = head and phrase.start == start and phrase.end == end
                line.fill(node.column + columns(node.label), node.branch, self.marks.line[only], style)
            innermost = False
            if node.jumps:
                line.put(0, self.marks.jump if phrase.start == row_start else self.marks.margin, "faint")
                break
            start, end, parent = phrase.start, phrase.end, phrase.parent
        return line

    def _branch(self, first: bool, last: bool) -> str:
        if first and last:
            return self.marks.line
        return self.marks.first if first else self.marks.last if last else self.marks.middle

    def _next_column(self, line: Line, column: int) -> int:
        """Return the first column right of this one that is written already."""
        return next(c for c in range(column + 1, self.width) if line.cells[c][0] != " ")
