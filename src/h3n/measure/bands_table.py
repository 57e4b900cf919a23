"""From times to the paper's speed table: rows beside the paper's, and the table as text."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from h3n.measure.fits import Timing, extrapolate
from h3n.measure.paper import COMPLEXITY, PUBLISHED, PaperTime, paper_bands, paper_row
from h3n.measure.provenance import ran_text
from h3n.measure.tables import growth_text, rate_text, seconds_text, times_text

NETWORK = "network"
FIT_FROM = 100  # words; `auto` goes over to the faster decoder there too
PUBLISHED_POWER = 5  # of the length, by which the published decoder's time grows


def rows_of(timings: Mapping[str, Sequence[Timing]], *, lengths: Sequence[int], scoring: float) -> list[dict[str, Any]]:
    """Return the rows of a band of these lengths; ``scoring`` is the network's time, a part of every row's total."""
    times = {name: extrapolate(some, lengths, power=PUBLISHED_POWER) for name, some in timings.items() if some}
    published = times.get(PUBLISHED, (math.nan, 0.0))[0]
    rows = []
    for name, (seconds, error) in times.items():
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


def describe_bands(measured: Mapping[str, Any]) -> str:
    """Return the table as text, the paper's figures to the right."""
    lines: list[str] = []
    for band in measured["bands"]:
        lines += [*_band_lines(band), ""]
    grows = growth_text(measured["exponents"].items())
    if grows:
        lines.append(f"decoding of more than {FIT_FROM} words grows as: {grows}")
    lines.append(f"{ran_text(measured['ran'])}; {measured['clock']} time, one thread")
    lines.append(f"total = network + decoding; decoders: fastest of {measured['repeat']} runs, {PUBLISHED}: one run")
    if measured["head_score"] == "tree":
        lines.append("h3n and auto: with the time of the dependency tree that this model takes its head scores from")
    lines.append("paper: totals of 1,000 sentences on a V100, batches of 50")
    return "\n".join(lines)


def _band_lines(band: Mapping[str, Any]) -> Iterator[str]:
    name, rows, same = band["name"], band["rows"], band["same_score"]
    paper = f" (paper: 1,000 of {paper_bands()[name].words})" if name in paper_bands() else ""
    yield (
        f"{name} words: {band['sentences']:,} sentences of {band['mean_words']:.1f} words{paper}; "
        f"network {seconds_text(band['scoring_seconds'])}"
    )
    yield f"{'':<41}{'speed-up over n^5':>39}"
    heading = f"{'':<16}{'total':>12}{'sent./s':>11}{'decoding':>12}{'in total':>13}{'in decoding':>13}"
    yield f"{heading}   | {'paper':>11}{'sent./s':>10}{'speed-up':>10}"
    guessed = any(row["extrapolated"] for row in rows)
    for row in rows:
        yield _row_line(row, paper_row(name, row["decoder"]), guessed=guessed)
    for row in rows:
        if row["extrapolated"]:
            error = "" if row["relative_error"] is None else f", standard error {100 * row['relative_error']:.1f} %"
            yield f"~ from {row['measured_sentences']} sentences by the fifth power of the length{error}"
    if same["compared"]:
        verdict = f"{same['different']} DIFFER" if same["different"] else "the same score"
        yield f"hpsg and {PUBLISHED} on {same['compared']:,} sentences: {verdict} (by {same['largest']:.2g} at most)"


def _row_line(row: Mapping[str, Any], paper: PaperTime | None, *, guessed: bool) -> str:
    mark = "~" if row["extrapolated"] else ""
    gains = ["-", "-"]
    if row["decoder"] != PUBLISHED:
        gains = [times_text(row[key], mark="~" if guessed else "") for key in ("total_speed_up", "decoding_speed_up")]
    beside = ""
    if paper is not None:
        gain = "-" if paper.speed_up is None else f"{paper.speed_up:g} x"
        beside = f"   | {paper.seconds:>9,.1f} s{paper.sentences_per_second:>10g}{gain:>10}"
    return (
        f"{row['decoder']:<10}{row['complexity']:<6}{mark + seconds_text(row['total_seconds']):>12}"
        f"{mark + rate_text(row['sentences_per_second']):>11}{mark + seconds_text(row['decoding_seconds']):>12}"
        f"{gains[0]:>13}{gains[1]:>13}{beside}"
    )


def _number(value: float) -> float | None:
    return None if math.isnan(value) else value
