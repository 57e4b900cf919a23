"""The exception tree: everything h3n raises on purpose.

H3nError
├── UsageError            an option or argument that cannot be used as given
│   ├── UnknownName       a name that is in none of our tables; lists the known ones
│   └── MissingExtra      something whose optional dependency is not installed; names the extra
├── InputError            a file that cannot be opened or read to its end
│   ├── TruncatedInput    a compressed file that stops short
│   └── CorruptInput      a compressed file whose contents make no sense
├── FormatError           damage inside a file, with file, line and what was expected; one subclass per kind
│   ├── BadEncoding       bytes that are not UTF-8
│   ├── NulByte           a byte 0 in what should be text
│   ├── BadCharacter      a character that cannot stand there: a tab in a word, half a surrogate pair
│   ├── LineTooLong       a line or a tree longer than any sentence
│   ├── UnbalancedBrackets   an opening bracket that is never closed, or a closing one that was never opened
│   ├── EmptyConstituent  a bracket with nothing in it
│   ├── TextOutsideBrackets  words between trees
│   ├── WrongColumnCount  a CoNLL row that does not have ten columns
│   ├── EmptyField        a CoNLL column with nothing in it, or a sentence without words
│   ├── BadWordNumber     a CoNLL row out of order
│   ├── BadRange          a multiword range or an empty node that does not fit its neighbours
│   ├── BadHead           a head that is not the number of a word
│   ├── RootCount         no root word, or more than one
│   ├── CyclicHeads       words that govern themselves through others
│   ├── MisplacedLine     a comment inside a sentence, an empty line too many or too few
│   ├── BadJson           a line that is not a JSON object of our schema
│   └── NotUniversal      a rule of Universal Dependencies that is not kept
├── MismatchError         two things that should be parallel are not (words, sentence counts)
├── TreeError             a tree that breaks a rule (cycle, two roots, head out of range, empty constituent)
├── JoinError             strict joining met a phrase tree and a dependency tree that disagree
├── DecodeError           scores that cannot be decoded (NaN, wrong shape, contradicting constraints, too large)
├── ServiceError          a service that cannot be reached or refuses a request; ``status`` is what it answered
└── TrainingError         a run that cannot go on (loss not a number, disk full); the last checkpoint is whole

The command line turns each of these into one line on stderr and exit code 2.
"""

from __future__ import annotations

import traceback
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import PurePath


@dataclass(frozen=True, slots=True)
class Place:
    """Where in the input something stands; prints as ``file:line``."""

    file: str
    line: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}"


class H3nError(Exception):
    """Anything h3n raises on purpose."""


def first_line(error: BaseException) -> str:
    """Return the first line of an error of another library, or its kind where it says nothing."""
    return (str(error).strip().splitlines() or [type(error).__name__])[0]


def in_one_line(error: BaseException) -> str:
    """Return what an exception says; of one that nobody foresaw also its kind, and where it was raised."""
    lines = str(error).strip().splitlines()
    if isinstance(error, H3nError) and lines:
        return " ".join(lines)
    said = f"{type(error).__name__}: {lines[0]}" if lines else type(error).__name__
    frames = traceback.extract_tb(error.__traceback__)
    return f"{said} ({PurePath(frames[-1].filename).name}, line {frames[-1].lineno})" if frames else said


class UsageError(H3nError):
    """An option or argument that cannot be used as given."""


class UnknownName(UsageError):
    """A name that is in none of our tables."""

    def __init__(self, kind: str, name: str, known: Iterable[str]) -> None:
        super().__init__(f"unknown {kind} {name!r}; known: {', '.join(sorted(known)) or 'none'}")


class MissingExtra(UsageError):
    """Something whose optional dependency is not installed."""

    def __init__(self, what: str, extra: str) -> None:
        super().__init__(f"{what} need the extra {extra!r}, which is not installed: pip install 'h3n[{extra}]'")


# Modules that an installation for parsing may lack -> what they are for, and the extra that brings them.
_EXTRAS = {
    "torch": ("networks of torch", "train"),
    "transformers": ("encoders of transformers", "train"),
    "huggingface_hub": ("models on the hub", "hub"),
    "fsspec": ("corpora", "corpus"),
    "httpx": ("clients of the service", "client"),
}


def missing_extra(error: ModuleNotFoundError) -> ModuleNotFoundError | MissingExtra:
    """Return the error as one that names the extra to install, where the missing module is of one."""
    known = _EXTRAS.get((error.name or "").partition(".")[0])
    return error if known is None else MissingExtra(*known)


class InputError(H3nError):
    """A file that cannot be opened or read to its end."""


class FormatError(H3nError):
    """Damage inside a file. ``place`` is where, ``found`` what stands there, ``expected`` what should."""

    def __init__(self, place: Place, found: str, expected: str) -> None:
        super().__init__(f"{place}: {found}; expected {expected}")
        self.place = place
        self.found = found
        self.expected = expected


class TruncatedInput(InputError):
    """A compressed file that stops short."""


class CorruptInput(InputError):
    """A compressed file whose contents make no sense."""


class BadEncoding(FormatError):
    """Bytes that are not UTF-8."""


class NulByte(FormatError):
    """A byte 0 in what should be text."""


class BadCharacter(FormatError):
    """A character that cannot stand there: a tab in a word, half a surrogate pair."""


class LineTooLong(FormatError):
    """A line or a tree longer than any sentence."""


class UnbalancedBrackets(FormatError):
    """An opening bracket that is never closed, or a closing one that was never opened."""


class EmptyConstituent(FormatError):
    """A bracket with nothing in it."""


class TextOutsideBrackets(FormatError):
    """Words between trees."""


class WrongColumnCount(FormatError):
    """A CoNLL row that does not have ten columns."""


class EmptyField(FormatError):
    """A CoNLL column with nothing in it, or a sentence without words."""


class BadWordNumber(FormatError):
    """A CoNLL row out of order."""


class BadRange(FormatError):
    """A multiword range or an empty node that does not fit its neighbours."""


class BadHead(FormatError):
    """A head that is not the number of a word."""


class RootCount(FormatError):
    """No root word, or more than one."""


class CyclicHeads(FormatError):
    """Words that govern themselves through others."""


class MisplacedLine(FormatError):
    """A comment inside a sentence, an empty line too many or too few."""


class BadJson(FormatError):
    """A line that is not a JSON object of our schema."""


class NotUniversal(FormatError):
    """A rule of Universal Dependencies that is not kept."""


class MismatchError(H3nError):
    """Two things that should be parallel are not."""


class TreeError(H3nError):
    """A tree that breaks a rule."""


class JoinError(H3nError):
    """A phrase tree and a dependency tree that disagree, met in strict mode."""


class DecodeError(H3nError):
    """Scores that cannot be decoded: ``reason`` says why, ``sentence`` is the number of the sentence in its batch."""

    def __init__(self, reason: str, *, sentence: int | None = None) -> None:
        super().__init__(reason if sentence is None else f"sentence {sentence} of the batch: {reason}")
        self.reason = reason
        self.sentence = sentence


class ServiceError(H3nError):
    """A service that cannot be reached (``status`` is None) or that refuses a request."""

    def __init__(self, reason: str, *, status: int | None = None) -> None:
        super().__init__(reason)
        self.status = status


class TrainingError(H3nError):
    """A training run that cannot go on; what it has written so far is whole."""
