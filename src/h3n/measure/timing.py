"""Clocks and repeated runs. Of several runs the fastest counts: other work on the machine only ever adds time."""

from __future__ import annotations

import math
import os
import re
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
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


def children_clock() -> float:
    """Return the processor time of all programs that this process has started and that have ended."""
    times = os.times()
    return times.children_user + times.children_system


def run_quietly(command: Sequence[str]) -> None:
    """Run another program and throw its output away."""
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


# Not `getrusage`: there the largest memory of a new process starts with that of the process which started it.
_MEMORY = """
import re, sys
from pathlib import Path
try:
    {program}
finally:
    print(re.search(r"VmHWM:\\s+(\\d+)", Path("/proc/self/status").read_text())[1], file=sys.stderr)
"""


def peak_memory(program: str, arguments: Sequence[str]) -> int:
    """Return the most memory in bytes that a line of Python takes in a process of its own (Linux alone)."""
    command = [sys.executable, "-c", _MEMORY.format(program=program), *arguments]
    said = subprocess.run(command, check=True, capture_output=True, text=True).stderr
    last = said.splitlines()[-1]
    if re.fullmatch(r"\d+", last) is None:
        raise ValueError(f"expected a number of kilobytes, found {last!r}")
    return int(last) * 1024


def has_peak_memory() -> bool:
    """Return whether this system says how much memory a process took."""
    return Path("/proc/self/status").is_file()
