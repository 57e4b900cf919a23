"""What came out of a run: `summary.json` for programs, `summary.html` to look at."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from html import escape
from itertools import accumulate
from typing import Any

from h3n.corpus.counts import LENGTHS, Counts
from h3n.corpus.manifest import require_manifest
from h3n.corpus.storage import Folder
from h3n.corpus.work import Done
from h3n.draw.plots import bar_plot

NAME, PAGE = "summary.json", "summary.html"
ROWS = 30  # bars of a plot
INTERVALS = 20  # of the time that a run took
STYLE = """
body { margin: 2rem auto; max-width: 60rem; padding: 0 1rem; font: 16px/1.5 system-ui, sans-serif; color: #111827; }
table { border-collapse: collapse; } td, th { padding: .1rem .8rem .1rem 0; text-align: left; }
section { overflow-x: auto; }
""".strip()


def summarize(folder: Folder, records: Sequence[Done]) -> dict[str, Any]:
    """Return the totals of all shards, the rate over time, and what the run was asked for."""
    counts = Counts()
    for record in records:
        counts.add_table(record.counts)
    manifest = require_manifest(folder)
    processor = sum(record.processor for record in records)
    return {
        "model": manifest["model"],
        "options": manifest["options"],
        "inputs": len(manifest["inputs"]),
        "shards": len(records),
        "errors": sum(record.errors for record in records),
        "processor_seconds": round(processor, 1),
        "sentences_per_processor_second": round(counts.sentences / processor, 1) if processor else 0.0,
        "rate": _rates(records),
        **counts.as_table(),
    }


def _rates(records: Sequence[Done]) -> list[tuple[float, float]]:
    """Return seconds of work and sentences per second, in equal stretches of time; pauses between runs are left out."""
    stretches = _joined(sorted((record.began, record.ended) for record in records))
    total = sum(end - start for start, end in stretches)
    if not total:
        return []
    passed = list(accumulate((end - start for start, end in stretches), initial=0.0))
    width = total / INTERVALS
    sentences = [0.0] * INTERVALS
    for record in records:
        at = next(
            before + record.ended - start
            for (start, end), before in zip(stretches, passed, strict=False)
            if start <= record.ended <= end
        )
        length = record.ended - record.began
        first = max(0, int((at - length) / width))
        last = min(INTERVALS - 1, int(at / width))
        for interval in range(first, last + 1):
            inside = min(at, (interval + 1) * width) - max(at - length, interval * width)
            sentences[interval] += record.counts["sentences"] * max(0.0, inside) / length if length else 0.0
    return [(round(interval * width, 4), round(count / width, 2)) for interval, count in enumerate(sentences)]


def _joined(stretches: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    """Return stretches of time, sorted, with those that overlap made one."""
    joined: list[tuple[float, float]] = []
    for start, end in stretches:
        if joined and start <= joined[-1][1]:
            joined[-1] = (joined[-1][0], max(end, joined[-1][1]))
        else:
            joined.append((start, end))
    return joined


def write_summary(folder: Folder, records: Sequence[Done]) -> None:
    """Write the summary as JSON and as a page."""
    summary = summarize(folder, records)
    folder.write(NAME, (json.dumps(summary, ensure_ascii=False, indent=2) + "\n").encode())
    folder.write(PAGE, _page(summary).encode())


def _page(summary: Mapping[str, Any]) -> str:
    shown = ("documents", "sentences", "words", "unparsed", "left_out", "errors", "shards", "inputs")
    figures = "".join(f"<tr><th>{name.replace('_', ' ')}</th><td>{summary[name]:,}</td></tr>" for name in shown)
    speed = summary["sentences_per_processor_second"]
    sections = [
        ("Sentence lengths (words)", _lengths(summary["lengths"])),
        (
            "Rate over time (sentences per second)",
            [(f"from {_at(s)}", rate, f"{rate:,.1f}") for s, rate in summary["rate"]],
        ),
        ("Labels", _most(summary["labels"])),
        ("Relations", _most(summary["relations"])),
        ("Tags", _most(summary["tags"])),
        ("Confidence of arcs", _bins(summary["arc_confidences"])),
        ("Confidence of phrases", _bins(summary["span_confidences"])),
    ]
    plots = "".join(f"<h2>{escape(name)}</h2><section>{bar_plot(bars)}</section>\n" for name, bars in sections if bars)
    title = f"A corpus parsed with {escape(summary['model']['name'])}"
    return (
        f'<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<title>{title}</title>\n<style>\n{STYLE}\n'
        f"</style>\n</head>\n<body>\n<h1>{title}</h1>\n<table>{figures}</table>\n"
        f"<p>{speed:,.1f} sentences in a second of one processor.</p>\n{plots}</body>\n</html>\n"
    )


def _at(seconds: float) -> str:
    return f"{seconds:,.0f} s" if seconds >= 10 else f"{seconds:.1f} s"


def _lengths(counts: Mapping[str, int]) -> list[tuple[str, float, str]]:
    names = [f"{limit:04d}" for limit in LENGTHS]
    starts = (1, *(limit + 1 for limit in LENGTHS))
    bars = [(f"{start} to {int(name)}", name) for start, name in zip(starts, names, strict=False)]
    bars.append((f"more than {LENGTHS[-1]}", "more"))
    return [(shown, counts[name], f"{counts[name]:,}") for shown, name in bars if name in counts]


def _most(counts: Mapping[str, int]) -> list[tuple[str, float, str]]:
    ordered = sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))[:ROWS]
    return [(name, count, f"{count:,}") for name, count in ordered]


def _bins(counts: Mapping[str, int]) -> list[tuple[str, float, str]]:
    return [(f"{name} and more", count, f"{count:,}") for name, count in sorted(counts.items())]
