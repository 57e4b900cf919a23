"""Standard streams: those that somebody closed, and those that lead to a terminal.

In place of a closed one (`<&-`, `>&-`) Python has None, and the first file that is opened takes its number.

Words, labels, cards, names of files and answers of servers come from anywhere, and a terminal obeys what is in them. So
a standard stream that is a terminal gets a guard as its lowest layer, which shows control characters, escape sequences
and marks that turn the direction of writing (``\\x1b``) and does not send them. Whatever writes there passes it:
`print`, `typer.echo`, a format's writer, a warning of a library, a traceback. Only `steering` leads past it, for the
colours and progress lines that h3n makes itself. Files and pipes get every byte as it is.
"""

from __future__ import annotations

import codecs
import io
import os
import re
import sys
from typing import Any, BinaryIO, NoReturn, TextIO, cast

from h3n.errors import InputError

NAMES = "h3n.names"  # how a stream writes what is not a character: a byte of a file's name as that byte, else escaped
_TURNS = "\u202a-\u202e\u2066-\u2069"  # marks that turn the direction of writing round
_STEERING = re.compile(f"[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff{_TURNS}]")
_STEERING_A_LINE = re.compile(f"[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff{_TURNS}]")


def printable(line: str) -> str:
    """Return a line without anything that could steer a terminal or begin another line."""
    return _STEERING_A_LINE.sub(_shown, line)


def printable_text(text: str) -> str:
    """Return a text of lines and tabs without anything else that could steer a terminal."""
    return _STEERING.sub(_shown, text)


def _shown(match: re.Match[str]) -> str:
    code = ord(match[0])
    if 0xDC80 <= code <= 0xDCFF:  # a byte of a name that is not UTF-8
        return f"\\x{code - 0xDC00:02x}"
    return match[0].encode("unicode_escape").decode()


def prepare_streams() -> None:
    """Make the standard streams fit for use: those that are closed say so, those that are terminals are guarded."""
    repair_streams()
    codecs.register_error(NAMES, _write_name)
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if isinstance(stream, io.TextIOWrapper) and not isinstance(stream, Guarded):
            if stream.isatty():
                setattr(sys, name, Guarded(stream))
            elif name == "stdout":
                stream.reconfigure(errors=NAMES)


def steering(stream: TextIO) -> TextIO:
    """Return the stream without its guard: for text in which everything that steers is of our own making."""
    return stream.unguarded if isinstance(stream, Guarded) else stream


class Guarded(io.TextIOWrapper):
    """A standard stream that is a terminal, with the guard below it; bytes written to its buffer pass it too."""

    def __init__(self, stream: io.TextIOWrapper) -> None:
        guard = cast(BinaryIO, _Guard(stream))
        super().__init__(guard, encoding="utf-8", errors=NAMES, line_buffering=True)
        self.unguarded = stream


class _Guard(io.BufferedIOBase):
    """Bytes in UTF-8 on their way to a terminal."""

    def __init__(self, stream: io.TextIOWrapper) -> None:
        self._stream = stream
        self._decoder = codecs.getincrementaldecoder("utf-8")("surrogateescape")

    def write(self, part: Any, /) -> int:
        shown = printable_text(self._decoder.decode(bytes(part)))
        self._stream.buffer.write(shown.encode(self._stream.encoding, "backslashreplace"))
        return len(bytes(part))

    def flush(self) -> None:
        self._stream.buffer.flush()

    def writable(self) -> bool:
        return True

    def isatty(self) -> bool:
        return True

    def fileno(self) -> int:
        return self._stream.fileno()


def _write_name(error: UnicodeError) -> tuple[str | bytes, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    try:
        return codecs.lookup_error("surrogateescape")(error)
    except UnicodeError:
        return codecs.lookup_error("backslashreplace")(error)


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
