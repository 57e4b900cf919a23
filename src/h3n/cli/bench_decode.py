"""How fast the decoders are: measuring, fitting, tables and the curve.

Everything is measured in one run through `decode_batch`, parses made into Python objects included, in processor time of
this process, and each figure is the least of several. So ratios hold on a busy machine, absolute times nearly so.
"""

from __future__ import annotations

import hashlib
import math
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from h3n.cli import bench_peers
from h3n.decode import DECODERS, Parse, Scores, decode_batch, native
from h3n.errors import UnknownName, UsageError

PUBLISHED = "hpsg_n5"
COST = {**{name: decoder.cost for name, decoder in DECODERS.items()}, PUBLISHED: "n^5"}
PUBLISHED_LIMIT = 130  # words; a sentence twice as long takes it 32 times as long
BATCH = 32  # sentences in a call, fewer where they are long
# The paper's table: up to 100, 200 and 300 words, with the mean length it gives for each.
BANDS = [("0-100", 26.6, 100), ("100-200", 127.0, 200), ("200-300", 232.6, 300)]
THREADED = 64  # sentences in the batch for two threads

Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Report:
    """``rows`` and ``exponents`` are what ``--json`` prints; the rest is for people."""

    rows: list[Row]
    exponents: dict[str, float]
    notes: list[str]
    bands: list[tuple[str, str, float, bool]]  # band, decoder, milliseconds per sentence, whether extrapolated
    two_threads: dict[str, float]  # decoder -> how much faster than one
    machine: float  # the same for work that shares nothing: what the machine has to give at the moment


def random_scores(words: int, rng: np.random.Generator) -> Scores:
    """Return a sentence of normally distributed scores."""
    full = rng.normal(size=(words + 1, words + 1)).astype(np.float32)
    return Scores(
        full=full,
        open=np.maximum(full, 0),
        arc=rng.normal(size=(words, words)).astype(np.float32),
        root=rng.normal(size=words).astype(np.float32),
        head=rng.normal(size=words).astype(np.float32),
        label=np.ones((words + 1, words + 1), dtype=np.int32),
    )


def least_time(run: Callable[[], object], seconds: float, clock: Callable[[], float] = time.process_time) -> float:
    """Return the shortest time of several runs, in milliseconds."""
    best, spent, runs = math.inf, 0.0, 0
    while spent < seconds or runs < 2:
        started = clock()
        run()
        took = clock() - started
        best, spent, runs = min(best, took), spent + took, runs + 1
    return best * 1000


def run_decoder(name: str, batch: Sequence[Scores], threads: int = 1) -> list[Parse]:
    """Return the parses; the published decoder is in no table, since nobody should use it."""
    if name != PUBLISHED:
        return decode_batch(batch, name, threads=threads)
    return [parse for parse in native.decode(batch, [name] * len(batch), threads=threads) if parse is not None]


def measure_all(
    names: Sequence[str], *, lengths: Sequence[int], seconds: float, seed: int, peers: bool, bands: bool
) -> Report:
    """Return everything `h3n bench decode` shows."""
    known = [*DECODERS, PUBLISHED]
    for name in names:
        if name not in known:
            raise UnknownName("decoder", name, known)
    rows: list[Row] = []
    notes = [f"instruction set: {native.targets()[0]}; one thread; decoding alone, random scores"]
    rivals = bench_peers.available(notes) if peers else []
    for words in lengths:
        rng = np.random.default_rng([seed, words])
        batch = [random_scores(words, rng) for _ in range(_batch_size(words, peers))]
        for name in names:
            if name == PUBLISHED and words > PUBLISHED_LIMIT:
                continue
            part = batch[:1] if name == PUBLISHED else batch
            took = least_time(partial(run_decoder, name, part), seconds)
            rows.append({"decoder": name, "words": words, "ms": took / len(part)})
        rows.extend(
            {"decoder": rival.name, "words": words, "ms": rival.measure(batch, seconds) / len(batch)}
            for rival in rivals
        )
    exponents = {name: fit_exponent(rows, name) for name in dict.fromkeys(row["decoder"] for row in rows)}
    exponents = {name: value for name, value in exponents.items() if not math.isnan(value)}
    return Report(
        rows,
        exponents,
        notes,
        measure_bands(names, seconds=seconds, seed=seed) if bands else [],
        measure_threads(names, seconds=seconds, seed=seed) if bands else {},
        measure_machine(seconds) if bands else math.nan,
    )


