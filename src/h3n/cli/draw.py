"""`h3n draw`: the trees of a file to look at."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from h3n.cli.options import Fit, TreebankFormat, Width, output_format
from h3n.cli.outputs import chosen_output, columns_of, in_colour, write_drawings, write_parts
from h3n.errors import UsageError
from h3n.files import STANDARD, shown_name
from h3n.formats import Reading, read_both
from h3n.outputs import OUTPUTS, Look
from h3n.trees import Sentence

DRAWN = {name: output for name, output in OUTPUTS.items() if output.draw or output.document}


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
    to_format: Annotated[str | None, output_format(DRAWN)] = None,
    output: Annotated[
        str, typer.Option("--output", "-o", metavar="FILE", help="Where to; a folder for several SVG or PNG pictures.")
    ] = STANDARD,
    format_name: TreebankFormat = None,
    dependencies: Annotated[
        str | None, typer.Option(metavar="FILE", help="A file of dependencies for the trees in FILE, line by line.")
    ] = None,
    helpers: Annotated[
        bool, typer.Option("--helpers", help="Show the helper spans that group words with a head.")
    ] = False,
    fit: Fit = None,
    theme: Annotated[Theme, typer.Option(help="Colours of pictures; auto follows the reader's screen.")] = Theme.AUTO,
    width: Width = None,
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
    asked = _Selection.parse(sentence)
    chosen = chosen_output(to_format, output, DRAWN)
    sentences = _selected(
        read_both(file, format_name, dependencies=dependencies, options=Reading(strip_traces=True)), asked, file
    )
    look = Look(
        title=shown_name(Path(file).name),
        theme=theme.value,
        helpers=helpers,
        fit=fit,
        width=columns_of(output, width),
        colour=colour is Colour.ALWAYS or (colour is Colour.AUTO and in_colour(output)),
        ascii_only=ascii_only,
    )
    if chosen.kind != "text":
        captioned = ((number, tree, _caption(tree)) for number, tree in sentences)
        write_drawings(captioned, output, chosen=chosen, look=look)
        return
    parts = ((number, chosen.draw(tree, look)) for number, tree in sentences if chosen.draw is not None)
    if chosen.name == "pretty":
        titled = (text if asked.one else f"# {number}\n{text}\n" for number, text in parts)
        write_parts(titled, output, coloured=look.colour)
    else:
        write_parts((text + chosen.end for _, text in parts), output)


@dataclass(frozen=True, slots=True)
class _Range:
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
class _Selection:
    """All that --sentence asks for, and what of it has come by."""

    all: tuple[_Range, ...]
    met: set[_Range] = field(default_factory=set)

    @staticmethod
    def parse(text: str) -> _Selection:
        """Return the asked of ``3``, ``2-5``, ``7-``, a sentence's id, or several of them with commas between."""
        return _Selection(tuple(_range(part.strip(), text) for part in text.split(",")))

    @property
    def one(self) -> bool:
        return len(self.all) == 1 and (self.all[0].id is not None or self.all[0].start == self.all[0].end)

    @property
    def last(self) -> int | None:
        """The number after which nothing more can be asked for; None where that is not known."""
        ends = [one.end for one in self.all if one.id is None and one.end is not None]
        return max(ends) if len(ends) == len(self.all) else None

    def take(self, number: int, sentence: Sentence) -> bool:
        """Return whether this sentence is asked for, and remember by whom."""
        met = {one for one in self.all if (number, sentence) in one}
        self.met.update(met)
        return bool(met)

    @property
    def missing(self) -> list[str]:
        return [one.text for one in self.all if one not in self.met]


def _range(part: str, text: str) -> _Range:
    first, dash, last = part.partition("-")
    if not _is_number(first) or not (_is_number(last) or not last):
        if not part:
            raise UsageError(f"--sentence {text!r}: expected numbers from 1, ranges such as 2-5 or 7-, or ids")
        return _Range(part, id=part)
    start, end = int(first), int(last) if last else None if dash else int(first)
    if start < 1 or (end is not None and end < start):
        raise UsageError(f"--sentence {text!r}: the range {part!r} is empty; sentences count from 1")
    return _Range(part, start, end)


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdigit()


def _selected(sentences: Iterable[Sentence], asked: _Selection, file: str) -> Iterator[tuple[int, Sentence]]:
    """Yield the sentences asked for with their numbers; `UsageError` at the end if something asked for is not there."""
    count = 0
    for count, sentence in enumerate(sentences, start=1):
        if asked.take(count, sentence):
            yield count, sentence
        if count == asked.last:
            break
    if asked.missing:
        known = f"{file} has {count} sentence{'' if count == 1 else 's'}"
        raise UsageError(f"{known}; --sentence asks for what is not there: {', '.join(asked.missing)}")


def _caption(sentence: Sentence) -> str:
    return _comment(sentence, "text") or " ".join(sentence.words)


def _comment(sentence: Sentence, key: str) -> str | None:
    """Return what a comment such as ``# sent_id = ...`` says."""
    start = f"# {key} ="
    return next((line.removeprefix(start).strip() for line in sentence.comments if line.startswith(start)), None)
