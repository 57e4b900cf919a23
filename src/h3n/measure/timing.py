"""Clocks and repeated runs, and how times grow with the length of sentences.

Of several runs the fastest counts: other work on the machine only ever adds time.
"""

from __future__ import annotations

import math
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

T = TypeVar("T")
Clock = Callable[[], float]


def least(action: Callable[[], object], *, repeat: int, clock: Clock = time.process_time) -> float:
    """Return the seconds of the fastest of several runs."""
    return least_with_result(action, repeat=repeat, clock=clock)[1]


def least_with_result(action: Callable[[], T], *, repeat: int = 1, clock: Clock = time.process_time) -> tuple[T, float]:
    """Return what the last run returned, and the seconds of the fastest one."""
    best = math.inf
    for _ in range(repeat):
        started = clock()
        result = action()
        best = min(best, clock() - started)
    return result, best


def least_within(action: Callable[[], object], *, seconds: float, clock: Clock = time.process_time) -> float:
    """Return the seconds of the fastest run, of as many as fit into the given seconds and at least two."""
    best, spent, runs = math.inf, 0.0, 0
    while spent < seconds or runs < 2:
        taken = least(action, repeat=1, clock=clock)
        best, spent, runs = min(best, taken), spent + taken, runs + 1
    return best


def least_in_turns(
    actions: Mapping[str, Callable[[], object]], *, repeat: int, clock: Clock = time.process_time
) -> dict[str, float]:
    """Return the seconds of each action's fastest run. The actions take turns, so that all meet the same machine."""
    best = dict.fromkeys(actions, math.inf)
    for _ in range(repeat):
        for name, action in actions.items():
            best[name] = min(best[name], least(action, repeat=1, clock=clock))
    return best


STEP = 1.12  # from one point of a curve to the next, in length


@dataclass(frozen=True, slots=True)
class Timing:
    """What some sentences of like length took together; ``words`` is their mean length."""

    words: float
    sentences: int
    seconds: float


def fit_exponent(points: Iterable[tuple[float, float]], *, above: float) -> float | None:
    """Return the slope of log time over log length by least squares; None for fewer than two points.

    Lengths up to ``above`` are left out: short sentences are mostly fixed costs.
    """
    long = [(words, taken) for words, taken in points if words > above]
    if len(long) < 2:
        return None
    x, y = np.log(np.array(long)).T
    return float(np.polyfit(x, y, 1)[0])


def curve_of(timings: Sequence[Timing], *, pivot: float) -> list[dict[str, float]]:
    """Return milliseconds per sentence over length, one point for sentences of about one length.

    One point ends at ``pivot`` words.
    """
    groups: dict[int, list[Timing]] = defaultdict(list)
    for timing in timings:
        groups[math.ceil(math.log(timing.words / pivot, STEP))].append(timing)
    points = []
    for _, group in sorted(groups.items()):
        sentences = sum(timing.sentences for timing in group)
        words = sum(timing.words * timing.sentences for timing in group) / sentences
        milliseconds = 1000 * sum(timing.seconds for timing in group) / sentences
        points.append({"words": words, "sentences": sentences, "milliseconds": milliseconds})
    return points


def extrapolate(timings: Sequence[Timing], lengths: Sequence[int], *, power: int) -> tuple[float, float]:
    """Return the seconds that sentences of these lengths take, and the relative standard error.

    If all were measured, the sum. Otherwise the time of those measured, single sentences, in proportion to a power of
    the length; the error is NaN if only one was.
    """
    seconds = np.array([timing.seconds for timing in timings])
    measured = sum(timing.sentences for timing in timings)
    if measured >= len(lengths):
        return float(seconds.sum()), 0.0
    powers = np.array([timing.words**power for timing in timings])
    rate = seconds.sum() / powers.sum()
    total = rate * float((np.array(lengths, dtype=np.float64) ** power).sum())
    if measured < 2:
        return float(total), math.nan
    # Of a ratio estimator, for a sample out of a finite number.
    spread = (1 - measured / len(lengths)) * ((seconds - rate * powers) ** 2).sum() / (measured - 1)
    return float(total), float(math.sqrt(spread / measured) / seconds.mean())


def spread(lengths: Sequence[int], count: int) -> list[int]:
    """Return the indices of so many lengths, each the middle one of a part of equal size; all of them for 0."""
    if not 0 < count < len(lengths):
        return list(range(len(lengths)))
    order = sorted(range(len(lengths)), key=lengths.__getitem__)
    return sorted(order[int((part + 0.5) * len(order) / count)] for part in range(count))
