"""What parses and trees can be written as: one table for `h3n parse`, `h3n draw`, corpora and the service.

A new output is a line of `OUTPUTS`.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

from h3n import draw, formats
from h3n.draw import Drawable
from h3n.formats import FORMATS

if TYPE_CHECKING:
    from h3n.parser import Result

PHRASES, DEPENDENCIES = frozenset({"phrases"}), frozenset({"dependencies"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """How trees are drawn. ``fit`` is the widest a picture may be; ``width``, ``colour`` and ``ascii_only`` concern
    terminals alone."""

    title: str = ""
    theme: str = "auto"
    helpers: bool = False
    fit: int | None = None
    confidence: bool = False
    parts: bool = False
    width: int = 80
    colour: bool = False
    ascii_only: bool = False


Write: TypeAlias = "Callable[[Result, Look], str]"
Draw: TypeAlias = "Callable[[Drawable, Look], str]"


@dataclass(frozen=True, slots=True, kw_only=True)
class Output:
    """A line of `OUTPUTS`.

    ``text``: sentences follow each other. ``captioned``: the same, with a caption above each. ``document``: all
    sentences make one file. ``picture``: a file holds one sentence. ``needs`` names the trees without which there is
    nothing to show. ``write`` makes text of a result and ``draw`` of any tree; ``end`` follows it in a file. ``shard``
    is the ending of the files of a corpus; without it no corpus is written in this format.
    """

    name: str
    endings: tuple[str, ...] = ()
    kind: Literal["text", "captioned", "document", "picture"] = "text"
    needs: frozenset[str] = frozenset()
    write: Write | None = None
    draw: Draw | None = None
    document: Callable[[Iterable[tuple[Drawable, str]], Look], str] | None = None
    encode: Callable[[str], bytes] = str.encode
    end: str = "\n"
    shades: bool = False  # shows how sure the parser is
    comments: bool = False  # has a place for the name of a sentence
    shard: str = ""

    def text_of(self, result: Result, look: Look) -> str:
        """Return a result as it stands in a file of text."""
        if self.write is None:
            raise ValueError(f"{self.name} is not written sentence by sentence")
        return self.write(result, look) + self.end

    def found_in(self, result: Result) -> bool:
        """Return whether a result has the trees that this output shows."""
        has = {"phrases": result.tree is not None, "dependencies": bool(result.arcs)}
        return all(has[kind] for kind in self.needs)


def _drawn(drawing: Draw) -> Write:
    """Return what draws a result."""
    return lambda result, look: drawing(result.with_confidence if look.confidence else result.drawable, look)


def _conllx(result: Result, _: Look) -> str:
    stream = io.StringIO()
    formats.write([result.sentence], stream, format="conllx")
    return stream.getvalue()


def _pretty(tree: Drawable, look: Look) -> str:
    return draw.pretty(tree, width=look.width, colour=look.colour, ascii_only=look.ascii_only, helpers=look.helpers)


def _svg(tree: Drawable, look: Look) -> str:
    return draw.svg(tree, theme=look.theme, helpers=look.helpers, fit=look.fit, parts=look.parts)


def _forest(tree: Drawable, look: Look) -> str:
    return draw.forest(tree, helpers=look.helpers)


def _tikz(tree: Drawable, _: Look) -> str:
    return draw.tikz_dependency(tree)


def _html(trees: Iterable[tuple[Drawable, str]], look: Look) -> str:
    return draw.html(trees, title=look.title, theme=look.theme, helpers=look.helpers, fit=look.fit)


def _latex(trees: Iterable[tuple[Drawable, str]], look: Look) -> str:
    return draw.latex(trees, helpers=look.helpers)


OUTPUTS: dict[str, Output] = {
    output.name: output
    for output in (
        Output(
            name="pretty",
            endings=(".txt",),
            write=lambda result, look: result.pretty(width=look.width, colour=look.colour),
            draw=_pretty,
        ),
        Output(
            name="joint",
            endings=(".joint",),
            needs=PHRASES | DEPENDENCIES,
            write=lambda result, _: result.joint_brackets(),
            draw=lambda tree, _: draw.joint_brackets(tree),
        ),
        Output(
            name="brackets",
            endings=FORMATS["brackets"].extensions,
            needs=PHRASES,
            write=lambda result, _: result.brackets(),
            shard=".ptb",
        ),
        Output(
            name="conllu",
            endings=FORMATS["conllu"].extensions,
            needs=DEPENDENCIES,
            write=lambda result, _: result.conllu(),
            end="",
            comments=True,
            shard=".conllu",
        ),
        Output(name="conllx", endings=FORMATS["conllx"].extensions, needs=DEPENDENCIES, write=_conllx, end=""),
        Output(
            name="jsonl",
            endings=FORMATS["jsonl"].extensions,
            write=lambda result, _: result.json(),
            comments=True,
            shard=".jsonl",
        ),
        Output(name="svg", endings=(".svg",), kind="picture", write=_drawn(_svg), draw=_svg, shades=True),
        Output(name="png", endings=(".png",), kind="picture", draw=_svg, encode=draw.png, shades=True),
        Output(name="html", endings=(".html", ".htm"), kind="document", document=_html, shades=True),
        Output(name="latex", endings=(".tex",), kind="document", document=_latex),
        Output(name="forest", kind="captioned", needs=PHRASES, write=_drawn(_forest), draw=_forest),
        Output(name="tikz", kind="captioned", needs=DEPENDENCIES, write=_drawn(_tikz), draw=_tikz),
    )
}
ENDINGS = {ending: output.name for output in OUTPUTS.values() for ending in output.endings}
