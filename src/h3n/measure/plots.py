"""Figures: one set-up for all plots, and one place where they are written."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from h3n.errors import InputError, MissingExtra, UsageError

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Hues that stay apart for colour-blind readers too (Okabe and Ito).
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
MARKERS = ("o", "s", "^", "D", "v", "P")
TICKS = (5, 10, 20, 50, 100, 200, 300)  # words


def new_figure(width: float, height: float) -> Figure:
    """Return an empty figure of so many inches."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise MissingExtra("plots", "plot") from None
    return Figure(figsize=(width, height), layout="constrained")


def check_plot(path: Path) -> None:
    """Raise what would keep a plot from being written there: better before a long measurement than after it."""
    new_figure(1, 1)
    from matplotlib.backend_bases import FigureCanvasBase

    known = sorted(FigureCanvasBase.filetypes)
    if path.suffix.removeprefix(".").lower() not in known:
        raise UsageError(f"{path}: not a kind of picture; accepted endings: {', '.join(known)}")
    if not path.parent.is_dir():
        raise InputError(f"{path}: there is no folder {path.parent}")


def save_figure(figure: Figure, path: Path, *, dpi: int = 150) -> None:
    """Write a figure; the same figure gives the same bytes."""
    check_plot(path)
    metadata: dict[str, Any] = {"Software": None} if path.suffix.lower() == ".png" else {}
    try:
        figure.savefig(path, dpi=dpi, metadata=metadata)
    except OSError as error:
        raise InputError(f"{path}: cannot be written: {error.strerror or error}") from None


def time_axes(figure: Figure, *, clock: str) -> Axes:
    """Return axes for milliseconds per sentence over words, both in logarithms."""
    from matplotlib.ticker import FuncFormatter, NullFormatter

    axes = figure.subplots()
    axes.set(xscale="log", yscale="log", xlabel="words in the sentence")
    axes.set_ylabel(f"milliseconds per sentence ({clock} time, one thread)")
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axes.xaxis.set_minor_formatter(NullFormatter())
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,g}"))
    axes.grid(visible=True, which="major", alpha=0.3)
    return axes


def finish_time_axes(axes: Axes, *, title: str) -> None:
    """Add the ticks and the legend, once the curves are drawn."""
    low, high = axes.get_xlim()
    axes.set_xticks([words for words in TICKS if low <= words <= high])
    axes.legend(title=title, fontsize="small")


def with_exponent(name: str, exponent: float | None) -> str:
    """Return a curve's name in a legend."""
    return name if exponent is None else f"{name}: $n^{{{exponent:.2f}}}$"
