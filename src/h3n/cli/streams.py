"""Standard streams that somebody closed (`<&-`, `>&-`).

Python has None in their place, and the first file that is opened takes their number.
"""

from __future__ import annotations

import io
import os
import sys
from typing import NoReturn, TextIO, cast

from h3n.errors import InputError


def repair_streams() -> None:
    """Put something in place of closed standard streams that says so when it is used; a closed stderr swallows all."""
    if None not in (sys.stdin, sys.stdout, sys.stderr):
        return
    while (number := os.open(os.devnull, os.O_RDWR)) <= 2:  # so that no file of ours takes their numbers
        pass
    os.close(number)
    sys.stdin = sys.stdin or cast(TextIO, _Closed("standard input is closed"))
    sys.stdout = sys.stdout or cast(TextIO, _Closed("standard output is closed; name a file to write to"))
    sys.stderr = sys.stderr or open(os.devnull, "w")  # noqa: PTH123, SIM115 - a device, for the whole run


def silence_stdout() -> None:
    """Give out what can be given out, and keep the interpreter from failing at its end over what cannot."""
    try:
        sys.stdout.flush()
    except (OSError, ValueError):
        nothing = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nothing, 1)
        os.close(nothing)


class _Closed(io.TextIOBase):
    """A stream that can be asked about, and not used."""

    def __init__(self, reason: str) -> None:
        self._reason = reason

    def isatty(self) -> bool:
        return False

    def flush(self) -> None:
        """Nothing waits to be written."""

    @property
    def buffer(self) -> NoReturn:
        raise InputError(self._reason)

    def write(self, _text: str) -> NoReturn:
        raise InputError(self._reason)

    def read(self, _size: int | None = -1) -> NoReturn:
        raise InputError(self._reason)
