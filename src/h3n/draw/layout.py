"""Where everything stands in a picture: phrases above the words, arcs below, and long sentences in several rows.

A layout is in pixels, from the upper left corner; `lay_out` makes one of a figure.

A phrase that is cut stands in every row it reaches into, with dots where it goes on. A word whose governor stands in
another row has no arc but the governor's number beside its relation.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from h3n.draw.arcs import arc_levels, arc_ports
from h3n.draw.figure import Arc, Figure, Phrase
from h3n.draw.widths import ELLIPSIS, text_width
from h3n.trees import HELPER, ROOT, UNARY, is_projective


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


LONGEST = 60  # characters of a word that are shown
BOLD = 1.15  # how much wider phrase labels are than plain text


@dataclass(frozen=True, slots=True)
class _Spine:
    """The labels of one phrase: a unary chain from height ``base`` (the innermost) to ``top``, above word ``anchor``.

    Words have height 0.
    """

    labels: tuple[str, ...]
    anchor: int
    base: int

    @property
    def top(self) -> int:
        return self.base + len(self.labels) - 1


@dataclass(frozen=True, slots=True)
class _PlacedArc:
    """An arc's level, and where it starts and ends as measured from the middle of its two words."""

    arc: Arc
    level: int
    start: float
    end: float

    def bounds(self, x: Sequence[float]) -> tuple[float, float]:
        """Return the left and the right end, given the middles of all words."""
        ends = x[self.arc.governor] + self.start, x[self.arc.dependent] + self.end
        return min(ends), max(ends)


def lay_out(figure: Figure, *, metrics: Metrics = METRICS) -> Layout:
    """Return the layout of a picture."""
    m = metrics
    figure = replace(figure, words=tuple(map(_cut, figure.words)))
    spines = _spines(figure.phrases)
    arcs = _placed_arcs(figure, m)
    halves = _half_widths(figure, spines, m)
    x = _positions(halves, arcs, m)
    highest = max((spine.top for spine in spines), default=0)

    def y(height: int) -> float:
        return m.margin + m.label / 2 + (highest - height) * m.tree_step

    tags, words, numbers = _rows(figure, x, y=y(0), metrics=m)
    floor = (numbers or words)[0].bottom + m.pad if words else m.margin
    bows = tuple(_bows(arcs, x, y=floor, metrics=m))
    return Layout(
        width=(x[-1] + halves[-1] if x else m.margin) + m.margin,
        height=max((bow.label.bottom for bow in bows), default=floor) + m.margin,
        words=words,
        tags=tags,
        numbers=numbers,
        labels=tuple(_labels(figure, spines, x=x, y=y, metrics=m)),
        edges=tuple(_edges(figure, spines, x=x, y=y, metrics=m)),
        bows=bows,
    )


def _spines(phrases: Sequence[Phrase]) -> list[_Spine]:
    bases = [1] * len(phrases)
    spines: list[_Spine] = []
    for number in range(len(phrases) - 1, -1, -1):  # children stand after their parents
        phrase = phrases[number]
        anchor = phrase.head if phrase.head is not None else (phrase.start + phrase.end - 1) // 2
        spine = _Spine(tuple(phrase.label.split(UNARY)), anchor, bases[number])
        spines.append(spine)
        if phrase.parent != ROOT:
            bases[phrase.parent] = max(bases[phrase.parent], spine.top + 1)
    return spines[::-1]


def _placed_arcs(figure: Figure, metrics: Metrics) -> list[_PlacedArc]:
    starts, ends = [0.0] * len(figure.arcs), [0.0] * len(figure.arcs)
    for word, ports in enumerate(arc_ports(figure.arcs, len(figure))):
        for rank, i in enumerate(ports):
            side = ends if figure.arcs[i].dependent == word else starts
            side[i] = (rank - (len(ports) - 1) / 2) * metrics.port
    return [_PlacedArc(*each) for each in zip(figure.arcs, arc_levels(figure.arcs), starts, ends, strict=True)]


