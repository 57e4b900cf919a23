"""A run's record: ``metrics.jsonl``, one line per check, and the curves drawn from it."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

from h3n.errors import InputError, UsageError
from h3n.training.checkpoint import write_file

METRICS = "metrics.jsonl"


def read_metrics(run: Path) -> list[dict[str, Any]]:
    """Return the record of a run so far; a last line cut short by an interruption is left out."""
    path = run / METRICS
    if not path.exists():
        return []
    rows: list[dict[str, Any]] = []
    lines = path.read_text(encoding="utf-8").splitlines()
    for number, line in enumerate(lines, start=1):
        try:
            rows.append(json.loads(line))
        except ValueError:
            if number < len(lines):
                raise InputError(f"{path}:{number}: not a line of JSON") from None
    return rows


def cut_metrics(run: Path, step: int) -> None:
    """Remove what was recorded after the checkpoint that a run goes on from."""
    rows = [row for row in read_metrics(run) if row["step"] <= step]
    write_file(run / METRICS, "".join(json.dumps(row) + "\n" for row in rows))


def add_metrics(run: Path, row: dict[str, Any]) -> None:
    """Add one line to the record."""
    rows = [*read_metrics(run), row]
    write_file(run / METRICS, "".join(json.dumps(row) + "\n" for row in rows))


def draw_curves(run: Path) -> Path:
    """Draw loss and scores over the run's updates into ``curves.png`` and return where that is."""
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ImportError:
        raise UsageError("drawing curves needs matplotlib: pip install 'h3n[plot]'") from None
    rows = read_metrics(run)
    figure = Figure(figsize=(9, 4), layout="constrained")
    FigureCanvasAgg(figure)
    losses, scores = figure.subplots(1, 2)
    losses.plot([row["step"] for row in rows], [row["loss"] for row in rows], marker=".")
    losses.set(title="training loss", xlabel="updates", yscale="log")
    for name in ("LF1", "UAS", "LAS", "heads", "tags"):
        points = [(row["step"], row[name]) for row in rows if name in row]
        if points:
            scores.plot(*zip(*points, strict=True), marker=".", label=f"{name} {points[-1][1]:.2f}")
    scores.set(title="dev", xlabel="updates", ylabel="percent")
    if any("LF1" in row or "UAS" in row for row in rows):
        scores.legend(loc="lower right")
    path = run / "curves.png"
    picture = io.BytesIO()
    figure.savefig(picture, dpi=120, format="png")
    write_file(path, picture.getvalue())
    return path
