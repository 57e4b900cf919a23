"""The figures of a trained parser: every row of a table on every dev set, the network run once for all rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from h3n.experiments.counts import pack_counts
from h3n.experiments.experiment import DevSet, Row
from h3n.measure.accuracy import WEIGHING, Gold, ScoredGold, decode_gold, read_gold, right_heads, score_gold
from h3n.parser import Parser
from h3n.training.comparison import uses_heads
from h3n.training.evaluation import WEIGHTS, Parsed, quality


def measure_rows(
    parser: Parser,
    rows: Sequence[Row],
    sets: Sequence[DevSet],
    *,
    scoring: str = "collins",
    said: Callable[[str], None] = lambda _: None,
) -> list[dict[str, Any]]:
    """Return the figures of each row on each set.

    A row without a weight gets the one with which the dev sets come out best on average (LF1 + LAS, or whichever there
    is). ``said`` gets a line on each row.
    """
    golds = [
        read_gold(parser, one.files, name=one.name, limit=one.limit, scoring=scoring, test=one.test) for one in sets
    ]
    scored = [(gold, score_gold(parser, gold)) for gold in golds]
    entries: list[dict[str, Any]] = []
    for row in rows:
        measured = _measure_row(parser, row, scored)
        said(_line(measured))
        entries += measured
    return entries


def _head_score(row: Row) -> str | None:
    """Return the row's head score, or None where its decoder asks for none."""
    return row.head_score if any(map(uses_heads, row.decoder.split("+"))) else None


def _decode(parser: Parser, row: Row, batches: ScoredGold, weight: float) -> tuple[list[Parsed], float]:
    return decode_gold(parser, batches, decoder=row.decoder, weight=weight, head_score=_head_score(row))


def _measure_row(parser: Parser, row: Row, scored: Sequence[tuple[Gold, ScoredGold]]) -> list[dict[str, Any]]:
    weight = row.weight if row.weight is not None else _best_weight(parser, row, scored)
    return [_entry(parser, row, gold, batches, weight) for gold, batches in scored]


def _best_weight(parser: Parser, row: Row, scored: Sequence[tuple[Gold, ScoredGold]]) -> float:
    dev = [(gold, batches) for gold, batches in scored if not gold.test]
    if row.decoder not in WEIGHING or not dev:
        return 0.5

    def value(weight: float) -> float:
        parses = [(gold, _decode(parser, row, batches, weight)[0]) for gold, batches in dev]
        return sum(quality(gold.compare(parsed)) for gold, parsed in parses)

    return max(WEIGHTS, key=value)


def _entry(parser: Parser, row: Row, gold: Gold, batches: ScoredGold, weight: float) -> dict[str, Any]:
    parsed, seconds = _decode(parser, row, batches, weight)
    figures = {("HAcc" if name == "heads" else name): value for name, value in gold.compare(parsed).items()}
    head_score = _head_score(row)
    if head_score is not None and (heads := right_heads(parser, gold, batches, head_score=head_score)).words:
        figures["heads right"] = heads.accuracy
    figures["sentences/s"] = len(gold.examples) / max(batches.seconds + seconds, 1e-9)
    weighs = row.decoder in WEIGHING
    return {
        "label": row.label,
        "set": gold.name,
        "decoder": row.decoder,
        "head_score": head_score or "",
        "weight": weight if weighs else None,
        "weight_tuned": row.weight is None and weighs,
        "sentences": len(gold.examples),
        "words": gold.words,
        "scoring_seconds": round(batches.seconds, 3),
        "decoding_seconds": round(seconds, 3),
        "figures": {name: round(value, 4) for name, value in figures.items()},
        "counts": pack_counts(gold.count(parsed)),
    }


def _line(entries: Sequence[dict[str, Any]]) -> str:
    shown = "; ".join(
        f"{one['set']}: " + " ".join(f"{n} {v:.2f}" for n, v in one["figures"].items() if n in ("LF1", "UAS", "LAS"))
        for one in entries
    )
    return f"{entries[0]['label']}: {shown}"
