"""The plots of the page of results."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from h3n.errors import InputError, MissingExtra
from h3n.experiments.experiment import Experiment
from h3n.experiments.tables import measured_rows, values_of

# Okabe and Ito's colours, which the colour-blind can tell apart.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
MARKERS = ("o", "s", "^", "D", "v", "P")


def plot_rows(experiment: Experiment, records: Sequence[Mapping[str, Any]], path: Path) -> None:
    """Draw a panel for each figure that the experiment names: a dot for every seed of every row, a colour for a set."""
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ImportError:
        raise MissingExtra("plots", "plot") from None
    rows = list(measured_rows(experiment, records))
    labels = list(dict.fromkeys(_label(variant, row.label) for _, variant, row, _ in rows))
    names = [name for name in experiment.plots if any(values_of(found, name) for *_, found in rows)]
    figure = Figure(figsize=(4.5 + 3 * max(len(names), 1), 1.2 + 0.3 * len(labels)), layout="constrained")
    FigureCanvasAgg(figure)
    panels = figure.subplots(1, max(len(names), 1), sharey=True, squeeze=False)[0]
    sets = [dev.name for dev in experiment.dev]
    for panel, name in zip(panels, names, strict=False):
        for dev, colour, marker in zip(sets, COLOURS, MARKERS, strict=False):
            points = [
                (value, labels.index(_label(variant, row.label)))
                for set_name, variant, row, found in rows
                if set_name == dev
                for value in values_of(found, name)
            ]
            panel.plot([x for x, _ in points], [y for _, y in points], marker, color=colour, label=dev)
        panel.set(title=name, xlabel="percent")
        panel.grid(visible=True, axis="x", alpha=0.3)
    panels[0].set_yticks(range(len(labels)), labels)
    panels[0].invert_yaxis()
    if len(sets) > 1:
        figure.legend(*panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=len(sets))
    try:
        figure.savefig(path, dpi=120, metadata={"Software": None})
    except OSError as error:
        raise InputError(f"{path}: cannot be written: {error.strerror or error}") from None


def _label(variant: str, row: str) -> str:
    return f"{variant}: {row}" if variant else row
