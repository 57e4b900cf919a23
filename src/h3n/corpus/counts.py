"""What is counted while a corpus is parsed: shard by shard, added up at the end."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from h3n.parser import Result

BINS = 20  # of confidences
LENGTHS = (5, 10, 15, 20, 25, 30, 40, 50, 75, 100, 200, 500, 1_000)  # words of a sentence: up to each of these


@dataclass(slots=True)
class Counts:
    """Totals of sentences that were parsed; labels are single ones, not unary chains.

    ``left_out`` are those under the confidence that was asked for, which count nowhere else.
    """

    documents: int = 0
    sentences: int = 0
    words: int = 0
    unparsed: int = 0
    left_out: int = 0
    lengths: Counter[str] = field(default_factory=Counter)
    labels: Counter[str] = field(default_factory=Counter)
    relations: Counter[str] = field(default_factory=Counter)
    tags: Counter[str] = field(default_factory=Counter)
    arc_confidences: Counter[str] = field(default_factory=Counter)
    span_confidences: Counter[str] = field(default_factory=Counter)

    def add(self, result: Result, *, first: bool) -> None:
        """Count a sentence; ``first`` says that a document begins with it."""
        self.documents += first
        self.sentences += 1
        self.words += len(result)
        self.unparsed += result.note is not None
        self.lengths[_length(len(result))] += 1
        for span in result.spans:
            self.labels.update(span.labels)
            self.span_confidences[_bin(span.confidence)] += 1
        self.relations.update(result.relations)
        self.tags.update(result.upos or result.tags)
        self.arc_confidences.update(_bin(arc.confidence) for arc in result.arcs)

    def as_table(self) -> dict[str, Any]:
        numbers = {name: getattr(self, name) for name in NUMBERS}
        return numbers | {name: dict(sorted(getattr(self, name).items())) for name in COUNTERS}

    def add_table(self, table: dict[str, Any]) -> None:
        """Add what `as_table` gave."""
        for name in NUMBERS:
            setattr(self, name, getattr(self, name) + table.get(name, 0))
        for name in COUNTERS:
            getattr(self, name).update(table[name])


NUMBERS = ("documents", "sentences", "words", "unparsed", "left_out")
COUNTERS = ("lengths", "labels", "relations", "tags", "arc_confidences", "span_confidences")


def _length(words: int) -> str:
    return next((f"{limit:04d}" for limit in LENGTHS if words <= limit), "more")


def _bin(confidence: float) -> str:
    """Return the lower end of the bin that a probability falls into."""
    return f"{min(BINS - 1, int(confidence * BINS)) / BINS:.2f}"
