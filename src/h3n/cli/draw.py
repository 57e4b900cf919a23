"""`h3n draw`: the trees of a file to look at."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from itertools import islice
from pathlib import Path
from typing import Annotated

import typer

from h3n import draw as drawing
from h3n.cli.outputs import PICTURES, format_of, write_pictures, write_text
from h3n.cli.reading import read_sentences
from h3n.errors import UsageError
from h3n.formats import Reading
from h3n.formats.files import STANDARD
from h3n.trees import Sentence


class OutputFormat(StrEnum):
    PRETTY = "pretty"
    JOINT = "joint"
    SVG = "svg"
    HTML = "html"
    PNG = "png"


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
        typer.Option("--sentence", "-s", metavar="N|A-B,...", help="Which sentences, counted from 1; 5- is the rest."),
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
    theme: Annotated[Theme, typer.Option(help="Colours of pictures; auto follows the reader's screen.")] = Theme.AUTO,
    width: Annotated[int | None, typer.Option(help="Columns of pretty; else those of the terminal, or 80.")] = None,
    ascii_only: Annotated[bool, typer.Option("--ascii", help="Draw pretty with ASCII lines.")] = False,
    colour: Annotated[Colour, typer.Option(help="Colours of pretty.")] = Colour.AUTO,
) -> None:
    """Draw the trees of a file.

    The file may carry phrases, dependencies or both; a file of phrases and one of dependencies over the same sentences
    are drawn together with --dependencies. Formats: pretty (a tree in the terminal, one word a line), joint (brackets
    with heads marked), svg, html (one page) and png (needs the extra png).

    \b
    Examples:
      h3n draw dev.conllu --sentence 3
      h3n draw dev.ptb --dependencies dev.conllu -s 1-5 -o trees.html
      h3n draw dev.ptb -s 12 --theme print -o figure.svg
    """
    if file == dependencies == STANDARD:
        raise UsageError("only one of FILE and --dependencies can be standard input")
    numbers = _Numbers.parse(sentence)
    chosen = output_format or OutputFormat(format_of(output, list(OutputFormat)))
    sentences = _selected(
        read_sentences(file, format_name, dependencies=dependencies, options=Reading(strip_traces=True)), numbers, file
    )
    if chosen in PICTURES:
        pictures = ((number, drawing.svg(tree, theme=theme.value, helpers=helpers)) for number, tree in sentences)
        write_pictures(pictures, output, kind=chosen.value)
    elif chosen is OutputFormat.HTML:
        captioned = ((tree, _caption(number, tree)) for number, tree in sentences)
        page = drawing.html(captioned, title=Path(file).name, theme=theme.value, helpers=helpers)
        write_text([page], output)
    elif chosen is OutputFormat.JOINT:
        write_text((drawing.joint_brackets(tree) + "\n" for _, tree in sentences), output)
    else:
        to_terminal = output == STANDARD and sys.stdout.isatty()
        columns = width or (max(drawing.NARROWEST, shutil.get_terminal_size().columns) if to_terminal else 80)
        coloured = colour is Colour.ALWAYS or (colour is Colour.AUTO and to_terminal and not os.environ.get("NO_COLOR"))

        def pretty(tree: Sentence) -> str:
            return drawing.pretty(tree, width=columns, colour=coloured, ascii_only=ascii_only, helpers=helpers)

        write_text(_titled(sentences, pretty, one=numbers.one), output)


@dataclass(frozen=True, slots=True)
class _Numbers:
    """Which sentences are asked for: ranges of numbers from 1, both ends included; no end means the rest."""

    ranges: tuple[tuple[int, int | None], ...]

    @staticmethod
    def parse(text: str) -> _Numbers:
        """Return the numbers of ``3``, ``2-5``, ``7-`` or several of them with commas between."""
        ranges: list[tuple[int, int | None]] = []
        for part in text.split(","):
            first, dash, last = part.strip().partition("-")
            if not _is_number(first) or not (_is_number(last) or not last):
                raise UsageError(f"--sentence {text!r}: {part!r} is not a number from 1 or a range such as 2-5 or 7-")
            start, end = int(first), int(last) if last else None if dash else int(first)
            if start < 1 or (end is not None and end < start):
                raise UsageError(f"--sentence {text!r}: the range {part!r} is empty; sentences count from 1")
            ranges.append((start, end))
        return _Numbers(tuple(ranges))

    @property
    def one(self) -> bool:
        return len(self.ranges) == 1 and self.ranges[0][0] == self.ranges[0][1]

    @property
    def last(self) -> int | None:
        ends = [end for _, end in self.ranges if end is not None]
        return max(ends) if len(ends) == len(self.ranges) else None

    def __contains__(self, number: int) -> bool:
        return any(start <= number and (end is None or number <= end) for start, end in self.ranges)


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdigit()


def _selected(sentences: Iterable[Sentence], numbers: _Numbers, file: str) -> Iterator[tuple[int, Sentence]]:
    count, found = 0, False
    for count, sentence in enumerate(islice(sentences, numbers.last), start=1):
        if count in numbers:
            found = True
            yield count, sentence
    if not found:
        raise UsageError(f"{file} has {count} sentences, none of those asked for with --sentence")


def _titled(
    sentences: Iterable[tuple[int, Sentence]], pretty: Callable[[Sentence], str], *, one: bool
) -> Iterator[str]:
    for number, sentence in sentences:
        yield pretty(sentence) if one else f"# {number}\n{pretty(sentence)}\n"


def _caption(number: int, sentence: Sentence) -> str:
    texts = [line.partition("=")[2].strip() for line in sentence.comments if line.startswith("# text =")]
    return f"{number}. {texts[0] if texts else ' '.join(sentence.words)}"
