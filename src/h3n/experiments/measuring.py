"""The figures of a trained parser: every row of a table on every dev set, the network run once per head score."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from h3n.config import Treebank
from h3n.experiments.experiment import DevSet, Row
from h3n.model.model import Model, Parsed, Scored
from h3n.training.comparison import with_head_score
from h3n.training.data import Example, load_examples
from h3n.training.evaluation import WEIGHTS, bare, compare, quality

# Only these find a span's head by a score; the other decoders come out the same with all head scores.
USE_HEADS = ("h3n", "auto")


@dataclass(frozen=True, slots=True)
class Read:
    """A dev set as far as a parser may see it and as it is compared with."""

    name: str
    examples: list[Example]
    words: int
    scoring: str
    test: bool

    def compare(self, parsed: Sequence[Parsed]) -> dict[str, float]:
        return compare(self.examples, parsed, scoring=self.scoring)


@dataclass(frozen=True, slots=True)
class Batches:
    """The scores of a dev set, and the seconds they took."""

    parts: list[tuple[list[int], Scored]]
    seconds: float


def measure(
    parser: Model,
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
    reads = [_read(parser, one, scoring) for one in sets]
    found: dict[int, list[dict[str, Any]]] = {}
    for head_score in dict.fromkeys(_head_score(row) for row in rows):
        ranked = with_head_score(parser, head_score)
        scored = [_score(ranked, read) for read in reads]
        for place, row in enumerate(rows):
            if _head_score(row) == head_score:
                found[place] = _measure_row(ranked, row, reads, scored)
                said(_line(found[place]))
    return [figures for place in range(len(rows)) for figures in found[place]]


def _head_score(row: Row) -> str:
    return row.head_score if row.decoder in USE_HEADS else "tree"


def _read(parser: Model, one: DevSet, scoring: str) -> Read:
    examples = load_examples([Treebank(files=one.files, limit=one.limit)], data=parser.config.data)
    return Read(one.name, examples, sum(len(example.sentence) for example in examples), scoring, one.test)


def _clock(parser: Model) -> Callable[[], float]:
    """Return processor time, which a busy machine does not spoil; with a GPU, whose time is none, that on the wall."""
    return time.process_time if parser.network.device.type == "cpu" else time.perf_counter


def _score(parser: Model, read: Read) -> Batches:
    clock = _clock(parser)
    started = clock()
    parts = list(parser.score([bare(e.sentence, tags=parser.config.encoder.tags) for e in read.examples]))
    return Batches(parts, clock() - started)


def _measure_row(parser: Model, row: Row, reads: Sequence[Read], scored: Sequence[Batches]) -> list[dict[str, Any]]:
    weight = row.weight if row.weight is not None else _best_weight(parser, row, reads, scored)
    return [_figures(parser, row, read, batches, weight) for read, batches in zip(reads, scored, strict=True)]


def _best_weight(parser: Model, row: Row, reads: Sequence[Read], scored: Sequence[Batches]) -> float:
    dev = [(read, batches) for read, batches in zip(reads, scored, strict=True) if not read.test]
    if not _weighs(row) or not dev:
        return 0.5

    def value(weight: float) -> float:
        return sum(quality(read.compare(_decode(parser, row, batches, weight))) for read, batches in dev)

    return max(WEIGHTS, key=value)


def _weighs(row: Row) -> bool:
    """Return whether a row's decoder looks at spans and arcs together."""
    return row.decoder in (*USE_HEADS, "hpsg")


def _figures(parser: Model, row: Row, read: Read, batches: Batches, weight: float) -> dict[str, Any]:
    clock = _clock(parser)
    started = clock()
    parsed = _decode(parser, row, batches, weight)
    seconds = clock() - started
    scores = read.compare(parsed)
    figures = {("HAcc" if name == "heads" else name): value for name, value in scores.items()}
    figures["sentences/s"] = len(read.examples) / max(batches.seconds + seconds, 1e-9)
    return {
        "label": row.label,
        "set": read.name,
        "decoder": row.decoder,
        "head_score": row.head_score if row.decoder in USE_HEADS else "",
        "weight": weight if _weighs(row) else None,
        "weight_tuned": row.weight is None and _weighs(row),
        "sentences": len(read.examples),
        "words": read.words,
        "scoring_seconds": round(batches.seconds, 3),
        "decoding_seconds": round(seconds, 3),
        "figures": {name: round(value, 4) for name, value in figures.items()},
    }


def _decode(parser: Model, row: Row, batches: Batches, weight: float) -> list[Parsed]:
    made: dict[int, Parsed] = {}
    for numbers, part in batches.parts:
        made.update(zip(numbers, _decode_part(parser, row.decoder, part, weight), strict=True))
    return [made[at] for at in range(len(made))]


def _decode_part(parser: Model, decoder: str, part: Scored, weight: float) -> Iterator[Parsed]:
    """Yield parses by one decoder, or the phrases of the first and the dependencies of the second."""
    first, _, second = decoder.partition("+")
    phrases = parser.decode(part, decoder=first, weight=weight)
    if not second:
        yield from phrases
        return
    arcs = parser.decode(part, decoder=second, weight=weight)
    for one, other in zip(phrases, arcs, strict=True):
        yield replace(one, sentence=replace(one.sentence, dependencies=other.sentence.dependencies))


def _line(figures: Sequence[dict[str, Any]]) -> str:
    shown = "; ".join(
        f"{one['set']}: " + " ".join(f"{n} {v:.2f}" for n, v in one["figures"].items() if n in ("LF1", "UAS", "LAS"))
        for one in figures
    )
    return f"{figures[0]['label']}: {shown}"
