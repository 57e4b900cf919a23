"""How fast the decoders are, on random scores.

Everything is measured in one run through `decode_batch`, parses made into Python objects included, in processor time of
this process, and each figure is the least of several. So ratios hold on a busy machine, absolute times nearly so.
"""

from __future__ import annotations

import hashlib
import math
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np

from h3n.decode import DECODERS, Parse, Scores, decode_batch, native
from h3n.errors import UnknownName
from h3n.measure import peers as rivals
from h3n.measure.paper import COMPLEXITY, PUBLISHED, paper_bands
from h3n.measure.peers import OURS
from h3n.measure.plots import finish_time_axes, new_figure, save_figure, time_axes, with_exponent
from h3n.measure.provenance import processor_name
from h3n.measure.samples import random_scores
from h3n.measure.timing import fit_exponent, least_within

PUBLISHED_LIMIT = 130  # words; a sentence twice as long takes it 32 times as long
BATCH = 32  # sentences in a call, fewer where they are long
IN_BAND = {"0-100": 200, "100-200": 12, "200-300": 6}  # sentences drawn for each band of the paper
THREADED = 64  # sentences in the batch for two threads
FIT_ABOVE = 19  # words: below, a call's fixed costs are most of the time


@dataclass(frozen=True, slots=True)
class Point:
    """Milliseconds per sentence of so many words."""

    decoder: str
    words: int
    ms: float


@dataclass(frozen=True, slots=True)
class BandPoint:
    """Milliseconds per sentence in a band of lengths, measured or extrapolated."""

    band: str
    decoder: str
    ms: float
    extrapolated: bool = False


@dataclass(frozen=True, slots=True)
class DecoderTimes:
    """``points`` and ``exponents`` are what ``--json`` prints; the rest is for people."""

    points: list[Point]
    exponents: dict[str, float]
    notes: list[str]
    bands: list[BandPoint]
    two_threads: dict[str, float]  # decoder -> how much faster than one
    machine: float  # the same for work that shares nothing: what the machine has to give at the moment

    def table(self) -> dict[tuple[str, int], float]:
        """Return milliseconds by decoder and number of words."""
        return {(point.decoder, point.words): point.ms for point in self.points}


def run_decoder(name: str, batch: Sequence[Scores], threads: int = 1) -> list[Parse]:
    """Return the parses; the published decoder is in no table, since nobody should use it."""
    if name != PUBLISHED:
        return decode_batch(batch, name, threads=threads)
    return [parse for parse in native.decode(batch, [name] * len(batch), threads=threads) if parse is not None]


def measure_decoders(
    names: Sequence[str], *, lengths: Sequence[int], seconds: float, seed: int, peers: bool, bands: bool
) -> DecoderTimes:
    """Return everything `h3n bench decode` shows."""
    known = [*DECODERS, PUBLISHED]
    for name in names:
        if name not in known:
            raise UnknownName("decoder", name, known)
    notes = [f"{processor_name()}; instruction set: {native.targets()[0]}; one thread; decoding alone, random scores"]
    others = rivals.available(notes) if peers else []
    points: list[Point] = []
    for words in lengths:
        points += _measure_length(words, names, others, seconds=seconds, seed=seed)
    fitted = {
        name: fit_exponent([(p.words, p.ms) for p in points if p.decoder == name], above=FIT_ABOVE)
        for name in dict.fromkeys(point.decoder for point in points)
    }
    return DecoderTimes(
        points,
        {name: value for name, value in fitted.items() if value is not None},
        notes,
        measure_drawn_bands(names, seconds=seconds, seed=seed) if bands else [],
        measure_threads(names, seconds=seconds, seed=seed) if bands else {},
        measure_machine(seconds) if bands else math.nan,
    )


def _measure_length(
    words: int, names: Sequence[str], others: Sequence[rivals.Rival], *, seconds: float, seed: int
) -> list[Point]:
    rng = np.random.default_rng([seed, words])
    batch = [random_scores(words, rng) for _ in range(_batch_size(words, peers=bool(others)))]
    points = []
    for name in names:
        if name == PUBLISHED and words > PUBLISHED_LIMIT:
            continue
        part = batch[:1] if name == PUBLISHED else batch
        taken = least_within(partial(run_decoder, name, part), seconds=seconds)
        points.append(Point(name, words, 1000 * taken / len(part)))
    return points + [Point(one.name, words, 1000 * one.measure(batch, seconds) / len(batch)) for one in others]


def _batch_size(words: int, *, peers: bool) -> int:
    if peers and words <= 127:
        return BATCH  # as the rivals are used
    return max(2, min(BATCH, 2_000_000 // words**3))


def measure_drawn_bands(names: Sequence[str], *, seconds: float, seed: int) -> list[BandPoint]:
    """Return milliseconds per sentence in the three length bands of the paper, lengths drawn at random.

    The published decoder is not run on the longest band, where it takes many seconds a sentence: its time there is
    extrapolated from the middle one by the fifth power of the length.
    """
    rng = np.random.default_rng(seed)
    points: list[BandPoint] = []
    for band, paper in paper_bands().items():
        lengths = draw_lengths(rng, paper.words, paper.top, IN_BAND[band])
        batch = [random_scores(words, rng) for words in lengths]
        for name in names:
            if name == PUBLISHED and paper.top > 200:
                points.append(BandPoint(band, name, _extrapolated(points, paper.words), extrapolated=True))
                continue
            part = batch[:2] if name == PUBLISHED and paper.top > 100 else batch
            taken = least_within(partial(run_decoder, name, part), seconds=seconds / 3)
            points.append(BandPoint(band, name, 1000 * taken / len(part)))
    return points


def _extrapolated(points: Sequence[BandPoint], words: float) -> float:
    """Return the published decoder's time at this mean length, from the longest band that was measured."""
    last = [point for point in points if point.decoder == PUBLISHED][-1]
    return last.ms * (words / paper_bands()[last.band].words) ** 5


def draw_lengths(rng: np.random.Generator, mean: float, top: int, count: int) -> list[int]:
    """Return lengths that fill the band below ``top`` with about the given mean: many short ones, few long."""
    bottom = top - 100
    drawn = bottom + rng.gamma(2.0, (mean - bottom) / 2.0, count)
    return [int(words) for words in np.clip(np.round(drawn), bottom + 1, top)]


def measure_threads(names: Sequence[str], *, seconds: float, seed: int) -> dict[str, float]:
    """Return how much faster two threads are than one, by the clock on the wall, on a batch of middling sentences."""
    rng = np.random.default_rng(seed)
    batch = [random_scores(int(words), rng) for words in rng.integers(40, 120, THREADED)]
    ratios = {}
    for name in names:
        if name == PUBLISHED:
            continue
        one, two = (
            least_within(
                partial(native.decode, batch, [name] * len(batch), threads=threads),
                seconds=seconds,
                clock=time.perf_counter,
            )
            for threads in (1, 2)
        )
        ratios[name] = one / two
    return ratios


def measure_machine(seconds: float) -> float:
    """Return how much faster two threads are than one at something that shares nothing.

    The work leaves the interpreter alone. Below 2 the processors have other work, and no decoder can do better.
    """
    parts = [bytes(4_000_000)] * 2
    with ThreadPoolExecutor(2) as pool:
        one = least_within(lambda: [_digest(part) for part in parts], seconds=seconds, clock=time.perf_counter)
        two = least_within(lambda: list(pool.map(_digest, parts)), seconds=seconds, clock=time.perf_counter)
    return one / two


def _digest(part: bytes) -> bytes:
    return hashlib.sha256(part).digest()


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
