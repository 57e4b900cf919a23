"""Files as lines of text: paths and streams, compression, encoding, and what can be wrong with each.

A compressed file is recognised by its first bytes, so that its name does not matter. Text is UTF-8, with or without a
byte order mark; a line ends in ``\\n`` or ``\\r\\n`` and in nothing else (a word may hold U+2028).
"""

from __future__ import annotations

import bz2
import contextlib
import gzip
import io
import lzma
import os
import shutil
import sys
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, Any, BinaryIO, Literal, TypeAlias, cast

from h3n.errors import BadEncoding, CorruptInput, InputError, NulByte, Place, TruncatedInput
from h3n.formats.options import Problems

Source: TypeAlias = str | os.PathLike[str] | IO[str] | IO[bytes]

STANDARD = "-"
_Opener: TypeAlias = Callable[..., Any]
_OPENERS: dict[bytes, _Opener] = {b"\x1f\x8b": gzip.open, b"\xfd7zXZ\x00": lzma.open, b"BZh": bz2.open}
COMPRESSED: dict[str, _Opener] = {".gz": gzip.open, ".xz": lzma.open, ".bz2": bz2.open}
PIECE = 1 << 16
_UTF8_MARK = b"\xef\xbb\xbf"
_UTF16_MARKS = (b"\xff\xfe", b"\xfe\xff")


def name_of(source: Source) -> str:
    """Return what to call the source in a message."""
    if isinstance(source, str | os.PathLike):
        return "<stdin>" if source == STANDARD else os.fspath(source)
    return str(getattr(source, "name", "<text>"))


def newline_of(source: Source) -> Literal["\n", "\r\n"]:
    """Return the line end of a file, judged by its first line; of a stream, which cannot be read twice, the usual."""
    if not isinstance(source, str | os.PathLike) or source == STANDARD or not Path(source).is_file():
        return "\n"
    with _opened(source, name_of(source)) as handle:
        try:
            return "\r\n" if handle.readline(PIECE).endswith(b"\r\n") else "\n"
        except (OSError, EOFError, zlib.error, lzma.LZMAError):
            return "\n"  # reading says what is wrong with it


def read_lines(source: Source, problems: Problems) -> Iterator[str]:
    """Yield the lines without their ends."""
    for line in read_pieces(source, problems, size=-1):
        yield line.removesuffix("\n").removesuffix("\r")


def read_pieces(source: Source, problems: Problems, *, size: int = PIECE) -> Iterator[str]:
    """Yield the text line by line with the line ends, and a line longer than ``size`` bytes in several pieces.

    What is wrong with a line is said with its number. A problem that is not raised leaves U+FFFD behind.
    """
    name = name_of(source)
    line = 1
    start, held = _UTF8_MARK, b""
    with _opened(source, name) as handle:
        while True:
            try:
                raw = handle.readline(size)
            except EOFError:
                raise TruncatedInput(f"{name}:{line}: the compressed file stops short; get a complete copy") from None
            except (OSError, zlib.error, lzma.LZMAError) as error:
                raise CorruptInput(f"{name}:{line}: cannot be read: {error}") from None
            if not raw and not held:
                return
            raw, start = raw.removeprefix(start), b""
            number = line
            if 0 < size <= len(raw) and raw[-1:] != b"\n":
                raw, held = _whole_characters(held + raw)
            else:
                raw, held = held + raw, b""
                line += 1
            try:
                text = raw.decode()
            except UnicodeDecodeError as error:
                _report_encoding(raw, error.start, Place(name, number), problems)
                text = raw.decode(errors="replace")
            if "\0" in text and not raw.startswith(_UTF16_MARKS):
                found = f"a NUL byte at byte {raw.index(0) + 1} of the line"
                problems.found(NulByte(Place(name, number), found, "text"))
            yield text


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


@contextlib.contextmanager
def _opened(source: Source, name: str) -> Iterator[BinaryIO]:
    """Yield the source as plain bytes; what was opened here is closed here."""
    with contextlib.ExitStack() as stack:
        if isinstance(source, str | os.PathLike):
            handle = sys.stdin.buffer if source == STANDARD else stack.enter_context(_open_path(Path(source)))
        elif isinstance(source, io.TextIOBase):
            yield cast(BinaryIO, _Encoded(cast(IO[str], source)))
            return
        else:
            handle = cast(BinaryIO, source)
        yield _plain(handle, name, stack)


