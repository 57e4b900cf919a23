"""Files as lines of text: encoding, line ends, and what can be wrong with each.

Text is UTF-8, with or without a byte order mark; a line ends in ``\\n`` or ``\\r\\n`` and in nothing else (a word may
hold U+2028).
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, Literal

from h3n.errors import BadCharacter, BadEncoding, InputError, LineTooLong, NulByte, Place
from h3n.files import PIECE, STANDARD, Source, input_errors, name_of, opened
from h3n.formats.options import Problems

LONGEST = 1 << 24
"""Bytes of a line at most. No sentence comes near; a small compressed file can unpack to a line of any length."""

_UTF8_MARK = b"\xef\xbb\xbf"
_UTF16_MARKS = (b"\xff\xfe", b"\xfe\xff")


def newline_of(source: Source) -> Literal["\n", "\r\n"]:
    """Return the line end of a file, judged by its first line; of a stream, which cannot be read twice, the usual."""
    if not isinstance(source, str | os.PathLike) or source == STANDARD or not Path(source).is_file():
        return "\n"
    with opened(source) as handle:
        try:
            with input_errors(name_of(source), "read"):
                return "\r\n" if handle.readline(PIECE).endswith(b"\r\n") else "\n"
        except InputError:
            return "\n"  # reading says what is wrong with it


def read_lines(source: Source, problems: Problems) -> Iterator[str]:
    """Yield the lines without their ends. Of a line that is too long, or has a carriage return inside, U+FFFD."""
    name = name_of(source)
    for number, line in enumerate(_limited(source, problems), start=1):
        line = line.removesuffix("\n").removesuffix("\r")
        if "\r" in line:
            place, found = Place(name, number), "a carriage return inside the line"
            problems.found(BadCharacter(place, found, "lines that end in \\n or \\r\\n"))
            line = "\ufffd"
        yield line


def read_limited(source: Source, problems: Problems) -> Iterator[str]:
    """Yield the text as `read_pieces` does, but a line that is too long is a problem, and what follows is left out."""
    name = name_of(source)
    number, length = 1, 0
    for piece in read_pieces(source, problems):
        length += len(piece)
        if length <= LONGEST:
            yield piece
        elif length - len(piece) <= LONGEST:
            problems.found(_too_long(Place(name, number)))
        if piece[-1:] == "\n":
            if length > LONGEST:
                yield "\n"
            number, length = number + 1, 0


def _limited(source: Source, problems: Problems) -> Iterator[str]:
    """Yield whole lines; U+FFFD for one that is too long."""
    name = name_of(source)
    number = 0
    rest = False  # of a line that was too long
    for piece in read_pieces(source, problems, size=LONGEST):
        ended = piece[-1:] == "\n"
        if not rest:
            number += 1
            if not ended and len(piece.encode()) > LONGEST - 4:
                problems.found(_too_long(Place(name, number)))
                piece = "\ufffd"
            yield piece
        rest = not ended


def _too_long(place: Place) -> LineTooLong:
    return LineTooLong(place, f"a line of more than {LONGEST:,} bytes", f"lines of at most {LONGEST:,} bytes")


def read_pieces(source: Source, problems: Problems, *, size: int = PIECE) -> Iterator[str]:
    """Yield the text line by line with the line ends, and a line longer than ``size`` bytes in several pieces.

    What is wrong with a line is said with its number. A problem that is not raised leaves U+FFFD behind.
    """
    name = name_of(source)
    line = 1
    start, held = _UTF8_MARK, b""
    with opened(source) as handle:
        while raw := _read_line(handle, size, f"{name}:{line}") or held:
            if raw is held:
                held = b""
            raw, start = raw.removeprefix(start), b""
            number = line
            if 0 < size <= len(raw) and raw[-1:] != b"\n":
                raw, held = _whole_characters(held + raw)
            else:
                raw, held = held + raw, b""
                line += 1
            yield _decoded(raw, Place(name, number), problems)


def _read_line(handle: BinaryIO, size: int, place: str) -> bytes:
    with input_errors(place, "read"):
        return handle.readline(size)


def _decoded(raw: bytes, place: Place, problems: Problems) -> str:
    try:
        text = raw.decode()
    except UnicodeDecodeError as error:
        _report_encoding(raw, error.start, place, problems)
        text = raw.decode(errors="replace")
    if "\0" in text and not raw.startswith(_UTF16_MARKS):
        problems.found(NulByte(place, f"a NUL byte at byte {raw.index(0) + 1} of the line", "text"))
    return text


def _whole_characters(raw: bytes) -> tuple[bytes, bytes]:
    """Return the bytes up to the last character that may be incomplete, and the rest."""
    cut = len(raw)
    while cut > len(raw) - 4 and raw[cut - 1] & 0xC0 == 0x80:
        cut -= 1
    return (raw[: cut - 1], raw[cut - 1 :]) if raw[cut - 1] >= 0xC0 else (raw, b"")


def _report_encoding(raw: bytes, at: int, place: Place, problems: Problems) -> None:
    found = f"byte 0x{raw[at]:02X} at byte {at + 1} of the line, which is not UTF-8"
    if raw.startswith(_UTF16_MARKS):
        found = "UTF-16"
    problems.found(BadEncoding(place, found, "UTF-8 text (convert the file, for example with iconv)"))