def _half_widths(figure: Figure, spines: Sequence[_Spine], metrics: Metrics) -> list[float]:
    """Return half the width of each word's column."""
    m = metrics
    widths = [text_width(word, m.word) for word in figure.words]

    def widen(word: int, width: float) -> None:
        widths[word] = max(widths[word], width)

    for word, tag in enumerate(figure.tags):
        widen(word, text_width(tag, m.tag))
    for word, ports in enumerate(arc_ports(figure.arcs, len(figure))):
        widen(word, (len(ports) - 1) * m.port + m.arrow)
    for spine in spines:
        widen(spine.anchor, max(text_width(label, m.label) * BOLD for label in spine.labels) + 2 * m.pad)
    for arc in figure.arcs:
        if arc.governor == ROOT:
            widen(arc.dependent, text_width(arc.relation, m.relation))
    return [width / 2 for width in widths]


def _positions(halves: Sequence[float], arcs: Sequence[_PlacedArc], metrics: Metrics) -> list[float]:
    """Return the middle of each word's column: as far left as the columns and the labels of the arcs allow."""
    m = metrics
    ending: list[list[_PlacedArc]] = [[] for _ in halves]  # the arcs by the word at their right end
    for span in arcs:
        if span.arc.governor != ROOT:
            ending[span.arc.right].append(span)
    x: list[float] = []
    for word, half in enumerate(halves):
        x.append(x[-1] + halves[word - 1] + m.gap + half if x else m.margin + half)
        for span in ending[word]:
            left, right = span.bounds(x)
            need = text_width(span.arc.relation, m.relation) + 2 * (m.corner + m.pad)
            x[-1] += max(0.0, left + need - right)
    return x


def _cut(word: str) -> str:
    """Return the word, or its beginning: one long address would push all else out of sight."""
    return word if len(word) <= LONGEST else word[: LONGEST - 1] + "…"


def _rows(
    figure: Figure, x: Sequence[float], *, y: float, metrics: Metrics
) -> tuple[tuple[Text, ...], tuple[Text, ...], tuple[Text, ...]]:
    """Return the rows of tags, of words and of word numbers; tags and numbers are left out where they say nothing."""
    m = metrics

    def row(texts: Sequence[str], y: float, size: float) -> tuple[Text, ...]:
        return tuple(Text(at, y, text_width(t, size), size, t) for at, t in zip(x, texts, strict=True))

    tags = row(figure.tags, y, m.tag) if any(figure.tags) else ()
    below_tags = y + (m.tag + m.word) / 2 + 2 * m.pad if tags else y
    below_words = below_tags + (m.word + m.number) / 2 + 2 * m.pad
    numbers = row([str(figure.first + w + 1) for w in range(len(figure))], below_words, m.number) if figure.arcs else ()
    return tags, row(figure.words, below_tags, m.word), numbers


def _labels(
    figure: Figure, spines: Sequence[_Spine], *, x: Sequence[float], y: Callable[[int], float], metrics: Metrics
) -> Iterator[PhraseLabel]:
    for number, (phrase, spine) in enumerate(zip(figure.phrases, spines, strict=True)):
        for rank, label in enumerate(spine.labels):
            width = text_width(label, metrics.label) * BOLD
            box = Text(x[spine.anchor], y(spine.top - rank), width, metrics.label, label)
            yield PhraseLabel(number, box, label == HELPER, phrase.confidence)


