"""`h3n draw`: the trees of a file to look at."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from h3n import draw as drawing
from h3n.cli.outputs import DRAWINGS, Look, format_of, write_drawings, write_parts
from h3n.cli.reading import read_sentences
from h3n.errors import UsageError
from h3n.files import STANDARD, shown_name
from h3n.formats import Reading
from h3n.trees import Sentence


class OutputFormat(StrEnum):
    PRETTY = "pretty"
    JOINT = "joint"
    SVG = "svg"
    HTML = "html"
    PNG = "png"
    LATEX = "latex"
    FOREST = "forest"
    TIKZ = "tikz"


class Theme(StrEnum):
    AUTO = "auto"
    LIGHT = "light"
    DARK = "dark"
    PRINT = "print"


class Colour(StrEnum):
    AUTO = "auto"
    ALWAYS = "always"
    NEVER = "never"


def draw(
    file: Annotated[str, typer.Argument(metavar="FILE", help="Treebank file; - is standard input.")],
    sentence: Annotated[
        str,
        typer.Option(
            "--sentence",
            "-s",
            metavar="N|A-B|ID,...",
            help="Which sentences: counted from 1 (5- is the rest), or sent_id.",
        ),
    ] = "1-",
    output_format: Annotated[
        OutputFormat | None, typer.Option("--to", "-t", help="Format of the output; else by its ending, or pretty.")
    ] = None,
    output: Annotated[
        str, typer.Option("--output", "-o", metavar="FILE", help="Where to; a folder for several SVG or PNG pictures.")
    ] = STANDARD,
    format_name: Annotated[
        str | None, typer.Option("--from", "-f", metavar="FORMAT", help="Format of FILE; else by its ending.")
    ] = None,
    dependencies: Annotated[
        str | None, typer.Option(metavar="FILE", help="A file of dependencies for the trees in FILE, line by line.")
    ] = None,
    helpers: Annotated[
        bool, typer.Option("--helpers", help="Show the helper spans that group words with a head.")
    ] = False,
    fit: Annotated[
        int | None, typer.Option(metavar="PIXELS", help="Draw sentences that are wider than this in several rows.")
    ] = None,
    theme: Annotated[Theme, typer.Option(help="Colours of pictures; auto follows the reader's screen.")] = Theme.AUTO,
    width: Annotated[int | None, typer.Option(help="Columns of pretty; else those of the terminal, or 80.")] = None,
    ascii_only: Annotated[bool, typer.Option("--ascii", help="Draw pretty with ASCII lines.")] = False,
    colour: Annotated[Colour, typer.Option(help="Colours of pretty.")] = Colour.AUTO,
) -> None:
    """Draw the trees of a file.

    The file may carry phrases, dependencies or both; a file of phrases and one of dependencies over the same sentences
    are drawn together with --dependencies. Formats: pretty (a tree in the terminal, one word a line), joint (brackets
    with heads marked), svg, html (one page), png (needs the extra png), latex (a document), forest and tikz (the
    environments for the LaTeX packages forest and tikz-dependency).

    \b
    Examples:
      h3n draw dev.conllu --sentence 3
      h3n draw dev.ptb --dependencies dev.conllu -s 1-5 -o trees.html
      h3n draw dev.ptb -s 12 --theme print -o figure.svg
      h3n draw dev.conllu -s weblog-0042 --fit 900 -o long.svg
      h3n draw dev.ptb -s 7 --to forest
    """
    if file == dependencies == STANDARD:
        raise UsageError("only one of FILE and --dependencies can be standard input")
    wishes = _Wishes.parse(sentence)
    chosen = output_format or OutputFormat(format_of(output, list(OutputFormat)))
    sentences = _selected(
        read_sentences(file, format_name, dependencies=dependencies, options=Reading(strip_traces=True)), wishes, file
    )
    if chosen in DRAWINGS:
        look = Look(title=shown_name(Path(file).name), theme=theme.value, helpers=helpers, fit=fit)
        captioned = ((number, tree, _caption(tree)) for number, tree in sentences)
        write_drawings(captioned, output, kind=chosen.value, look=look)
    elif chosen is OutputFormat.JOINT:
        write_parts((drawing.joint_brackets(tree) + "\n" for _, tree in sentences), output)
    else:
        to_terminal = output == STANDARD and sys.stdout.isatty()
        columns = width or (max(drawing.NARROWEST, shutil.get_terminal_size().columns) if to_terminal else 80)
        coloured = colour is Colour.ALWAYS or (colour is Colour.AUTO and to_terminal and not os.environ.get("NO_COLOR"))

        def pretty(tree: Sentence) -> str:
            return drawing.pretty(tree, width=columns, colour=coloured, ascii_only=ascii_only, helpers=helpers)

        write_parts(_titled(sentences, pretty, one=wishes.one), output, coloured=coloured)


@dataclass(frozen=True, slots=True)
class _Wish:
    """Sentences that are asked for: numbers ``start`` to ``end`` (None: the rest), or the one with this ``id``."""

    text: str
    start: int = 0
    end: int | None = 0
    id: str | None = None

    def __contains__(self, numbered: tuple[int, Sentence]) -> bool:
        number, sentence = numbered
        if self.id is not None:
            return _comment(sentence, "sent_id") == self.id
        return self.start <= number and (self.end is None or number <= self.end)


@dataclass(frozen=True, slots=True)
class _Wishes:
    """All that --sentence asks for, and what of it has come by."""

    all: tuple[_Wish, ...]
    met: set[_Wish] = field(default_factory=set)

    @staticmethod
    def parse(text: str) -> _Wishes:
        """Return the wishes of ``3``, ``2-5``, ``7-``, a sentence's id, or several of them with commas between."""
        return _Wishes(tuple(_wish(part.strip(), text) for part in text.split(",")))

    @property
    def one(self) -> bool:
        return len(self.all) == 1 and (self.all[0].id is not None or self.all[0].start == self.all[0].end)

    @property
    def last(self) -> int | None:
        """The number after which nothing more can be asked for; None where that is not known."""
        ends = [wish.end for wish in self.all if wish.id is None and wish.end is not None]
        return max(ends) if len(ends) == len(self.all) else None

    def take(self, number: int, sentence: Sentence) -> bool:
        """Return whether this sentence is asked for, and remember by whom."""
        met = {wish for wish in self.all if (number, sentence) in wish}
        self.met.update(met)
        return bool(met)

    @property
    def missing(self) -> list[str]:
        return [wish.text for wish in self.all if wish not in self.met]


