"""What reaches the terminal: messages of one line, problems reported and counted, nothing that steers it.

Words, labels and file names come from anywhere. Control characters in them are shown (``\\x1b``) and not sent.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Iterator
from typing import Generic, TypeVar

import typer

from h3n.errors import H3nError
from h3n.models import language_of, locate

Item = TypeVar("Item")
ENGLISH = ("text", "lines")  # inputs of which the words are found by rules for English

_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")
_CONTROL_IN_TEXT = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")


def printable(line: str) -> str:
    """Return a line without anything that could steer a terminal or begin another line."""
    return _CONTROL.sub(lambda match: repr(match[0])[1:-1], line)


def printable_text(text: str) -> str:
    """Return a text of lines and tabs without anything else that could steer a terminal."""
    return _CONTROL_IN_TEXT.sub(lambda match: repr(match[0])[1:-1], text)


def say(message: object) -> None:
    """Write one line on standard error."""
    typer.echo(f"h3n: {printable(str(message))}", err=True)


class Shown:
    """Standard output for data formats: as it is, or printable where it is a terminal."""

    def write(self, text: str) -> int:
        return sys.stdout.write(printable_text(text))


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


def note_language(model: str, input_format: str) -> None:
    """Say that text is cut as English is where the model's card names another language."""
    language = language_of(locate(model)) if input_format in ENGLISH else None
    if language is not None and language.lower() not in ("en", "eng", "english"):
        what = f"model {model} is for {language}, and text is cut into words as English; --from words takes others"
        typer.echo(f"h3n: {what}", err=True)
