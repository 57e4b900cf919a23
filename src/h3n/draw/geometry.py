"""The parts of a picture with their coordinates, as plain data. Pixels at natural size; y grows downwards."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace


@dataclass(frozen=True, slots=True)
class Metrics:
    """The measures of a picture, in pixels at its natural size."""

    margin: float = 18
    word: float = 15
    label: float = 13
    tag: float = 11
    relation: float = 11
    number: float = 9
    tree_step: float = 27
    arc_step: float = 18
    gap: float = 14  # between columns
    port: float = 7  # between arcs that end at one word
    pad: float = 3  # between a text and a line
    corner: float = 7
    reach: float = 60  # from a dependent to the label of its arc, at most
    arrow: float = 6


METRICS = Metrics()


@dataclass(frozen=True, slots=True)
class Text:
    """A text by the middle of its box."""

    x: float
    y: float
    width: float
    height: float
    text: str

    @property
    def left(self) -> float:
        return self.x - self.width / 2

    @property
    def right(self) -> float:
        return self.x + self.width / 2

    @property
    def top(self) -> float:
        return self.y - self.height / 2

    @property
    def bottom(self) -> float:
        return self.y + self.height / 2


@dataclass(frozen=True, slots=True)
class PhraseLabel:
    """One label of a phrase; a unary chain has several, the outermost first."""

    phrase: int
    box: Text
    helper: bool
    confidence: float | None = None


@dataclass(frozen=True, slots=True)
class Edge:
    """A line of the phrase tree: level from (x, y), then down to (to_x, to_y). ``head``: it leads to the head.

    ``phrase`` or ``word`` is the number of what it leads down to.
    """

    x: float
    y: float
    to_x: float
    to_y: float
    head: bool
    phrase: int | None = None
    word: int | None = None


@dataclass(frozen=True, slots=True)
class Bow:
    """An arc as drawn: down from its governor, level at ``bottom``, up to its dependent. A root arc is one line."""

    level: int
    start: float
    end: float
    top: float
    bottom: float
    label: Text
    root: bool
    confidence: float | None = None


@dataclass(frozen=True, slots=True)
class Layout:
    """All of a picture's parts with their coordinates; y grows downwards."""

    width: float
    height: float
    words: tuple[Text, ...]
    tags: tuple[Text, ...]
    numbers: tuple[Text, ...]
    labels: tuple[PhraseLabel, ...]
    edges: tuple[Edge, ...]
    bows: tuple[Bow, ...]


def mirrored(layout: Layout) -> Layout:
    """Return the picture with left and right exchanged, as scripts that run from right to left need it."""

    def text(t: Text) -> Text:
        return replace(t, x=layout.width - t.x)

    def edge(e: Edge) -> Edge:
        return replace(e, x=layout.width - e.x, to_x=layout.width - e.to_x)

    def bow(b: Bow) -> Bow:
        return replace(b, start=layout.width - b.start, end=layout.width - b.end, label=text(b.label))

    return replace(
        layout,
        words=tuple(map(text, layout.words)),
        tags=tuple(map(text, layout.tags)),
        numbers=tuple(map(text, layout.numbers)),
        labels=tuple(replace(label, box=text(label.box)) for label in layout.labels),
        edges=tuple(map(edge, layout.edges)),
        bows=tuple(map(bow, layout.bows)),
    )


def stacked(rows: Sequence[Layout], *, margin: float) -> Layout:
    """Return one picture with the rows below each other, the margin between two of them used once."""
    done = Layout(margin, margin, (), (), (), (), (), ())
    for row in rows:
        down = _moved(row, done.height - margin)
        done = Layout(
            width=max(done.width, row.width),
            height=done.height - margin + row.height,
            words=done.words + down.words,
            tags=done.tags + down.tags,
            numbers=done.numbers + down.numbers,
            labels=done.labels + down.labels,
            edges=done.edges + down.edges,
            bows=done.bows + down.bows,
        )
    return done


def _moved(layout: Layout, down: float) -> Layout:
    def text(t: Text) -> Text:
        return replace(t, y=t.y + down)

    return replace(
        layout,
        words=tuple(map(text, layout.words)),
        tags=tuple(map(text, layout.tags)),
        numbers=tuple(map(text, layout.numbers)),
        labels=tuple(replace(label, box=text(label.box)) for label in layout.labels),
        edges=tuple(replace(e, y=e.y + down, to_y=e.to_y + down) for e in layout.edges),
        bows=tuple(replace(b, top=b.top + down, bottom=b.bottom + down, label=text(b.label)) for b in layout.bows),
    )