def _wish(part: str, text: str) -> _Wish:
    first, dash, last = part.partition("-")
    if not _is_number(first) or not (_is_number(last) or not last):
        if not part:
            raise UsageError(f"--sentence {text!r}: expected numbers from 1, ranges such as 2-5 or 7-, or ids")
        return _Wish(part, id=part)
    start, end = int(first), int(last) if last else None if dash else int(first)
    if start < 1 or (end is not None and end < start):
        raise UsageError(f"--sentence {text!r}: the range {part!r} is empty; sentences count from 1")
    return _Wish(part, start, end)


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdigit()


def _selected(sentences: Iterable[Sentence], wishes: _Wishes, file: str) -> Iterator[tuple[int, Sentence]]:
    """Yield the sentences asked for with their numbers; `UsageError` at the end if something asked for is not there."""
    count = 0
    for count, sentence in enumerate(sentences, start=1):
        if wishes.take(count, sentence):
            yield count, sentence
        if count == wishes.last:
            break
    if wishes.missing:
        known = f"{file} has {count} sentence{'' if count == 1 else 's'}"
        raise UsageError(f"{known}; --sentence asks for what is not there: {', '.join(wishes.missing)}")


def _titled(
    sentences: Iterable[tuple[int, Sentence]], pretty: Callable[[Sentence], str], *, one: bool
) -> Iterator[str]:
    for number, sentence in sentences:
        yield pretty(sentence) if one else f"# {number}\n{pretty(sentence)}\n"


def _caption(sentence: Sentence) -> str:
    return _comment(sentence, "text") or " ".join(sentence.words)


def _comment(sentence: Sentence, key: str) -> str | None:
    """Return what a comment such as ``# sent_id = ...`` says."""
    start = f"# {key} ="
    return next((line.removeprefix(start).strip() for line in sentence.comments if line.startswith(start)), None)
