"""Long sentences in rows: a figure cut into parts that are narrow enough, each drawn by itself.

A phrase that is cut stands in every row it reaches into, with dots where it goes on. A word whose governor stands in
another row has no arc but the governor's number beside its relation.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from h3n.draw.figure import Arc, Figure, Phrase
from h3n.draw.widths import ELLIPSIS
from h3n.trees import ROOT, UNARY


def rows_of(figure: Figure, fits: Callable[[Figure], bool]) -> Iterator[Figure]:
    """Yield the figure in as few parts as fit; a word that does not fit stands alone."""
    start = 0
    while start < len(figure):
        end = start + 1
        while end < len(figure) and fits(part_of(figure, start, end + 1)):
            end += 1
        yield part_of(figure, start, end)
        start = end


def part_of(figure: Figure, start: int, end: int) -> Figure:
    """Return the figure of the words from ``start`` up to ``end``."""
    numbers: dict[int, int] = {}  # of the phrases that are kept: old -> new
    phrases: list[Phrase] = []
    for number, phrase in enumerate(figure.phrases):
        if phrase.start < end and phrase.end > start:
            numbers[number] = len(phrases)
            phrases.append(_cut(phrase, start, end, parent=numbers.get(phrase.parent, ROOT)))
    return Figure(
        words=figure.words[start:end],
        tags=figure.tags[start:end],
        phrases=tuple(phrases),
        arcs=tuple(_moved(arc, start, end) for arc in figure.arcs[start:end]),
        first=figure.first + start,
    )


def _cut(phrase: Phrase, start: int, end: int, *, parent: int) -> Phrase:
    before, after = ELLIPSIS * (phrase.start < start), ELLIPSIS * (phrase.end > end)
    label = UNARY.join(f"{before}{label}{after}" for label in phrase.label.split(UNARY))
    head = phrase.head - start if phrase.head is not None and start <= phrase.head < end else None
    limits = max(phrase.start, start) - start, min(phrase.end, end) - start
    return Phrase(*limits, label, head, parent, phrase.confidence)


def _moved(arc: Arc, start: int, end: int) -> Arc:
    if start <= arc.governor < end:
        return replace(arc, governor=arc.governor - start, dependent=arc.dependent - start)
    away = "" if arc.governor == ROOT else f" \u2190 {arc.governor + 1}"
    return replace(arc, governor=ROOT, dependent=arc.dependent - start, relation=arc.relation + away)
