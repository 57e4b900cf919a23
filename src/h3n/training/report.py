"""What a finished run leaves for readers: curves, a draft of the model's card, and a page.

The page has scores, confusions, the worst sentences drawn, and how the model was made. It is one file of HTML that
needs nothing from outside.
"""

from __future__ import annotations

import base64
import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any

import h3n
from h3n.config import Treebank, expand
from h3n.draw import svg
from h3n.errors import UsageError
from h3n.model.model import Model
from h3n.models import CARD, UNKNOWN
from h3n.parser import Parser
from h3n.training.checkpoint import write_file
from h3n.training.data import Example
from h3n.training.evaluation import Parsed, compare, parse_examples, quality
from h3n.training.events import Listener, Note
from h3n.training.record import Record, draw_curves, read_metrics, read_record
from h3n.trees import Sentence, spans_of

PAGE = "report.html"
SCORES = ("LP", "LR", "LF1", "UAS", "LAS", "heads", "tags", "upos")
CONFUSIONS = 12  # rows of a table
WORST, LONGEST = 6, 30  # sentences drawn, and their most words: longer ones cannot be taken in
WIDTH = 1000  # pixels of a picture
STYLE = """
body { margin: 2rem auto; max-width: 70rem; font: 16px/1.5 system-ui, sans-serif; }
table { border-collapse: collapse; } td, th { padding: .1rem .8rem .1rem 0; text-align: left; }
figure { margin: 0 0 2rem; overflow-x: auto; } img { max-width: 100%; } code { overflow-wrap: anywhere; }
""".strip()
Row = tuple[str, ...]


def write_reports(run: Path, model: Model, dev: Sequence[Example], *, command: str, report: Listener) -> None:
    """Draw the curves, write card and page of a finished run, and report where they are."""
    try:
        report(Note(text=f"curves are in {draw_curves(run)}"))
    except UsageError as error:
        report(Note(text=f"no curves: {error}"))
    write_card(run, model, command=command)
    report(Note(text=f"a report is in {write_run_page(run, Parser(model.engine), dev, command=command)}"))
    report(Note(text=f"the parser is in {run / 'model'}"))


@dataclass(frozen=True, slots=True)
class Judged:
    """A dev sentence with its parse and how good that is."""

    gold: Sentence
    parse: Sentence
    quality: float


def write_run_page(run: Path, parser: Parser, dev: Sequence[Example], *, command: str) -> Path:
    """Write the page of a run into its folder and return where it is."""
    lines = _page(run, dev, parse_examples(parser, dev), command=command)
    write_file(run / PAGE, "\n".join(lines) + "\n")
    return run / PAGE


def _page(run: Path, dev: Sequence[Example], parsed: Sequence[Parsed], *, command: str) -> Iterator[str]:
    title = escape(run.name or str(run))
    yield f'<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<title>{title}</title>'
    yield f"<style>\n{STYLE}\n</style>\n</head>\n<body>\n<h1>{title}</h1>"
    if dev:
        yield "<h2>Scores on dev</h2>"
        scores = compare(dev, parsed)
        yield from _table(("score", "percent"), [(name, f"{value:.2f}") for name, value in scores.items()])
    curves = run / "curves.png"
    if curves.is_file():
        data = base64.b64encode(curves.read_bytes()).decode()
        yield f'<h2>Curves</h2>\n<img alt="loss and scores over updates" src="data:image/png;base64,{data}">'
    yield from _checks(run)
    pairs = [(example.sentence, found.sentence) for example, found in zip(dev, parsed, strict=True)]
    for name, counts in confusions(pairs).items():
        if counts:
            yield f"<h2>Confused {name}</h2>"
            rows = [(gold, found, str(count)) for (gold, found), count in counts.most_common(CONFUSIONS)]
            yield from _table(("gold", "parsed as", "times"), rows)
    yield from _worst(dev, parsed)
    yield from _origin(run, command)
    yield "</body>\n</html>"


def _table(head: Row, rows: Sequence[Row]) -> Iterator[str]:
    yield "<table>\n<tr>" + "".join(f"<th>{escape(cell)}</th>" for cell in head) + "</tr>"
    for row in rows:
        yield "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>"
    yield "</table>"