def check_readable(source: Source) -> None:
    """Raise unless the source can be opened: a path that leads nowhere, or to a folder."""
    if isinstance(source, str | os.PathLike) and source != STANDARD:
        _open_path(Path(source)).close()


def _open_path(path: Path) -> BinaryIO:
    try:
        return path.open("rb")
    except OSError as error:
        raise InputError(f"{path}: cannot be opened: {error.strerror or error}") from None


def _plain(handle: BinaryIO, name: str, stack: contextlib.ExitStack) -> BinaryIO:
    """Return the handle, or one that unpacks it where its first bytes are those of a compressed file."""
    buffered = handle if isinstance(handle, io.BufferedReader) else io.BufferedReader(cast(io.RawIOBase, handle))
    if buffered is not handle:
        stack.callback(_let_go, buffered)
    try:
        start = buffered.peek(6)
    except OSError as error:
        raise InputError(f"{name}: cannot be read: {error.strerror or error}") from None
    for magic, opener in _OPENERS.items():
        if start.startswith(magic):
            unpacked = stack.enter_context(opener(cast(BinaryIO, buffered), "rb"))
            return stack.enter_context(io.BufferedReader(_Unpacked(unpacked), PIECE))
    return cast(BinaryIO, buffered)


def _let_go(buffered: io.BufferedReader) -> None:
    """Keep the caller's stream from being closed with ours."""
    with contextlib.suppress(ValueError):  # the caller has closed it already
        buffered.detach()


class _Unpacked(io.RawIOBase):
    """A compressed file that gives what it can: where it breaks off, all before that has been read."""

    def __init__(self, packed: io.BufferedIOBase) -> None:
        self._packed = packed

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        part = self._packed.read1(len(buffer))
        buffer[: len(part)] = part
        return len(part)


class _Encoded:
    """A text stream that reads as bytes, so that there is one way to read lines."""

    def __init__(self, stream: IO[str]) -> None:
        self._stream = stream

    def readline(self, size: int = -1) -> bytes:
        return self._stream.readline(size).encode(errors="surrogatepass")


@contextlib.contextmanager
def opened_to_write(target: Source) -> Iterator[IO[str]]:
    """Yield a text stream to the target: a path (compressed as its ending says), ``-`` or an open text stream.

    A file appears under its name when it is complete: after an error the old one is still there.
    """
    if not isinstance(target, str | os.PathLike):
        yield cast(IO[str], target)
    elif target == STANDARD:
        stream = io.TextIOWrapper(sys.stdout.buffer, encoding="utf-8", newline="")
        try:
            yield stream
        finally:
            stream.detach().flush()
    else:
        path = Path(target).resolve()
        special = path.exists() and not path.is_file()  # a pipe or a device takes what comes
        part = path if special else path.with_name(f".{path.name}.{os.getpid()}.part")
        try:
            with _packed(part, path.suffix) as made:
                yield made
            if not special:
                if path.exists():
                    shutil.copymode(path, part)
                part.replace(path)
        except OSError as error:
            raise InputError(f"{target}: cannot be written: {error.strerror or error}") from None
        finally:
            if not special:
                part.unlink(missing_ok=True)


@contextlib.contextmanager
def _packed(path: Path, suffix: str) -> Iterator[IO[str]]:
    """Yield a text stream into the file. The same text makes the same file: no time stamp goes into it."""
    with contextlib.ExitStack() as stack:
        raw: Any = stack.enter_context(path.open("wb"))
        if suffix == ".gz":
            raw = stack.enter_context(gzip.GzipFile("", "wb", fileobj=raw, mtime=0))
        elif suffix in COMPRESSED:
            raw = stack.enter_context(COMPRESSED[suffix](raw, "wb"))
        yield stack.enter_context(io.TextIOWrapper(raw, encoding="utf-8", newline=""))