def _edges(
    figure: Figure, spines: Sequence[_Spine], *, x: Sequence[float], y: Callable[[int], float], metrics: Metrics
) -> Iterator[Edge]:
    m = metrics

    def edge(parent: int, *, word: int, height: int, size: float, head: bool) -> Edge:
        """Return the edge from a phrase's innermost label to what stands above ``word`` at this height."""
        spine = spines[parent]
        from_x, to_x, from_y = x[spine.anchor], x[word], y(spine.base)
        if word == spine.anchor:
            from_y += m.label / 2 + m.pad
        else:
            aside = text_width(spine.labels[-1], m.label) * BOLD / 2 + m.pad
            from_x += aside if to_x > from_x else -aside
        return Edge(from_x, from_y, to_x, y(height) - size / 2 - m.pad, head)

    for number, (phrase, spine) in enumerate(zip(figure.phrases, spines, strict=True)):
        inner = m.label / 2 + m.pad
        for height in range(spine.base, spine.top):  # inside a unary chain
            at = x[spine.anchor]
            yield Edge(at, y(height + 1) + inner, at, y(height) - inner, phrase.head is not None, phrase=number)
        if phrase.parent != ROOT:
            head = figure.phrases[phrase.parent].head
            is_head = head is not None and phrase.start <= head < phrase.end
            up = edge(phrase.parent, word=spine.anchor, height=spine.top, size=m.label, head=is_head)
            yield replace(up, phrase=number)
    size = m.tag if any(figure.tags) else m.word
    for word, parent in enumerate(figure.word_parents):
        if parent != ROOT:
            up = edge(parent, word=word, height=0, size=size, head=figure.phrases[parent].head == word)
            yield replace(up, word=word)


def _bows(arcs: Sequence[_PlacedArc], x: Sequence[float], *, y: float, metrics: Metrics) -> Iterator[Bow]:
    m = metrics
    crossing = not is_projective([span.arc.governor for span in arcs])
    for span in arcs:
        root = span.arc.governor == ROOT
        end = x[span.arc.dependent] + span.end
        start = end if root else x[span.arc.governor] + span.start
        bottom = y + m.arrow + span.level * m.arc_step
        width = text_width(span.arc.relation, m.relation)
        # On a long arc the label stands near the dependent, whose relation it is: the other end may be out of sight.
        reach = min(abs(start - end) / 2, m.reach + width / 2)
        middle = end + (reach if start > end else -reach)
        if crossing and not root:
            middle = _free_middle(span, arcs, x=x, middle=middle, width=width + 2 * m.pad)
        label = Text(middle, bottom, width, m.relation, span.arc.relation)
        yield Bow(span.level, start, end, y, bottom, label, root, span.arc.confidence)


def _free_middle(
    span: _PlacedArc, arcs: Sequence[_PlacedArc], *, x: Sequence[float], middle: float, width: float
) -> float:
    """Return where the label of an arc meets no line of the arcs that cross it, as near ``middle`` as can be."""
    left, right = span.bounds(x)
    lines = [left, right]
    for other in arcs:
        if other.level > span.level:
            ends = [x[other.arc.dependent] + other.end]
            if other.arc.governor != ROOT:
                ends.append(x[other.arc.governor] + other.start)
            lines.extend(at for at in ends if left < at < right)
    lines.sort()
    spots = [min(max(middle, a + width / 2), b - width / 2) for a, b in pairwise(lines) if b - a >= width]
    return min(spots, key=lambda at: abs(at - middle), default=middle)


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
            phrases.append(_cut_phrase(phrase, start, end, parent=numbers.get(phrase.parent, ROOT)))
    return Figure(
        words=figure.words[start:end],
        tags=figure.tags[start:end],
        phrases=tuple(phrases),
        arcs=tuple(_moved_arc(arc, start, end) for arc in figure.arcs[start:end]),
        first=figure.first + start,
    )


def _cut_phrase(phrase: Phrase, start: int, end: int, *, parent: int) -> Phrase:
    before, after = ELLIPSIS * (phrase.start < start), ELLIPSIS * (phrase.end > end)
    label = UNARY.join(f"{before}{label}{after}" for label in phrase.label.split(UNARY))
    head = phrase.head - start if phrase.head is not None and start <= phrase.head < end else None
    limits = max(phrase.start, start) - start, min(phrase.end, end) - start
    return Phrase(*limits, label, head, parent, phrase.confidence)


def _moved_arc(arc: Arc, start: int, end: int) -> Arc:
    if start <= arc.governor < end:
        return replace(arc, governor=arc.governor - start, dependent=arc.dependent - start)
    away = "" if arc.governor == ROOT else f" \u2190 {arc.governor + 1}"
    return replace(arc, governor=ROOT, dependent=arc.dependent - start, relation=arc.relation + away)
