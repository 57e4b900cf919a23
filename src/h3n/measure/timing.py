"""Clocks and repeated runs. Of several runs the fastest counts: other work on the machine only ever adds time."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping
from typing import TypeVar

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
