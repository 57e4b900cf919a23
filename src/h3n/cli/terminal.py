"""What commands tell the person at the terminal: lines, progress, drawings, and which problems were found."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Iterator
from typing import Any, Generic, TypeVar

import typer

from h3n.cli.streams import printable, printable_text, steering
from h3n.draw.terminal import COLOURS
from h3n.errors import H3nError
from h3n.models import language_of, locate
from h3n.text import ENGLISH, Segmenter

Item = TypeVar("Item")
TEXTS = ("text", "lines")  # inputs of which the words are found by a segmenter

_COLOUR = re.compile(f"({'|'.join(map(re.escape, COLOURS))})")


def say(message: object) -> None:
    """Write one line on standard error."""
    typer.echo(f"h3n: {printable(str(message))}", err=True)


def show_drawing(text: str) -> None:
    """Write a drawing on standard output; on a terminal its colours work, and nothing else that could steer it."""
    parts = _COLOUR.split(text)  # every second one is a colour
    parts[::2] = map(printable_text, parts[::2])
    sys.stdout.flush()
    steering(sys.stdout).write("".join(parts))
    steering(sys.stdout).flush()


def show_state(line: object) -> None:
    """Write a line on standard error, a terminal, in place of the one before."""
    sys.stderr.flush()
    steering(sys.stderr).write(f"\r\x1b[K{printable(str(line))}")
    steering(sys.stderr).flush()


class Findings:
    """Problems, reported as they come and counted: for commands that go on after damage."""

    def __init__(self) -> None:
        self.count = 0

    def __call__(self, error: H3nError) -> None:
        self.count += 1
        say(error)

    def finish(self) -> None:
        """Say how many there were and leave with 1, if there were any."""
        if self.count:
            say(f"{self.count} problem{'s' if self.count > 1 else ''}; what they concern was left out")
            raise typer.Exit(1)


class UntilError(Generic[Item]):
    """The items up to the first error, which is kept, so that all before it can be finished first."""

    def __init__(self, items: Iterable[Item]) -> None:
        self._items = items
        self.error: H3nError | None = None

    def __iter__(self) -> Iterator[Item]:
        try:
            yield from self._items
        except H3nError as error:
            self.error = error


def note_language(model: str, segmenter: Segmenter, input_format: str) -> None:
    """Say that text is cut as English is where the model's card names another language."""
    english = segmenter is ENGLISH and input_format in TEXTS
    language = language_of(locate(model)) if english else None
    if language is not None and language.lower() not in ("en", "eng", "english"):
        what = f"model {model} is for {language}, and text is cut into words as English; --from words takes others"
        say(what)


def progress(
    items: Iterable[Item], *, label: str, total: int | None = None, unit: str = " sentences"
) -> Iterator[Item]:
    """Yield the items; draw a bar if stderr is a terminal and the work takes longer than a moment."""
    if not sys.stderr.isatty():
        yield from items
        return
    yield from bar(items, desc=printable(label), total=total, unit=unit, delay=1.0)


def bar(items: Iterable[Any] | None = None, **options: Any) -> Any:
    """Return a bar of tqdm, which steers the terminal: what is written beside it has to be ours or printable."""
    from tqdm import tqdm

    return tqdm(items, file=steering(sys.stderr), leave=False, dynamic_ncols=True, **options)
