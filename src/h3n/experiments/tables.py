"""The tables of the page of results, as lines of Markdown."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from h3n.experiments.bands_table import PAPER, PUBLISHED
from h3n.experiments.experiment import Experiment, Row

SHORT = 12  # digits of a checksum or commit
NONE = "–"
RATE = "sentences/s"
NEVER_BEST = (RATE, "HAcc")  # no matter of decoding, or of accuracy
Records = Sequence[Mapping[str, Any]]
# What a row came to on a set, one entry for each seed.
Measured = list[dict[str, Any]]


def measured_rows(experiment: Experiment, records: Records) -> Iterator[tuple[str, str, Row, Measured]]:
    """Yield set, variant, row and what was measured, in the experiment's order; rows that were not run are left out."""
    for dev in experiment.dev:
        for variant in experiment.variants or ("",):
            for row in experiment.rows:
                found = [
                    entry
                    for record in sorted(records, key=lambda record: int(record["seed"]))
                    if (record["run"], record["variant"]) == (row.run, variant)
                    for entry in record["rows"]
                    if (entry["label"], entry["set"]) == (row.label, dev.name)
                ]
                if found:
                    yield dev.name, variant, row, found


def row_tables(experiment: Experiment, records: Records) -> Iterator[str]:
    """Yield a table for each dev set, the paper's rows below ours."""
    rows = list(measured_rows(experiment, records))
    for dev in experiment.dev:
        ours = [(variant, row, found) for name, variant, row, found in rows if name == dev.name]
        if not ours:
            continue
        counts = {found[0]["sentences"] for _, _, found in ours}
        size = f" ({counts.pop():,} sentences)" if len(counts) == 1 else ""
        yield from (f"### {dev.name}{size}", "")
        yield from _table(experiment, dev.name, ours)
        yield ""


def _table(experiment: Experiment, dev: str, ours: Sequence[tuple[str, Row, Measured]]) -> Iterator[str]:
    weighed = any(found[0]["weight"] is not None for _, _, found in ours)
    first = ["treebank"] if experiment.variants else []
    yield _line([*first, "parser and decoder", *experiment.columns, *(["weight of spans"] if weighed else [])])
    yield _line(["---"] * (len(first) + 1) + ["---:"] * (len(experiment.columns) + weighed))
    for variant in dict.fromkeys(variant for variant, _, _ in ours):
        group = [(row, found) for other, row, found in ours if other == variant]
        best = {name: max(_means(group, name), default=0.0) for name in experiment.columns}
        for row, found in group:
            cells = [_cell(found, name, best[name]) for name in experiment.columns]
            yield _line([*([variant] if first else []), row.label, *cells, *([_weights(found)] if weighed else [])])
        for paper in experiment.paper:
            if paper.variant in ("", variant) and (not paper.set or paper.set == dev):
                cells = [_paper_cell(paper.figures, name) for name in experiment.columns]
                label = f"*paper, {paper.on}: {paper.label}*"
                yield _line([*([variant] if first else []), label, *cells, *([""] if weighed else [])])


def _paper_cell(figures: Mapping[str, float], name: str) -> str:
    if name not in figures:
        return NONE
    return f"*{figures[name]:.{1 if name == RATE else 2}f}*"


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def values_of(found: Measured, name: str) -> list[float]:
    """Return one figure for each seed, as far as it was measured."""
    return [float(entry["figures"][name]) for entry in found if name in entry["figures"]]


def _means(group: Sequence[tuple[Row, Measured]], name: str) -> list[float]:
    return [sum(values) / len(values) for _, found in group if (values := values_of(found, name))]


def _cell(found: Measured, name: str, best: float) -> str:
    values = values_of(found, name)
    if not values:
        return NONE
    mean = sum(values) / len(values)
    places = 0 if name == RATE and mean >= 10 else 2
    shown = f"{mean:.{places}f}"
    if shown == f"{best:.{places}f}" and name not in NEVER_BEST:
        shown = f"**{shown}**"
    each = f" ({', '.join(f'{value:.{places}f}' for value in values)})" if len(values) > 1 else ""
    return shown + each


