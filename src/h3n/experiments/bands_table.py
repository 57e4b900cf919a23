"""From times to the paper's speed table: extrapolation, rows beside the paper's, curves, and the table as text."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from h3n.decode import DECODERS

PUBLISHED = "hpsg_n5"
NETWORK = "network"
COMPLEXITY = {**{name: decoder.cost for name, decoder in DECODERS.items()}, PUBLISHED: "n^5"}
FIT_FROM = 100  # words; shorter sentences are mostly fixed costs
STEP = 1.12  # from one point of a curve to the next, in length


@dataclass(frozen=True, slots=True)
class Paper:
    """A line of the paper's table, as printed: seconds for 1,000 sentences, and how many times as fast as the n^5."""

    seconds: float
    sentences_per_second: float
    speed_up: float | None = None


# Table "Decoding time with the same 1,000 Wikipedia sentences in varying length conditions": one V100, batches of 50.
PAPER: dict[str, dict[str, Paper]] = {
    "0-100": {
        "cky": Paper(12.5, 80.0),
        "mst": Paper(14.2, 70.4),
        PUBLISHED: Paper(23.7, 42.2),
        "h3n": Paper(16.8, 59.5, 1.41),
    },
    "100-200": {
        "cky": Paper(60.5, 16.5),
        "mst": Paper(62.3, 16.1),
        PUBLISHED: Paper(2014.2, 0.5),
        "h3n": Paper(113.5, 8.8, 17.7),
    },
    "200-300": {
        "cky": Paper(134.6, 7.4),
        "mst": Paper(136.5, 7.3),
        PUBLISHED: Paper(179882.3, 0.006),
        "h3n": Paper(281.5, 3.6, 639.0),
    },
}
PAPER_WORDS = {"0-100": 26.6, "100-200": 127.0, "200-300": 232.6}  # in a sentence, on average


@dataclass(frozen=True, slots=True)
class Timing:
    """What some sentences of like length took together; ``words`` is their mean length."""

    words: float
    sentences: int
    seconds: float


def rows_of(timings: Mapping[str, Sequence[Timing]], *, lengths: Sequence[int], scoring: float) -> list[dict[str, Any]]:
    """Return the rows of a band of these lengths; ``scoring`` is the network's time, a part of every row's total."""
    found = {name: extrapolate(some, lengths) for name, some in timings.items() if some}
    published = found.get(PUBLISHED, (math.nan, 0.0))[0]
    rows = []
    for name, (seconds, error) in found.items():
        measured = sum(timing.sentences for timing in timings[name])
        rows.append(
            {
                "decoder": name,
                "complexity": COMPLEXITY[name],
                "total_seconds": scoring + seconds,
                "sentences_per_second": len(lengths) / (scoring + seconds),
                "decoding_seconds": seconds,
                "total_speed_up": _number((scoring + published) / (scoring + seconds)),
                "decoding_speed_up": _number(published / seconds),
                "measured_sentences": measured,
                "extrapolated": measured < len(lengths),
                "relative_error": _number(error),
            }
        )
    return rows


def extrapolate(timings: Sequence[Timing], lengths: Sequence[int]) -> tuple[float, float]:
    """Return the seconds that sentences of these lengths take, and the relative standard error.

    If all were measured, the sum. Otherwise the time of those measured, single sentences of the published decoder, in
    proportion to the fifth power of the length; NaN is the error if only one was.
    """
    seconds = np.array([timing.seconds for timing in timings])
    measured = sum(timing.sentences for timing in timings)
    if measured >= len(lengths):
        return float(seconds.sum()), 0.0
    powers = np.array([timing.words**5 for timing in timings])
    rate = seconds.sum() / powers.sum()
    total = rate * float((np.array(lengths, dtype=np.float64) ** 5).sum())
    if measured < 2:
        return float(total), math.nan
    # Of a ratio estimator, for a sample out of a finite number.
    spread = (1 - measured / len(lengths)) * ((seconds - rate * powers) ** 2).sum() / (measured - 1)
    return float(total), float(math.sqrt(spread / measured) / seconds.mean())


def curve_of(timings: Sequence[Timing]) -> list[dict[str, float]]:
    """Return milliseconds per sentence over length, one point for sentences of about one length.

    One point ends at `FIT_FROM` words, which is also where `auto` goes over to the faster decoder.
    """
    groups: dict[int, list[Timing]] = defaultdict(list)
    for timing in timings:
        groups[math.ceil(math.log(timing.words / FIT_FROM, STEP))].append(timing)
    points = []
    for _, group in sorted(groups.items()):
        sentences = sum(timing.sentences for timing in group)
        words = sum(timing.words * timing.sentences for timing in group) / sentences
        milliseconds = 1000 * sum(timing.seconds for timing in group) / sentences
        points.append({"words": words, "sentences": sentences, "milliseconds": milliseconds})
    return points


