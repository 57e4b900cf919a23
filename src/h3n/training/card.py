"""A draft of a model's card: what a reader has to know of it, as far as the run knows."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import h3n
from h3n.config import Treebank, expand
from h3n.errors import UsageError
from h3n.model.model import Model
from h3n.models import CARD, UNKNOWN
from h3n.training.curves import read_metrics
from h3n.training.record import Record, read_record

SCORES = ("LP", "LR", "LF1", "UAS", "LAS", "heads", "tags", "upos")


def write_card(run: Path, model: Model, *, command: str) -> None:
    """Write the draft into the folder of the finished model."""
    (run / "model" / CARD).write_text("\n".join(_lines(run, model, command=command)) + "\n", encoding="utf-8")


def _lines(run: Path, model: Model, *, command: str) -> Iterator[str]:
    record = read_record(run)
    data = model.config.data
    manifests = [_manifest(treebank) for treebank in data.train]
    languages = sorted({manifest["language"] for manifest in manifests if "language" in manifest})
    weights = sum(parameter.numel() for parameter in model.network.parameters())
    stored = sum(file.stat().st_size for file in (run / "model").rglob("*") if file.is_file())
    yield f"# {run.name}\n\nA draft written by `h3n train`; read it through before you pass the model on.\n"
    yield f"- Language: {', '.join(languages) or UNKNOWN}"
    yield f"- Licence: {UNKNOWN}"
    yield f"- Size: {weights / 1e6:.1f} million weights, {stored / 1e6:.1f} MB"
    yield f"- Labels: {len(model.vocabulary.labels) - 1}; relations: {len(model.vocabulary.relations)}"
    yield "\n## Data\n\n| treebank | sentences seen in an epoch | licence |\n|---|---|---|"
    for treebank, manifest in zip(data.train, manifests, strict=True):
        names = treebank.title or manifest.get("title") or ", ".join(Path(file).name for file in treebank.files)
        licence = treebank.licence or manifest.get("licence", UNKNOWN)
        yield f"| {_cell(names)} | {treebank.weight:.0%} | {_cell(licence)} |"
    yield from _scores(run)
    yield from _origin(record, model, command)


def _cell(text: Any) -> str:
    return " ".join(str(text).split()).replace("|", "\\|")


def _scores(run: Path) -> Iterator[str]:
    rows = [row for row in read_metrics(run) if "LF1" in row or "LAS" in row]
    if not rows:
        return
    best = max(rows, key=lambda row: row.get("LF1", 0.0) + row.get("LAS", 0.0))
    names = [name for name in SCORES if name in best]
    yield f"\n## Scores on dev, in percent (epoch {best['epoch']}, before the weight of spans was tuned)\n"
    yield "| " + " | ".join(names) + " |\n|" + "---|" * len(names)
    yield "| " + " | ".join(f"{best[name]:.2f}" for name in names) + " |"


def _origin(record: Record | None, model: Model, command: str) -> Iterator[str]:
    config = model.config
    encoder = Path(config.encoder.name).name if config.encoder.kind == "pretrained" else "learned here"
    yield f"\n## How it was made\n\nh3n {h3n.__version__}, encoder: {encoder}, {config.training.epochs} epochs,"
    yield f"batches of {config.batches.words} words, seed {config.training.seed}.\n\n```\n{command}\n```"
    if record is not None:
        yield "\n| file | SHA-256 |\n|---|---|"
        for file, value in (record.train.files | record.dev.files).items():
            yield f"| {_cell(Path(file).name)} | {value} |"


def _manifest(treebank: Treebank) -> dict[str, Any]:
    """Return what `h3n prepare` wrote of a treebank beside its files, if it did."""
    try:
        table: Any = json.loads((expand(treebank.files[0]).parent / "manifest.json").read_text(encoding="utf-8"))
    except (OSError, ValueError, IndexError, UsageError):
        return {}
    return table if isinstance(table, dict) else {}