def _batch_size(words: int, peers: bool) -> int:
    if peers and words <= 127:
        return BATCH  # as the rivals are used
    return max(2, min(BATCH, 2_000_000 // words**3))


def fit_exponent(rows: Sequence[Row], name: str) -> float:
    """Return the slope of log time over log length by least squares, from 20 words on; NaN for fewer than two."""
    own = [
        (math.log(row["words"]), math.log(row["ms"])) for row in rows if row["decoder"] == name and row["words"] >= 20
    ]
    if len(own) < 2:
        return math.nan
    x, y = np.array(own).T
    return float(np.polyfit(x, y, 1)[0])


def measure_bands(names: Sequence[str], *, seconds: float, seed: int) -> list[tuple[str, str, float, bool]]:
    """Return milliseconds per sentence in the three length bands of the paper.

    The published decoder is not run on the longest band, where it takes many seconds a sentence: its time there is
    extrapolated from the middle one by the fifth power of the length.
    """
    rng = np.random.default_rng(seed)
    found: list[tuple[str, str, float, bool]] = []
    for (band, mean, top), count in zip(BANDS, (200, 12, 6), strict=True):
        lengths = _draw_lengths(rng, mean, top, count)
        batch = [random_scores(int(words), rng) for words in lengths]
        for name in names:
            if name == PUBLISHED and top > 200:
                middle = next((ms for label, other, ms, _ in found if other == name and label == BANDS[1][0]), math.nan)
                found.append((band, name, middle * (mean / BANDS[1][1]) ** 5, True))
                continue
            part = batch[:2] if name == PUBLISHED and top > 100 else batch
            took = least_time(partial(run_decoder, name, part), seconds / 3)
            found.append((band, name, took / len(part), False))
    return found


def _draw_lengths(rng: np.random.Generator, mean: float, top: int, count: int) -> list[int]:
    """Return lengths that fill the band below ``top`` with about the given mean: many short ones, few long."""
    bottom = top - 100
    drawn = bottom + rng.gamma(2.0, (mean - bottom) / 2.0, count)
    return [int(words) for words in np.clip(np.round(drawn), bottom + 1, top)]


def measure_threads(names: Sequence[str], *, seconds: float, seed: int) -> dict[str, float]:
    """Return how much faster two threads are than one, by the clock on the wall, on a batch of middling sentences."""
    rng = np.random.default_rng(seed)
    batch = [random_scores(int(words), rng) for words in rng.integers(40, 120, THREADED)]
    found = {}
    for name in names:
        if name == PUBLISHED:
            continue
        one, two = (
            least_time(
                partial(native.decode, batch, [name] * len(batch), threads=threads),
                seconds,
                time.perf_counter,
            )
            for threads in (1, 2)
        )
        found[name] = one / two
    return found


def measure_machine(seconds: float) -> float:
    """Return how much faster two threads are than one at something that shares nothing and leaves the interpreter
    alone. Below 2 the processors have other work, and no decoder can do better."""
    parts = [bytes(4_000_000)] * 2
    with ThreadPoolExecutor(2) as pool:
        one = least_time(lambda: [_digest(part) for part in parts], seconds, time.perf_counter)
        two = least_time(lambda: list(pool.map(_digest, parts)), seconds, time.perf_counter)
    return one / two


def _digest(part: bytes) -> bytes:
    return hashlib.sha256(part).digest()


def describe(report: Report) -> str:
    """Return the report as text."""
    names = list(dict.fromkeys(row["decoder"] for row in report.rows))
    lengths = list(dict.fromkeys(row["words"] for row in report.rows))
    ms = {(row["decoder"], row["words"]): row["ms"] for row in report.rows}
    widest = max(map(len, names), default=7)
    lines = [*report.notes, "", "milliseconds per sentence"]
    lines.append("words".ljust(widest) + "".join(f"{words:>10}" for words in lengths) + "    grows as")
    for name in names:
        cells = "".join(f"{ms[name, words]:>10.4f}" if (name, words) in ms else f"{'-':>10}" for words in lengths)
        grows = f"n^{report.exponents[name]:.2f}" if name in report.exponents else "-"
        lines.append(f"{name:<{widest}}{cells}    {grows}")
    lines += ["", "ratios", *_ratios(ms, names, lengths)]
    if report.two_threads:
        lines += ["", f"two threads against one, {THREADED} sentences of 40 to 119 words"]
        lines += [f"{name:<{widest}}{ratio:>10.2f} x" for name, ratio in report.two_threads.items()]
        lines.append(f"work that shares nothing: {report.machine:.2f} x, which is what the machine has to give now")
    if report.bands:
        lines += ["", *_band_table(report.bands)]
    return "\n".join(lines)


def _ratios(ms: dict[tuple[str, int], float], names: Sequence[str], lengths: Sequence[int]) -> list[str]:
    """Return a line for each pair worth comparing: slow over fast, at every length."""
    pairs = [("h3n", "cky"), ("hpsg", "h3n"), (PUBLISHED, "hpsg"), (PUBLISHED, "h3n")]
    pairs += [(name, bench_peers.OURS[name]) for name in names if name in bench_peers.OURS]
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


def _band_table(bands: Sequence[tuple[str, str, float, bool]]) -> list[str]:
    """Return the paper's table of decoding speed, for decoding alone."""
    lines = ["1,000 sentences (~ extrapolated)", "words     decoder   cost      time   sentences/s   speed-up"]
    published = {band: ms for band, name, ms, _ in bands if name == PUBLISHED}
    for band, name, ms, guessed in bands:
        mark = "~" if guessed else ""
        gain = published[band] / ms if band in published and name in ("hpsg", "h3n") else math.nan
        speed_up = "-" if math.isnan(gain) else f"{'~' if band == BANDS[2][0] else ''}{gain:,.0f} x"
        seconds = f"{mark}{ms:,.3f} s" if ms < 100 else f"{mark}{ms:,.0f} s"
        lines.append(f"{band:<10}{name:<10}{COST[name]:<6}{seconds:>12}{1000 / ms:>12,.1f}{speed_up:>12}")
    return lines


def draw(report: Report, path: Path) -> None:
    """Write the curves of the report, log-log, one line per decoder."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise UsageError("--plot needs matplotlib: pip install 'h3n[plot]'") from None
    figure = Figure(figsize=(7, 5), layout="constrained")
    axes = figure.subplots()
    for name in dict.fromkeys(row["decoder"] for row in report.rows):
        points = [(row["words"], row["ms"]) for row in report.rows if row["decoder"] == name]
        grows = f", $n^{{{report.exponents[name]:.1f}}}$" if name in report.exponents else ""
        axes.loglog(*zip(*points, strict=True), marker="o", markersize=4, label=name + grows)
    axes.set_xlabel("words")
    axes.set_ylabel("milliseconds per sentence")
    axes.grid(visible=True, which="both", alpha=0.25)
    axes.legend()
    try:
        figure.savefig(path)
    except (OSError, ValueError) as error:
        raise UsageError(f"--plot {path}: {error}") from None