def _checks(run: Path) -> Iterator[str]:
    names = ("epoch", "step", "loss", "LF1", "UAS", "LAS", "heads", "tags")
    rows = read_metrics(run)
    shown = [name for name in names if any(name in row for row in rows)]
    yield "<h2>Checks</h2>"
    cells = [
        tuple(f"{row[name]:.2f}" if isinstance(row.get(name), float) else str(row.get(name, "")) for name in shown)
        for row in rows
    ]
    yield from _table(tuple(shown), cells)


def confusions(pairs: Sequence[tuple[Sentence, Sentence]]) -> dict[str, Counter[tuple[str, str]]]:
    """Return what was taken for what: relations of right arcs, labels of right spans, tags."""
    relations: Counter[tuple[str, str]] = Counter()
    labels: Counter[tuple[str, str]] = Counter()
    tags: Counter[tuple[str, str]] = Counter()
    for gold, found in pairs:
        if gold.dependencies is not None and found.dependencies is not None:
            arcs = zip(gold.dependencies.governors, found.dependencies.governors, strict=True)
            names = zip(gold.dependencies.relations, found.dependencies.relations, strict=True)
            relations.update(pair for pair, (one, other) in zip(names, arcs, strict=True) if one == other)
        if gold.tree is not None and found.tree is not None:
            here = {(span.start, span.end): span.label for span in spans_of(found.tree)}
            wanted = ((span, here.get((span.start, span.end))) for span in spans_of(gold.tree))
            labels.update((span.label, label) for span, label in wanted if label is not None)
        if gold.tags is not None and found.tags is not None:
            tags.update(zip(gold.tags, found.tags, strict=True))
    named = {"relations": relations, "labels": labels, "tags": tags}
    return {
        name: Counter({pair: count for pair, count in counts.items() if pair[0] != pair[1]})
        for name, counts in named.items()
    }


def _worst(dev: Sequence[Example], parsed: Sequence[Parsed]) -> Iterator[str]:
    judged = [
        Judged(example.sentence, found.sentence, quality(compare([example], [found])))
        for example, found in zip(dev, parsed, strict=True)
        if 1 < len(example.sentence) <= LONGEST
    ]
    judged.sort(key=lambda each: each.quality)
    if judged:
        yield "<h2>Worst sentences</h2>"
    for each in judged[:WORST]:
        place = f" ({each.gold.place})" if each.gold.place is not None else ""
        for kind, sentence in (("gold", each.gold), ("parsed", each.parse)):
            yield f'<figure>\n<figcaption dir="auto">{kind}: {escape(" ".join(each.gold.words) + place)}</figcaption>'
            yield f"{svg(sentence, theme='light', fit=WIDTH).rstrip()}\n</figure>"


def _origin(run: Path, command: str) -> Iterator[str]:
    yield f"<h2>How it was made</h2>\n<p><code>{escape(command)}</code></p>"
    record = read_record(run)
    if record is not None:
        parts = (("train", record.train), ("dev", record.dev))
        rows = [(name, str(part.sentences), part.checksum) for name, part in parts]
        yield from _table(("part", "sentences", "SHA-256 of what was read"), rows)
        files = [(file, value) for _, part in parts for file, value in part.files.items()]
        yield from _table(("file", "SHA-256"), files)


def write_card(run: Path, model: Model, *, command: str) -> None:
    """Write the draft into the folder of the finished model."""
    (run / "model" / CARD).write_text("\n".join(_card_lines(run, model, command=command)) + "\n", encoding="utf-8")


def _card_lines(run: Path, model: Model, *, command: str) -> Iterator[str]:
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
    yield from _dev_scores(run)
    yield from _card_origin(record, model, command)


def _cell(text: Any) -> str:
    return " ".join(str(text).split()).replace("|", "\\|")


def _dev_scores(run: Path) -> Iterator[str]:
    rows = [row for row in read_metrics(run) if "LF1" in row or "LAS" in row]
    if not rows:
        return
    best = max(rows, key=lambda row: row.get("LF1", 0.0) + row.get("LAS", 0.0))
    names = [name for name in SCORES if name in best]
    yield f"\n## Scores on dev, in percent (epoch {best['epoch']}, before the weight of spans was tuned)\n"
    yield "| " + " | ".join(names) + " |\n|" + "---|" * len(names)
    yield "| " + " | ".join(f"{best[name]:.2f}" for name in names) + " |"


def _card_origin(record: Record | None, model: Model, command: str) -> Iterator[str]:
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
