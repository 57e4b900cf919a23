"""Where everything of a picture stands; drawing it is then only writing it down.

The phrase tree stands above the words, the arcs hang below them. A phrase stands straight above its head word (without
heads: above its middle word), just above its highest child. So the way from a phrase down to its head is a vertical
line, a word's phrases form its spine, and no line can meet a label: two phrases of one height cover different words,
and a word's column is as wide as the widest thing in it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from h3n.draw.arcs import arc_levels, arc_ports
from h3n.draw.figure import Arc, Figure, Phrase
from h3n.draw.geometry import METRICS, Bow, Edge, Layout, Metrics, PhraseLabel, Text
from h3n.draw.widths import text_width
from h3n.trees import HELPER, ROOT, UNARY, is_projective

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
