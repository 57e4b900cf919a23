"""The curves beside the paper's speed table: decoding time over sentence length, log-log."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from h3n.decode import EXACT_UP_TO
from h3n.errors import InputError, MissingExtra, UsageError
from h3n.experiments.bands_table import FIT_FROM, NETWORK, PUBLISHED

# Hues that stay apart for colour-blind readers too (Okabe and Ito). `auto` lies on `hpsg` and `h3n`, so it has gaps.
STYLES: dict[str, dict[str, Any]] = {
    PUBLISHED: {"color": "#D55E00", "marker": "s"},
    "hpsg": {"color": "#E69F00", "marker": "D"},
    "h3n": {"color": "#0072B2", "marker": "o"},
    "auto": {"color": "#000000", "marker": "", "linestyle": ":", "linewidth": 2, "zorder": 5},
    "mst": {"color": "#009E73", "marker": "^"},
    "cky": {"color": "#56B4E9", "marker": "v"},
    NETWORK: {"color": "#999999", "marker": "", "linestyle": "--"},
}


def check_plot(path: Path) -> None:
    """Raise what would keep `plot_bands` from writing there: better before a long measurement than after it."""
    try:
        from matplotlib.backend_bases import FigureCanvasBase
    except ImportError:
        raise MissingExtra("plots", "plot") from None
    known = sorted(FigureCanvasBase.filetypes)
    if path.suffix.removeprefix(".").lower() not in known:
        raise UsageError(f"{path}: no kind of picture; accepted endings: {', '.join(known)}")
    if not path.parent.is_dir():
        raise InputError(f"{path}: no folder {path.parent}")


def plot_bands(found: Mapping[str, Any], path: Path) -> None:
    """Write the curves of what `measure_bands` returned, with their exponents in the legend."""
    check_plot(path)
    from matplotlib.figure import Figure
    from matplotlib.ticker import FuncFormatter, NullFormatter

    figure = Figure(figsize=(8, 5.5), layout="constrained")
    axes = figure.subplots()
    curves = {name: found["curves"][name] for name in STYLES if found["curves"].get(name)}
    curves |= {name: points for name, points in found["curves"].items() if name not in curves and points}
    for name, points in curves.items():
        style = {"markersize": 4, "linewidth": 1.3, **STYLES.get(name, {})}
        x, y = [point["words"] for point in points], [point["milliseconds"] for point in points]
        axes.loglog(x, y, label=_label(name, found["exponents"].get(name)), **style)
    axes.set_xlabel("words in the sentence")
    axes.set_ylabel(f"milliseconds per sentence ({found['clock']} time, one thread)")
    axes.set_xticks([ticks for ticks in (5, 10, 20, 50, 100, 200, 300) if axes.get_xlim()[0] <= ticks])
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axes.xaxis.set_minor_formatter(NullFormatter())
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,g}"))
    axes.grid(visible=True, which="major", alpha=0.3)
    axes.legend(title=f"growth above {FIT_FROM} words", fontsize="small")
    try:
        figure.savefig(path, dpi=150)
    except OSError as error:
        raise InputError(f"{path}: cannot be written: {error.strerror or error}") from None


def _label(name: str, exponent: float | None) -> str:
    shown = {NETWORK: "network", "auto": f"auto: hpsg, above {EXACT_UP_TO} words h3n"}.get(name, name)
    return shown if exponent is None else f"{shown}: $n^{{{exponent:.2f}}}$"
