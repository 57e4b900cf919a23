"""A comparison on the page of results: a table for each dev set, and a plot."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from h3n.evaluate.significance import Interval
from h3n.experiments.counts import COMPARED, intervals
from h3n.experiments.experiment import Comparison, Row
from h3n.measure.plots import COLOURS, MARKERS, new_figure, save_figure
from h3n.measure.tables import NONE, markdown_heading, markdown_row, markdown_table

RATE = "sentences/s"
HEADS = "heads right"
NEVER_BEST = (RATE, "HAcc", HEADS)  # not a matter of decoding, or not of accuracy
Records = Sequence[Mapping[str, Any]]
# What a row came to on a set, one entry for each seed.
Measured = list[dict[str, Any]]


def measured_rows(experiment: Comparison, records: Records) -> Iterator[tuple[str, str, Row, Measured]]:
    """Yield set, variant, row and what was measured, in the experiment's order; rows that were not run are left out."""
    for dev in experiment.dev:
        for variant in experiment.variants or ("",):
            for row in experiment.rows:
                entries = [
                    entry
                    for record in sorted(records, key=lambda record: int(record["seed"]))
                    if (record["run"], record["variant"]) == (row.run, variant)
                    for entry in record["rows"]
                    if (entry["label"], entry["set"]) == (row.label, dev.name)
                ]
                if entries:
                    yield dev.name, variant, row, entries


def row_tables(experiment: Comparison, records: Records) -> Iterator[str]:
    """Yield a table for each dev set, the paper's rows below ours."""
    rows = list(measured_rows(experiment, records))
    for dev in experiment.dev:
        ours = [(variant, row, entries) for name, variant, row, entries in rows if name == dev.name]
        if not ours:
            continue
        counts = {entries[0]["sentences"] for _, _, entries in ours}
        size = f" ({counts.pop():,} sentences)" if len(counts) == 1 else ""
        yield from (f"### {dev.name}{size}", "")
        yield from _table(experiment, dev.name, ours)
        yield from ("", *_differences(ours))


def _table(experiment: Comparison, dev: str, ours: Sequence[tuple[str, Row, Measured]]) -> Iterator[str]:
    weighed = any(entries[0]["weight"] is not None for _, _, entries in ours)
    has_heads = any(values_of(entries, HEADS) for _, _, entries in ours)
    columns = [name for name in experiment.columns if name != HEADS or has_heads]
    first = ["treebank"] if experiment.variants else []
    last = ["weight of spans"] if weighed else []
    yield from markdown_heading([*first, "parser and decoder", *columns, *last], left=len(first) + 1)
    for variant in dict.fromkeys(variant for variant, _, _ in ours):
        group = [(row, entries) for other, row, entries in ours if other == variant]
        best = {name: max(_means(group, name), default=0.0) for name in columns}
        for row, entries in group:
            cells = [_cell(entries, name, best[name]) for name in columns]
            weights = [_weights(entries)] if weighed else []
            yield markdown_row([*([variant] if first else []), row.label, *cells, *weights])
        for paper in experiment.paper:
            if paper.variant in ("", variant) and (not paper.set or paper.set == dev):
                cells = [_paper_cell(paper.figures, name) for name in columns]
                label = f"*paper, {paper.on}: {paper.label}*"
                yield markdown_row([*([variant] if first else []), label, *cells, *([""] if weighed else [])])


def _differences(ours: Sequence[tuple[str, Row, Measured]]) -> Iterator[str]:
    """Yield a table of the differences that rows ask for, with intervals, as far as sentences were counted."""
    rows = []
    for variant, row, entries in ours:
        others = [found for name, other, found in ours if (name, other.label) == (variant, row.against)]
        found = intervals(entries, others[0]) if others else {}
        if found:
            cells = [_interval(found[name]) if name in found else NONE for name in COMPARED]
            rows.append([f"{variant}: {row.label}" if variant else row.label, row.against, *cells])
    if rows:
        yield "Differences, with 95 % intervals of a paired bootstrap over sentences:"
        yield from ("", markdown_table(["", "less", *COMPARED], rows, left=2), "")


def _interval(found: Interval) -> str:
    return f"{found.difference:+.2f} [{found.low:+.2f}, {found.high:+.2f}]"


def _paper_cell(figures: Mapping[str, float], name: str) -> str:
    if name not in figures:
        return NONE
    return f"*{figures[name]:.{1 if name == RATE else 2}f}*"


def values_of(entries: Measured, name: str) -> list[float]:
    """Return one figure for each seed, as far as it was measured."""
    return [float(entry["figures"][name]) for entry in entries if name in entry["figures"]]


def _means(group: Sequence[tuple[Row, Measured]], name: str) -> list[float]:
    return [sum(values) / len(values) for _, entries in group if (values := values_of(entries, name))]


def _cell(entries: Measured, name: str, best: float) -> str:
    values = values_of(entries, name)
    if not values:
        return NONE
    mean = sum(values) / len(values)
    places = 0 if name == RATE and mean >= 10 else 2
    shown = f"{mean:.{places}f}"
    if shown == f"{best:.{places}f}" and name not in NEVER_BEST:
        shown = f"**{shown}**"
    each = f" ({', '.join(f'{value:.{places}f}' for value in values)})" if len(values) > 1 else ""
    return shown + each


def _weights(entries: Measured) -> str:
    weights = [entry["weight"] for entry in entries if entry["weight"] is not None]
    if not weights:
        return ""
    tuned = ", tuned" if entries[0]["weight_tuned"] else ""
    return ", ".join(f"{weight:g}" for weight in dict.fromkeys(weights)) + tuned


def plot_rows(experiment: Comparison, records: Records, path: Path) -> None:
    """Draw a panel for each figure that the experiment names: a dot for every seed of every row, a colour for a set."""
    rows = list(measured_rows(experiment, records))
    labels = list(dict.fromkeys(_label(variant, row.label) for _, variant, row, _ in rows))
    names = [name for name in experiment.plots if any(values_of(entries, name) for *_, entries in rows)]
    figure = new_figure(4.5 + 3 * max(len(names), 1), 1.2 + 0.3 * len(labels))
    panels = figure.subplots(1, max(len(names), 1), sharey=True, squeeze=False)[0]
    sets = [dev.name for dev in experiment.dev]
    for panel, name in zip(panels, names, strict=False):
        for dev, colour, marker in zip(sets, COLOURS, MARKERS, strict=False):
            points = [
                (value, labels.index(_label(variant, row.label)))
                for set_name, variant, row, entries in rows
                if set_name == dev
                for value in values_of(entries, name)
            ]
            panel.plot([x for x, _ in points], [y for _, y in points], marker, color=colour, label=dev)
        panel.set(title=name, xlabel="percent")
        panel.grid(visible=True, axis="x", alpha=0.3)
    panels[0].set_yticks(range(len(labels)), labels)
    panels[0].invert_yaxis()
    if len(sets) > 1:
        figure.legend(*panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=len(sets))
    save_figure(figure, path, dpi=120)


def _label(variant: str, row: str) -> str:
    return f"{variant}: {row}" if variant else row
