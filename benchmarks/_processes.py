"""Other programs: their processor time and their memory."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Sequence


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
