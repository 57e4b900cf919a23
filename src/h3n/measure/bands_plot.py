"""The curves beside the paper's speed table: decoding time over sentence length, log-log."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from h3n.decode import EXACT_UP_TO
from h3n.measure.bands_table import FIT_FROM, NETWORK
from h3n.measure.paper import PUBLISHED
from h3n.measure.plots import finish_time_axes, new_figure, save_figure, time_axes, with_exponent

# `auto` lies on `hpsg` and `h3n`, so it has gaps.
STYLES: dict[str, dict[str, Any]] = {
    PUBLISHED: {"color": "#D55E00", "marker": "s"},
    "hpsg": {"color": "#E69F00", "marker": "D"},
    "h3n": {"color": "#0072B2", "marker": "o"},
    "auto": {"color": "#000000", "marker": "", "linestyle": ":", "linewidth": 2, "zorder": 5},
    "mst": {"color": "#009E73", "marker": "^"},
    "cky": {"color": "#56B4E9", "marker": "v"},
    NETWORK: {"color": "#999999", "marker": "", "linestyle": "--"},
}


def plot_bands(measured: Mapping[str, Any], path: Path) -> None:
    """Write the curves of what `measure_bands` returned, with their exponents in the legend."""
    figure = new_figure(8, 5.5)
    axes = time_axes(figure, clock=measured["clock"])
    curves = {name: measured["curves"][name] for name in STYLES if measured["curves"].get(name)}
    curves |= {name: points for name, points in measured["curves"].items() if name not in curves and points}
    for name, points in curves.items():
        style = {"markersize": 4, "linewidth": 1.3, **STYLES.get(name, {})}
        x, y = [point["words"] for point in points], [point["milliseconds"] for point in points]
        axes.plot(x, y, label=_label(name, measured["exponents"].get(name)), **style)
    finish_time_axes(axes, title=f"growth above {FIT_FROM} words")
    save_figure(figure, path)


def _label(name: str, exponent: float | None) -> str:
    shown = {NETWORK: "network", "auto": f"auto: hpsg, above {EXACT_UP_TO} words h3n"}.get(name, name)
    return with_exponent(shown, exponent)
