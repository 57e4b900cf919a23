"""What `h3n bench decode` shows: the tables of the decoders' times as text, and their curves."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from h3n.measure.decoders import THREADED, BandPoint, DecoderTimes
from h3n.measure.paper import COMPLEXITY, PUBLISHED
from h3n.measure.peers import OURS
from h3n.measure.plots import finish_time_axes, new_figure, save_figure, time_axes, with_exponent


def describe_decoders(times: DecoderTimes) -> str:
    """Return the times as text."""
    names = list(dict.fromkeys(point.decoder for point in times.points))
    lengths = list(dict.fromkeys(point.words for point in times.points))
    ms = times.table()
    widest = max(map(len, names), default=7)
    lines = [*times.notes, "", "milliseconds per sentence"]
    lines.append("words".ljust(widest) + "".join(f"{words:>10}" for words in lengths) + "    grows as")
    for name in names:
        cells = "".join(f"{ms[name, words]:>10.4f}" if (name, words) in ms else f"{'-':>10}" for words in lengths)
        grows = f"n^{times.exponents[name]:.2f}" if name in times.exponents else "-"
        lines.append(f"{name:<{widest}}{cells}    {grows}")
    lines += ["", "ratios", *_ratios(ms, names, lengths)]
    if times.two_threads:
        lines += ["", f"two threads against one, {THREADED} sentences of 40 to 119 words"]
        lines += [f"{name:<{widest}}{ratio:>10.2f} x" for name, ratio in times.two_threads.items()]
        lines.append(f"work that shares nothing: {times.machine:.2f} x, which is what the machine has to give now")
    if times.bands:
        lines += ["", *_band_table(times.bands)]
    return "\n".join(lines)


def _ratios(ms: dict[tuple[str, int], float], names: Sequence[str], lengths: Sequence[int]) -> list[str]:
    """Return a line for each pair worth comparing: slow over fast, at every length."""
    pairs = [("h3n", "cky"), ("hpsg", "h3n"), (PUBLISHED, "hpsg"), (PUBLISHED, "h3n")]
    pairs += [(name, OURS[name]) for name in names if name in OURS]
    lines = []
    for slow, fast in pairs:
        cells = [(slow, words) in ms and (fast, words) in ms for words in lengths]
        if any(cells):
            shown = "".join(
                f"{ms[slow, words] / ms[fast, words]:>10.1f}" if there else f"{'-':>10}"
                for words, there in zip(lengths, cells, strict=True)
            )
            lines.append(f"{slow + ' / ' + fast:<28}{shown}")
    return lines


def _band_table(bands: Sequence[BandPoint]) -> list[str]:
    """Return the paper's table of decoding speed, for decoding alone."""
    lines = ["1,000 sentences (~ extrapolated)", "words     decoder   cost      time   sentences/s   speed-up"]
    published = {point.band: point for point in bands if point.decoder == PUBLISHED}
    for point in bands:
        mark = "~" if point.extrapolated else ""
        other = published.get(point.band)
        gain = "-"
        if other is not None and point.decoder in ("hpsg", "h3n"):
            gain = f"{'~' if other.extrapolated else ''}{other.ms / point.ms:,.0f} x"
        seconds = f"{mark}{point.ms:,.{3 if point.ms < 100 else 0}f} s"
        cost = COMPLEXITY[point.decoder]
        lines.append(f"{point.band:<10}{point.decoder:<10}{cost:<6}{seconds:>12}{1000 / point.ms:>12,.1f}{gain:>12}")
    return lines


def plot_decoders(times: DecoderTimes, path: Path) -> None:
    """Write the curves, log-log, one line per decoder."""
    figure = new_figure(7, 5)
    axes = time_axes(figure, clock="processor")
    for name in dict.fromkeys(point.decoder for point in times.points):
        points = [(point.words, point.ms) for point in times.points if point.decoder == name]
        label = with_exponent(name, times.exponents.get(name))
        axes.plot(*zip(*points, strict=True), marker="o", markersize=4, label=label)
    finish_time_axes(axes, title="growth")
    save_figure(figure, path)
