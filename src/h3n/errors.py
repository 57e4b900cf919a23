"""The exception tree: everything h3n raises on purpose.

H3nError
├── UsageError            an option or argument that cannot be used as given
│   └── UnknownName       a name that is in none of our tables; lists the known ones
├── InputError            a file that cannot be opened or read to its end
├── FormatError           damage inside a file, with file, line and what was expected; one subclass per kind
├── MismatchError         two things that should be parallel are not (words, sentence counts)
├── TreeError             a tree that breaks a rule (cycle, two roots, head out of range, empty constituent)
├── JoinError             strict joining met a phrase tree and a dependency tree that disagree
└── DecodeError           scores that cannot be decoded (NaN, wrong shape, contradicting constraints, too large)

The command line turns each of these into one line on stderr and exit code 2.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Place:
    """Where in the input something stands; prints as ``file:line``."""

    file: str
    line: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}"


class H3nError(Exception):
    """Anything h3n raises on purpose."""


class UsageError(H3nError):
    """An option or argument that cannot be used as given."""


class UnknownName(UsageError):
    """A name that is in none of our tables."""

    def __init__(self, kind: str, name: str, known: Iterable[str]) -> None:
        super().__init__(f"unknown {kind} {name!r}; known: {', '.join(sorted(known))}")


class InputError(H3nError):
    """A file that cannot be opened or read to its end."""


class FormatError(H3nError):
    """Damage inside a file. ``place`` is where, ``found`` what stands there, ``expected`` what should."""

    def __init__(self, place: Place, found: str, expected: str) -> None:
        super().__init__(f"{place}: {found}; expected {expected}")
        self.place = place
        self.found = found
        self.expected = expected


class MismatchError(H3nError):
    """Two things that should be parallel are not."""


class TreeError(H3nError):
    """A tree that breaks a rule."""


class JoinError(H3nError):
    """A phrase tree and a dependency tree that disagree, met in strict mode."""


class DecodeError(H3nError):
    """Scores that cannot be decoded."""
