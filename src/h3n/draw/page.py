"""Several pictures on one page of HTML, which needs nothing from outside."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from h3n.draw.figure import Drawable
from h3n.draw.picture import clean, svg
from h3n.draw.themes import Palette, theme_named

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