def fit_exponent(points: Sequence[Mapping[str, float]]) -> float | None:
    """Return the slope of log time over log length above `FIT_FROM` words; None for fewer than two points."""
    long = [(point["words"], point["milliseconds"]) for point in points if point["words"] > FIT_FROM]
    if len(long) < 2:
        return None
    x, y = np.log(np.array(long)).T
    return float(np.polyfit(x, y, 1)[0])


def describe_bands(found: Mapping[str, Any]) -> str:
    """Return the table as text, the paper's figures to the right."""
    lines: list[str] = []
    for band in found["bands"]:
        lines += [*_band_lines(band), ""]
    grows = ", ".join(f"{name} n^{value:.2f}" for name, value in found["exponents"].items() if value is not None)
    if grows:
        lines.append(f"decoding of more than {FIT_FROM} words grows as: {grows}")
    lines.append(
        f"{found['clock']} time, one thread, {found['instructions']}; total = network + decoding; decoders: fastest of "
        f"{found['repeat']} runs, {PUBLISHED}: one run"
    )
    if found["head_score"] == "tree":
        lines.append("h3n and auto: with the time of the dependency tree that this model takes its head scores from")
    lines.append("paper: totals of 1,000 sentences on a V100, batches of 50")
    return "\n".join(lines)


def _band_lines(band: Mapping[str, Any]) -> Iterator[str]:
    name, rows, same = band["name"], band["rows"], band["same_score"]
    paper = f" (paper: 1,000 of {PAPER_WORDS[name]})" if name in PAPER_WORDS else ""
    yield (
        f"{name} words: {band['sentences']:,} sentences of {band['mean_words']:.1f} words{paper}; "
        f"network {_seconds(band['scoring_seconds'])}"
    )
    yield f"{'':<41}{'speed-up over n^5':>39}"
    heading = f"{'':<16}{'total':>12}{'sent./s':>11}{'decoding':>12}{'in total':>13}{'in decoding':>13}"
    yield f"{heading}   | {'paper':>11}{'sent./s':>10}{'speed-up':>10}"
    guessed = any(row["extrapolated"] for row in rows)
    for row in rows:
        yield _row_line(row, PAPER.get(name, {}).get(row["decoder"]), guessed=guessed)
    for row in rows:
        if row["extrapolated"]:
            error = "" if row["relative_error"] is None else f", standard error {100 * row['relative_error']:.1f} %"
            yield f"~ from {row['measured_sentences']} sentences by the fifth power of the length{error}"
    if same["compared"]:
        verdict = f"{same['different']} DIFFER" if same["different"] else "the same score"
        yield f"hpsg and {PUBLISHED} on {same['compared']:,} sentences: {verdict} (by {same['largest']:.2g} at most)"


def _row_line(row: Mapping[str, Any], paper: Paper | None, *, guessed: bool) -> str:
    mark = "~" if row["extrapolated"] else ""
    gains = ["-", "-"]
    if row["decoder"] != PUBLISHED:
        gains = [_times(row[key], "~" if guessed else "") for key in ("total_speed_up", "decoding_speed_up")]
    beside = ""
    if paper is not None:
        gain = "-" if paper.speed_up is None else f"{paper.speed_up:g} x"
        beside = f"   | {paper.seconds:>9,.1f} s{paper.sentences_per_second:>10g}{gain:>10}"
    return (
        f"{row['decoder']:<10}{row['complexity']:<6}{mark + _seconds(row['total_seconds']):>12}"
        f"{mark + _rate(row['sentences_per_second']):>11}{mark + _seconds(row['decoding_seconds']):>12}"
        f"{gains[0]:>13}{gains[1]:>13}{beside}"
    )


def _seconds(value: float) -> str:
    if value < 1:
        return f"{1000 * value:.{1 if value < 0.1 else 0}f} ms"
    return f"{value:,.{2 if value < 10 else 1 if value < 1000 else 0}f} s"


def _rate(value: float) -> str:
    return f"{value:,.{1 if value >= 1 else 3}f}"


def _times(value: float | None, mark: str) -> str:
    return "-" if value is None else f"{mark}{value:,.{2 if value < 10 else 0}f} x"


def _number(value: float) -> float | None:
    return None if math.isnan(value) else value
