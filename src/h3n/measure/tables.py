"""Tables, as Markdown and as plain text, and numbers as they stand in them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

NONE = "–"


def markdown_row(cells: Iterable[str]) -> str:
    """Return a row of a Markdown table."""
    return f"| {' | '.join(cells)} |"


def markdown_heading(names: Sequence[str], *, left: int = 1) -> Iterator[str]:
    """Yield the two lines above the rows; the first ``left`` columns are text, the others numbers."""
    yield markdown_row(names)
    yield markdown_row(["---"] * left + ["---:"] * (len(names) - left))


def markdown_table(names: Sequence[str], rows: Iterable[Sequence[str]], *, left: int = 1) -> str:
    """Return a Markdown table."""
    return "\n".join([*markdown_heading(names, left=left), *map(markdown_row, rows)])


def text_table(rows: Sequence[Sequence[str]], *, left: int | None = None) -> str:
    """Return rows with their columns under each other, the first ``left`` of them (all, if not given) to the left."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    first = len(widths) if left is None else left
    lines = []
    for row in rows:
        cells = zip(row, widths, strict=True)
        shown = (cell.ljust(w) if at < first else cell.rjust(w) for at, (cell, w) in enumerate(cells))
        lines.append("  ".join(shown).rstrip())
    return "\n".join(lines)


def seconds_text(value: float) -> str:
    """Return a time with about three digits."""
    if value < 1:
        return f"{1000 * value:.{1 if value < 0.1 else 0}f} ms"
    return f"{value:,.{2 if value < 10 else 1 if value < 1000 else 0}f} s"


def rate_text(value: float) -> str:
    """Return so many a second."""
    return f"{value:,.{1 if value >= 1 else 3}f}"


def times_text(value: float | None, *, mark: str = "", unit: str = " x", none: str = "-") -> str:
    """Return how many times as fast something is."""
    return none if value is None else f"{mark}{value:,.{2 if value < 10 else 0}f}{unit}"


def growth_text(exponents: Iterable[tuple[str, float | None]]) -> str:
    """Return what each thing grows as, as far as that is known."""
    return ", ".join(f"{name} n^{value:.2f}" for name, value in exponents if value is not None)
