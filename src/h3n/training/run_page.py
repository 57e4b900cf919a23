"""The page of a finished run: curves, scores, confusions, the worst sentences drawn, and how it was made.

The page is one file of HTML that needs nothing from outside.
"""

from __future__ import annotations

import base64
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path

from h3n.draw import svg
from h3n.parser import Parser
from h3n.training.checkpoint import write_file
from h3n.training.curves import read_metrics
from h3n.training.data import Example
from h3n.training.evaluation import Parsed, compare, parse_examples, quality
from h3n.training.record import read_record
from h3n.trees import Sentence, spans_of

PAGE = "report.html"
CONFUSIONS = 12  # rows of a table
WORST, LONGEST = 6, 30  # sentences drawn, and their most words: longer ones cannot be taken in
WIDTH = 1000  # pixels of a picture
STYLE = """
body { margin: 2rem auto; max-width: 70rem; font: 16px/1.5 system-ui, sans-serif; }
table { border-collapse: collapse; } td, th { padding: .1rem .8rem .1rem 0; text-align: left; }
figure { margin: 0 0 2rem; overflow-x: auto; } img { max-width: 100%; } code { overflow-wrap: anywhere; }
""".strip()
Row = tuple[str, ...]


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
