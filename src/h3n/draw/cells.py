"""A line of terminal text as cells, one per column, each with a style."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import groupby

from h3n.draw.widths import cells, columns, fit

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
