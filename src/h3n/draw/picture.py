"""A tree as an SVG picture, as PNG, and a page of pictures: no script, no outside font or file.

There is one text element for each text. Colours are attributes of groups, so that every program that reads SVG shows
them; a style sheet only overrides them where the reader prefers a dark screen.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from html import escape, unescape
from typing import Any

from h3n.draw.figure import Drawable, Figure, figure_of
from h3n.draw.layout import METRICS, Bow, Edge, Layout, Text, lay_out, mirrored, rows_of, stacked
from h3n.draw.themes import Palette, Theme, theme_named
from h3n.draw.widths import right_to_left
from h3n.errors import MissingExtra, UsageError

FONTS = "Helvetica Neue, Helvetica, Arial, Liberation Sans, Noto Sans, DejaVu Sans, sans-serif"
# What XML 1.0 cannot hold, even escaped.
_ILLEGAL = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
SURE = 0.95  # a confidence from which on nothing is shaded
_DROP = 0.35  # of the font size: from the middle of a line of text to its baseline


NARROWEST_PICTURE = 200


def svg(
    source: Drawable,
    *,
    theme: str = "auto",
    helpers: bool = False,
    title: str | None = None,
    fit: int | None = None,
    parts: bool = False,
) -> str:
    """Return the picture: the phrase tree above the words, the arcs below them, the way to each head emphasised.

    ``theme`` is a name in `THEMES`, ``helpers`` shows helper spans, ``title`` replaces the sentence as the picture's
    title for those who hear it read out. A sentence wider than ``fit`` pixels stands in several rows. Words of a script
    that runs from right to left do so here. ``parts`` adds attributes by which a page finds words (``data-word``),
    phrases (``data-span``), arcs (``data-arc``) and the lines of the tree; not for pictures in rows.
    """
    if parts and fit is not None:
        raise UsageError("parts cannot be told apart in a picture of several rows; give either parts or fit")
    if fit is not None and fit < NARROWEST_PICTURE:
        raise UsageError(f"a picture of {fit} pixels is too narrow for a tree; give {NARROWEST_PICTURE} or more")
    figure = figure_of(source, helpers=helpers)
    names = _Names(figure if parts else None)
    return "\n".join(_document(figure, _layout(figure, fit), theme_named(theme), title=title, names=names)) + "\n"


@dataclass(frozen=True, slots=True)
class _Names:
    """The attributes by which a page finds the parts of a figure; without a figure there are none."""

    figure: Figure | None

    def word(self, number: int) -> str:
        return f' data-word="{number}"' if self.figure else ""

    def arc(self, number: int) -> str:
        return f' data-arc="{number}"' if self.figure else ""

    def span(self, number: int, kind: str = "span") -> str:
        if self.figure is None:
            return ""
        phrase = self.figure.phrases[number]
        return f' data-{kind}="{phrase.start}-{phrase.end}"'

    def edge(self, edge: Edge) -> str:
        if self.figure is None or edge.phrase is None:
            return f' data-edge-word="{edge.word}"' if self.figure else ""
        return self.span(edge.phrase, "edge-span")


def _layout(figure: Figure, fit: int | None) -> Layout:
    layout = lay_out(figure)
    if fit is not None and layout.width > fit:
        rows = rows_of(figure, lambda part: lay_out(part).width <= fit)
        layout = stacked([lay_out(row) for row in rows], margin=METRICS.margin)
    return mirrored(layout) if right_to_left(figure.words) else layout


def clean(text: str) -> str:
    """Return the text escaped for XML, with U+FFFD for characters that XML cannot hold."""
    return escape(_ILLEGAL.sub("\ufffd", text))


def _document(figure: Figure, layout: Layout, theme: Theme, *, title: str | None, names: _Names) -> Iterator[str]:
    width, height = _number(layout.width), _number(layout.height)
    yield (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="h3n" role="img" width="{width}" height="{height}" '
        f'viewBox="0 0 {width} {height}" font-family="{FONTS}" text-anchor="middle">'
    )
    yield f"<title>{clean(' '.join(figure.words) if title is None else title)}</title>"
    yield f"<desc>{clean(_description(figure))}</desc>"
    if theme.dark is not None:
        yield f"<style>@media (prefers-color-scheme: dark) {{ {' '.join(_overrides(theme.dark))} }}</style>"
    if theme.palette.background is not None:
        yield f'<rect class="h3n-ground" width="100%" height="100%" rx="6" fill="{theme.palette.background}"/>'
    yield from _doubts(layout, theme.palette)
    yield from _tree(layout, theme.palette, names)
    yield from _arcs(layout, theme.palette, names)
    yield "</svg>"


def _description(figure: Figure) -> str:
    """Return both trees in words, for those who cannot see the picture."""
    phrases = [f"{p.label}: {' '.join(figure.words[p.start : p.end])}" for p in figure.phrases[:1]]
    counted = f"{len(figure)} words, {len(figure.phrases)} phrases, {len(figure.arcs)} arcs."
    arcs = (
        f"{figure.words[a.dependent]} is {a.relation} of {figure.words[a.governor]}"
        if a.governor >= 0
        else f"{figure.words[a.dependent]} is {a.relation}"
        for a in figure.arcs
    )
    return " ".join([counted, *(f"{p}." for p in phrases), "; ".join(arcs)]).strip()


def _overrides(dark: Palette) -> Iterator[str]:
    yield f".h3n .h3n-ground {{ fill: {dark.background or 'none'} }}"
    for name, colour in (("word", dark.word), ("phrase", dark.phrase), ("tag", dark.tag), ("relation", dark.relation)):
        yield f".h3n .h3n-{name} {{ fill: {colour} }}"
    yield f".h3n .h3n-arrow {{ fill: {dark.arc} }}"
    yield f".h3n .h3n-doubt {{ fill: {dark.doubt} }}"
    for name, colour in (("edge", dark.edge), ("head", dark.head), ("arc", dark.arc)):
        yield f".h3n .h3n-{name} {{ stroke: {colour} }}"


def _doubts(layout: Layout, palette: Palette) -> Iterator[str]:
    """Yield a shade behind every label that is not sure, the darker the less sure."""
    judged = [(label.box, label.confidence) for label in layout.labels]
    judged += [(bow.label, bow.confidence) for bow in layout.bows]
    shades = [(box, 1 - sure) for box, sure in judged if sure is not None and sure < SURE]
    if shades:
        yield f'<g class="h3n-doubt" fill="{palette.doubt}">'
        for box, doubt in shades:
            x, y, width = map(_number, (box.left - 2, box.top - 2, box.width + 4))
            height = _number(box.height + 4)
            yield f'<rect x="{x}" y="{y}" width="{width}" height="{height}" rx="3" fill-opacity="{doubt:.2f}"/>'
        yield "</g>"


def _tree(layout: Layout, palette: Palette, names: _Names) -> Iterator[str]:
    m = METRICS
    line = 'fill="none" stroke-linecap="round"'
    edges = [(_elbow(e), names.edge(e)) for e in layout.edges if not e.head]
    yield from _paths("edge", edges, f'{line} stroke="{palette.edge}"')
    heads = [(_elbow(e), names.edge(e)) for e in layout.edges if e.head]
    yield from _paths("head", heads, f'{line} stroke="{palette.head}" stroke-width="2.6"')
    labels = [(label.box, names.span(label.phrase)) for label in layout.labels if not label.helper]
    yield from _texts("phrase", labels, m.label, f'fill="{palette.phrase}" font-weight="bold"')
    helpers = [(label.box, "") for label in layout.labels if label.helper]
    yield from _texts("tag", helpers, m.label, f'fill="{palette.tag}" font-style="italic"')
    yield from _texts("tag", ((tag, "") for tag in layout.tags), m.tag, f'fill="{palette.tag}"')
    words = [(word, names.word(number)) for number, word in enumerate(layout.words)]
    yield from _texts("word", words, m.word, f'fill="{palette.word}"')
    yield from _texts("tag", ((number, "") for number in layout.numbers), m.number, f'fill="{palette.tag}"')


def _arcs(layout: Layout, palette: Palette, names: _Names) -> Iterator[str]:
    named = [(bow, names.arc(number)) for number, bow in enumerate(layout.bows)]
    bows = ((_bow(bow), name) for bow, name in named)
    yield from _paths("arc", bows, f'fill="none" stroke="{palette.arc}" stroke-width="1.2"')
    yield from _paths("arrow", ((_arrow(bow), "") for bow in layout.bows), f'fill="{palette.arc}"')
    labels = ((bow.label, name) for bow, name in named)
    yield from _texts("relation", labels, METRICS.relation, f'fill="{palette.relation}"')


def _paths(name: str, paths: Iterable[tuple[str, str]], attributes: str) -> Iterator[str]:
    lines = [f'<path d="{path}"{own}/>' for path, own in paths]
    if lines:
        yield f'<g class="h3n-{name}" {attributes}>'
        yield from lines
        yield "</g>"


def _texts(name: str, texts: Iterable[tuple[Text, str]], size: float, attributes: str) -> Iterator[str]:
    lines = [
        f'<text x="{_number(t.x)}" y="{_number(t.y + size * _DROP)}"{own}>{clean(t.text)}</text>'
        for t, own in texts
        if t.text
    ]
    if lines:
        yield f'<g class="h3n-{name}" font-size="{_number(size)}" {attributes}>'
        yield from lines
        yield "</g>"


def _elbow(edge: Edge) -> str:
    """Return the path of an edge: level, round the corner, down."""
    x, y, to_x, to_y = map(_number, (edge.x, edge.y, edge.to_x, edge.to_y))
    if edge.x == edge.to_x:
        return f"M{x} {y}V{to_y}"
    corner = min(METRICS.corner, abs(edge.to_x - edge.x), edge.to_y - edge.y)
    before = _number(edge.to_x + (corner if edge.to_x < edge.x else -corner))
    return f"M{x} {y}H{before}Q{to_x} {y} {to_x} {_number(edge.y + corner)}V{to_y}"


def _bow(bow: Bow) -> str:
    """Return the path of an arc, open where its label stands."""
    m = METRICS
    if bow.root:
        return f"M{_number(bow.end)} {_number(bow.label.top - m.pad)}V{_number(bow.top + m.arrow / 2)}"
    left, right = sorted((bow.start, bow.end))
    # The line ends inside the arrow head, whose tip is sharper than the line is wide.
    left_top, right_top = (bow.top + (m.arrow / 2 if x == bow.end else 0) for x in (left, right))
    turn, bottom = _number(bow.bottom - m.corner), _number(bow.bottom)
    return (
        f"M{_number(left)} {_number(left_top)}V{turn}Q{_number(left)} {bottom} {_number(left + m.corner)} {bottom}"
        f"H{_number(bow.label.left - m.pad)}M{_number(bow.label.right + m.pad)} {bottom}"
        f"H{_number(right - m.corner)}Q{_number(right)} {bottom} {_number(right)} {turn}V{_number(right_top)}"
    )


def _arrow(bow: Bow) -> str:
    half = _number(METRICS.arrow / 2)
    return f"M{_number(bow.end)} {_number(bow.top)}l-{half} {_number(METRICS.arrow)}h{_number(METRICS.arrow)}z"


def _number(value: float) -> str:
    return f"{value:.1f}".removesuffix(".0")


# A picture keeps its natural size, at which it can be read; a long sentence scrolls sideways.
_STYLE = """
body { margin: 2rem; font: 16px/1.5 system-ui, sans-serif; }
h1 { font-size: 1.3rem; }
figure { margin: 0 0 2.5rem; }
figcaption { margin-bottom: .5rem; }
figure > div { overflow-x: auto; }
svg { display: block; }
@media print { figure { break-inside: avoid; } svg { max-width: 100%; height: auto; } }
""".strip()


def html(
    pictures: Iterable[tuple[Drawable, str]],
    *,
    title: str = "Trees",
    theme: str = "auto",
    helpers: bool = False,
    fit: int | None = None,
) -> str:
    """Return a page with a picture of each tree below its caption; ``fit`` is the widest a picture may be."""
    figures = ((svg(tree, theme=theme, helpers=helpers, fit=fit), caption) for tree, caption in pictures)
    return "\n".join(_lines(figures, title=title, theme=theme)) + "\n"


def _lines(figures: Iterable[tuple[str, str]], *, title: str, theme: str) -> Iterator[str]:
    chosen = theme_named(theme)
    yield f'<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<title>{clean(title)}</title>'
    yield '<meta name="viewport" content="width=device-width, initial-scale=1">'
    yield f"<style>\n{_STYLE}\n{_page_colours(chosen.palette)}"
    if chosen.dark is not None:
        yield f"@media (prefers-color-scheme: dark) {{ {_page_colours(chosen.dark)} }}"
    yield f"</style>\n</head>\n<body>\n<h1>{clean(title)}</h1>"
    for picture, caption in figures:
        yield f'<figure>\n<figcaption dir="auto">{clean(caption)}</figcaption>'
        yield f"<div>{picture.rstrip()}</div>\n</figure>"
    yield "</body>\n</html>"


def _page_colours(palette: Palette) -> str:
    return f"body {{ color: {palette.word}; background: {palette.background or '#ffffff'}; }}"


_TEXT = re.compile(r"<text[^>]*>([^<]*)</text>")
_UNASSIGNED = "\U0010fffd"  # no font has it: what stands for it stands for every missing character


def png(svg_text: str, *, scale: float = 2.0) -> bytes:
    """Return the SVG picture as the bytes of a PNG file, ``scale`` times its natural size.

    The fonts are those of the machine; `missing_characters` says which characters they lack. `MissingExtra` if the
    converter is not installed.
    """
    try:
        return bytes(_converter().svg_to_bytes(svg_string=svg_text, zoom=scale))
    except ValueError as error:
        raise UsageError(f"the picture cannot be converted to PNG: {error}") from None


def missing_characters(svg_text: str) -> str:
    """Return the characters of the picture's texts that no font of this machine has: PNG shows them as boxes."""
    texts = unescape("".join(_TEXT.findall(svg_text)))
    return "".join(c for c in sorted(set(texts)) if _is_seen(c) and _is_missing(c))


def _is_seen(character: str) -> bool:
    """Return whether the character should be seen and may be missing: ASCII is in every font."""
    return not character.isascii() and unicodedata.category(character) not in ("Cc", "Cf", "Cs", "Zs", "Zl", "Zp")


@lru_cache(maxsize=4096)
def _is_missing(character: str) -> bool:
    return _drawn(character) == _drawn(_UNASSIGNED)


@lru_cache(maxsize=4096)
def _drawn(character: str) -> bytes:
    text = f'<text x="10" y="30" font-size="20">{escape(character)}</text>'
    size = 'width="40" height="40"'
    picture = f'<svg xmlns="http://www.w3.org/2000/svg" {size} font-family="{FONTS}">{text}</svg>'
    return bytes(_converter().svg_to_bytes(svg_string=picture))


def _converter() -> Any:
    try:
        import resvg_py
    except ImportError:
        raise MissingExtra("PNG pictures", "png") from None
    return resvg_py
