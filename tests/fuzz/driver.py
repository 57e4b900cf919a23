"""Runs targets on many inputs and counts what goes wrong.

Every input follows from the seed, the target's name and the input's number alone, so that a finding can be had again.
"""

from __future__ import annotations

import contextlib
import time
import traceback
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from random import Random

from h3n.errors import H3nError

SLOW = 5.0  # seconds of processor time for one input


@dataclass(frozen=True)
class Target:
    """A part of h3n: how an input for it is made, and what must hold of any. An `H3nError` of one line is fine.

    Of so many inputs in all, each target gets a part by its share: those that take little time get most.
    """

    make: Callable[[Random], bytes]
    attempt: Callable[[bytes], None]
    share: int = 1


@dataclass(frozen=True)
class Finding:
    """An input with which something went wrong."""

    target: str
    content: bytes
    kind: str  # traceback, loss, hang
    said: str


@dataclass
class Counts:
    """What came of the inputs of a target."""

    inputs: int = 0
    refused: int = 0
    findings: list[Finding] = field(default_factory=list)


def fuzz(name: str, target: Target, *, seed: int, inputs: int | None = None, seconds: float | None = None) -> Counts:
    """Return what came of so many inputs, or of as many as fit into the time."""
    counts = Counts()
    until = None if seconds is None else time.monotonic() + seconds
    while (inputs is None or counts.inputs < inputs) and (until is None or time.monotonic() < until):
        content = target.make(Random(f"{seed}/{name}/{counts.inputs}"))
        counts.inputs += 1
        try_one(name, target, content, counts)
        if len(counts.findings) >= 20:  # more of the same does not help
            break
    return counts


def try_one(name: str, target: Target, content: bytes, counts: Counts) -> None:
    """Try one input and count what comes of it."""
    start = time.perf_counter()
    try:
        target.attempt(content)
    except H3nError as error:
        counts.refused += 1
        if "\n" in str(error):
            counts.findings.append(Finding(name, content, "lines", f"more than one line: {error}"))
    except AssertionError as error:
        counts.findings.append(Finding(name, content, "loss", _where(error)))
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # panics of libraries in Rust are no `Exception`
        counts.findings.append(Finding(name, content, "traceback", _where(error)))
    if time.perf_counter() - start > SLOW and _processor_time(target, content) > SLOW:
        counts.findings.append(Finding(name, content, "hang", f"more than {SLOW:g} s"))


def _processor_time(target: Target, content: bytes) -> float:
    """Return what an input costs without the rest of the machine. Asking this clock for each would take too long."""
    start = time.process_time()
    with contextlib.suppress(Exception):
        target.attempt(content)
    return time.process_time() - start


@contextlib.contextmanager
def one_line(kind: type[Exception]) -> Iterator[None]:
    """Take an error of this kind, if it is one line."""
    try:
        yield
    except kind as error:
        if "\n" in str(error):
            raise AssertionError(f"more than one line: {error}") from None


def portions(targets: dict[str, Target], inputs: int) -> dict[str, int]:
    """Return how many of all inputs each target gets: at least one."""
    whole = sum(target.share for target in targets.values())
    return {name: max(1, inputs * target.share // whole) for name, target in targets.items()}


def _where(error: BaseException) -> str:
    frames = traceback.extract_tb(error.__traceback__)
    places = " < ".join(f"{frame.name}:{frame.lineno}" for frame in reversed(frames[-4:]))
    return f"{type(error).__name__}: {str(error)[:300]} at {places}"