def _weights(found: Measured) -> str:
    weights = [entry["weight"] for entry in found if entry["weight"] is not None]
    if not weights:
        return ""
    tuned = ", tuned" if found[0]["weight_tuned"] else ""
    return ", ".join(f"{weight:g}" for weight in dict.fromkeys(weights)) + tuned


def band_tables(record: Mapping[str, Any]) -> Iterator[str]:
    """Yield the table of speed in each band, the paper's figures in the last columns."""
    heads = ["decoder", "complexity", "total", "sentences/s", "decoding", "speed-up in total", "in decoding"]
    heads += ["*paper: total*", "*sentences/s*", "*speed-up*"]
    for band in record["measured"]["bands"]:
        size = f"{band['sentences']:,} sentences of {band['mean_words']:.1f} words"
        yield from (f"### {band['name']} words ({size})", "", _line(heads))
        yield _line(["---"] * 2 + ["---:"] * (len(heads) - 2))
        guessed = any(row["extrapolated"] for row in band["rows"])
        for row in band["rows"]:
            yield _line([*_speed_cells(row, guessed=guessed), *_paper_cells(band["name"], row["decoder"])])
        yield from ("", *_band_notes(band))
    grows = record["measured"]["exponents"].items()
    shown = ", ".join(f"{name} n^{value:.2f}" for name, value in grows if value is not None)
    if shown:
        yield from (f"Fitted growth of decoding above 100 words: {shown}.", "")


def _speed_cells(row: Mapping[str, Any], *, guessed: bool) -> list[str]:
    mark = "~" if row["extrapolated"] else ""
    base = [f"`{row['decoder']}`", row["complexity"], f"{mark}{row['total_seconds']:,.1f} s"]
    base += [f"{mark}{row['sentences_per_second']:,.3g}", f"{mark}{row['decoding_seconds']:,.2f} s"]
    if row["decoder"] == PUBLISHED:
        return [*base, NONE, NONE]
    gains = (row["total_speed_up"], row["decoding_speed_up"])
    tilde = "~" if guessed else ""
    return [*base, *(NONE if gain is None else f"{tilde}{gain:,.{2 if gain < 10 else 0}f}x" for gain in gains)]


def _paper_cells(band: str, decoder: str) -> list[str]:
    paper = PAPER.get(band, {}).get(decoder)
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


def provenance(records: Records) -> Iterator[str]:
    """Yield where the figures come from: commands, commits, minutes, data."""
    yield from ("| made by | commit | trained |", "| --- | --- | --- |")
    for record in records:
        yield _line([f"`{record['command']}`", _commit(record["code"]), _training(record)])
    data = {name: checksum for record in records for name, checksum in record["data"].items()}
    yield from ("", "Data (SHA-256): " + ", ".join(f"`{name}` {data[name][:SHORT]}" for name in sorted(data)) + ".")
    machines = dict.fromkeys(_machine(record["machine"]) for record in records)
    yield from (f"Measured on: {'; '.join(machines)}.", "")
    if any(record["code"].get("changed_files") for record in records):
        yield from ("\\* with changes that were not committed.", "")


def _commit(code: Mapping[str, Any]) -> str:
    commit = code.get("commit")
    return f"{commit[:SHORT]}{'*' if code.get('changed_files') else ''}" if commit else f"version {code['version']}"


def _training(record: Mapping[str, Any]) -> str:
    if "trained" not in record:
        return f"model `{record['model']}`, weights {record['weights'][:SHORT]}"
    trained, options = record["trained"], record["options"]
    parts = []
    if "minutes" in trained:
        processor = f"{trained['cpu_minutes']:.1f} min of processor time"
        parts.append(f"{trained['epochs']} epochs in {trained['minutes']:.1f} min, {processor}")
    if "code" not in trained:
        parts.append("by `h3n train`")
    elif _commit(trained["code"]) != _commit(record["code"]):
        parts.append(f"at {_commit(trained['code'])}")
    limits = [treebank["limit"] for treebank in options["data"]["train"] if treebank["limit"]]
    parts += [f"the first {limit:,} sentences of a treebank" for limit in limits]
    return ", ".join(parts)


def _machine(machine: Mapping[str, Any]) -> str:
    gpu = f", {machine['gpu']}" if "gpu" in machine else ""
    return f"{machine['processor']}, {machine['cores']} cores, {machine['threads']} thread(s){gpu}"
