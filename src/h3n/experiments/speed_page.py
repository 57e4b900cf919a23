"""The measurement of speed on the page of results: a table for each band of lengths, and the curves."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from h3n.experiments.experiment import SpeedTest
from h3n.measure.bands import FILES, FIT_FROM, plot_bands
from h3n.measure.paper import PUBLISHED, paper_row
from h3n.measure.provenance import ran_text
from h3n.measure.tables import NONE, growth_text, markdown_heading, markdown_row, times_text

Records = Sequence[Mapping[str, Any]]


def files_of(experiment: SpeedTest) -> Iterator[str]:
    """Yield the patterns of all files that have to be there."""
    yield from (f"{experiment.folder}/{file}" for file in FILES.values())


def plot(_: SpeedTest, records: Records, path: Path) -> None:
    """Draw the curves."""
    plot_bands(records[0]["measured"], path)


def band_tables(_: SpeedTest, records: Records) -> Iterator[str]:
    """Yield the table of speed in each band, the paper's figures in the last columns."""
    measured = records[0]["measured"]
    heads = ["decoder", "complexity", "total", "sentences/s", "decoding", "speed-up in total", "in decoding"]
    heads += ["*paper: total*", "*sentences/s*", "*speed-up*"]
    for band in measured["bands"]:
        size = f"{band['sentences']:,} sentences of {band['mean_words']:.1f} words"
        yield from (f"### {band['name']} words ({size})", "", *markdown_heading(heads, left=2))
        guessed = any(row["extrapolated"] for row in band["rows"])
        for row in band["rows"]:
            yield markdown_row([*_speed_cells(row, guessed=guessed), *_paper_cells(band["name"], row["decoder"])])
        yield from ("", *_band_notes(band))
    if grows := growth_text(measured["exponents"].items()):
        yield from (f"Fitted growth of decoding above {FIT_FROM} words: {grows}.", "")
    if "ran" in measured:
        yield from (f"Measured in {ran_text(measured['ran'])}.", "")


def _speed_cells(row: Mapping[str, Any], *, guessed: bool) -> list[str]:
    mark = "~" if row["extrapolated"] else ""
    base = [f"`{row['decoder']}`", row["complexity"], f"{mark}{row['total_seconds']:,.1f} s"]
    base += [f"{mark}{row['sentences_per_second']:,.3g}", f"{mark}{row['decoding_seconds']:,.2f} s"]
    if row["decoder"] == PUBLISHED:
        return [*base, NONE, NONE]
    gains = (row["total_speed_up"], row["decoding_speed_up"])
    mark = "~" if guessed else ""
    return [*base, *(times_text(gain, mark=mark, unit="x", none=NONE) for gain in gains)]


def _paper_cells(band: str, decoder: str) -> list[str]:
    paper = paper_row(band, decoder)
    if paper is None:
        return [NONE] * 3
    gain = NONE if paper.speed_up is None else f"*{paper.speed_up:g}x*"
    return [f"*{paper.seconds:,.1f} s*", f"*{paper.sentences_per_second:g}*", gain]


def _band_notes(band: Mapping[str, Any]) -> Iterator[str]:
    for row in band["rows"]:
        if row["extrapolated"]:
            error = row["relative_error"]
            spread = "" if error is None else f"; standard error {100 * error:.1f} %"
            count = row["measured_sentences"]
            yield f"~ extrapolated from {count} sentences by the fifth power of their length{spread}."
            yield ""
    same = band["same_score"]
    if same["compared"]:
        verdict = f"{same['different']} differ" if same["different"] else "always the same score"
        yield from (f"`hpsg` and `{PUBLISHED}` compared on {same['compared']:,} sentences: {verdict}.", "")
