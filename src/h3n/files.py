"""Files: opening them, compression, checksums, and writing that leaves a whole file or folder, or none.

A compressed file is recognised by its first bytes when it is read, so that its name does not matter, and made by its
ending when it is written. What is written stands under a temporary name until it is complete and on the disk; then it
takes its place in one step. After an error, or a signal that ends the program, the old file is still there.
An `OSError` of the operating system becomes an `InputError` of one line here and nowhere else.
"""

from __future__ import annotations

import bz2
import contextlib
import errno
import gzip
import hashlib
import io
import json
import lzma
import os
import secrets
import shutil
import stat
import sys
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, Any, BinaryIO, TypeAlias, cast

from h3n.errors import CorruptInput, InputError, TruncatedInput

Source: TypeAlias = str | os.PathLike[str] | IO[str] | IO[bytes]
STANDARD = "-"
PIECE = 1 << 16
LARGEST = 1 << 28  # bytes of a file that is read as a whole, unpacked
_Opener: TypeAlias = Callable[..., Any]
_OPENERS: dict[bytes, _Opener] = {b"\x1f\x8b": gzip.open, b"\xfd7zXZ\x00": lzma.open, b"BZh": bz2.open}
COMPRESSED: dict[str, _Opener] = {".gz": gzip.open, ".xz": lzma.open, ".bz2": bz2.open}
_DRAFT = ".h3n-"  # how temporary names begin; they are short, since the name they stand for may be as long as it can be


def name_of(source: Source) -> str:
    """Return what to call the source in a message."""
    if not isinstance(source, str | os.PathLike):
        return shown_name(str(getattr(source, "name", "<text>")))
    return "<stdin>" if source == STANDARD else shown_name(os.fspath(source))


def shown_name(name: str) -> str:
    """Return the name of a file as it can be written anywhere: bytes that are not UTF-8 as ``\\xff``."""
    try:
        return name.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
    except UnicodeEncodeError:  # half a surrogate pair that stands for no byte: no file has this name
        return name.encode("utf-8", "backslashreplace").decode("utf-8")


def is_regular(path: str | os.PathLike[str]) -> bool:
    """Return whether a path leads to a regular file: no folder, and no pipe, socket or device, which may never end."""
    return os.path.isfile(path)  # noqa: PTH113 - pathlib's raises for names that no file can have


def read_regular(path: Path, *, largest: int = LARGEST) -> bytes:
    """Return the contents of a file that somebody else chose the name of; what is not a regular file is refused."""
    with input_errors(path, "read"):
        handle = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))  # a pipe would wait for somebody to write
        with os.fdopen(handle, "rb") as opened_file:
            if not stat.S_ISREG(os.fstat(handle).st_mode):
                raise InputError(f"{path}: not a regular file; expected one, no pipe and no device")
            content = opened_file.read(largest + 1)
    if len(content) > largest:
        raise InputError(f"{path}: more than {largest:,} bytes; a file of this kind may have no more")
    return content


@contextlib.contextmanager
def input_errors(name: object, what: str) -> Iterator[None]:
    """Turn what the operating system says about a file into an `InputError`: ``name: cannot be WHAT: why``."""
    try:
        yield
    except BrokenPipeError:
        raise  # whoever read our output went away, which is not an error of a file
    except (OSError, shutil.Error) as error:
        raise InputError(f"{name}: cannot be {what}: {reason(error)}") from None


def reason(error: OSError) -> str:
    """Return why the operating system refused, or another file system: not all of them say why in words."""
    return error.strerror or (os.strerror(errno.ENOENT) if isinstance(error, FileNotFoundError) else str(error))


@contextlib.contextmanager
def opened(source: Source) -> Iterator[BinaryIO]:
    """Yield the source as plain bytes, unpacked; what was opened here is closed here."""
    with contextlib.ExitStack() as stack:
        if isinstance(source, str | os.PathLike):
            handle = _standard_input() if source == STANDARD else stack.enter_context(_open_path(Path(source)))
        elif isinstance(source, io.TextIOBase):
            yield cast(BinaryIO, _Encoded(cast(IO[str], source)))
            return
        else:
            handle = cast(BinaryIO, source)
        yield _plain(handle, name_of(source), stack)


@contextlib.contextmanager
def unpacking_errors(place: Callable[[], str]) -> Iterator[None]:
    """Turn what goes wrong while bytes are read into the error it is, at the place it has come to."""
    try:
        yield
    except EOFError:
        raise TruncatedInput(f"{place()}: the compressed file stops short; get a complete copy") from None
    except (OSError, zlib.error, lzma.LZMAError) as error:
        raise CorruptInput(f"{place()}: cannot be read: {error}") from None


def read_bytes(path: Path, *, largest: int = LARGEST) -> bytes:
    """Return the contents of a file, unpacked, for formats that cannot be read line by line."""
    with opened(path) as handle, unpacking_errors(lambda: str(path)):
        content = handle.read(largest + 1)
    if len(content) > largest:
        raise InputError(f"{path}: more than {largest:,} bytes when unpacked; a file read as a whole may have no more")
    return content


def check_readable(source: Source) -> None:
    """Raise unless the source can be opened: a path that leads nowhere, or to a folder."""
    if isinstance(source, str | os.PathLike) and source != STANDARD:
        _open_path(Path(source)).close()


def _standard_input() -> BinaryIO:
    if sys.stdin is None:
        raise InputError("<stdin>: cannot be read: standard input is closed")
    return cast(BinaryIO, sys.stdin.buffer)


def _open_path(path: Path) -> BinaryIO:
    with input_errors(path, "opened"), contextlib.suppress(ValueError):  # a NUL, or half a surrogate pair
        return path.open("rb")
    raise InputError(f"{str(path)!a}: cannot be opened: a file cannot have this name")


def _plain(handle: BinaryIO, name: str, stack: contextlib.ExitStack) -> BinaryIO:
    """Return the handle, or one that unpacks it where its first bytes are those of a compressed file."""
    buffered = handle if isinstance(handle, io.BufferedReader) else io.BufferedReader(cast(io.RawIOBase, handle))
    if buffered is not handle:
        stack.callback(_let_go, buffered)
    with input_errors(name, "read"):
        start = buffered.peek(6)
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
    """Yield a text stream to the target: a path (compressed as its ending says), ``-`` or an open text stream."""
    if not isinstance(target, str | os.PathLike):
        yield cast(IO[str], target)
    elif target == STANDARD:
        if sys.stdout is None:
            raise InputError("<stdout>: cannot be written: standard output is closed")
        stream = io.TextIOWrapper(sys.stdout.buffer, encoding="utf-8", newline="")
        try:
            with input_errors("<stdout>", "written"):
                yield stream
                stream.flush()
        finally:
            with contextlib.suppress(OSError):  # said already, or somebody else's error is on its way
                stream.detach()
    else:
        with written_file(target) as raw, _packed(raw, Path(target).suffix) as packed:
            yield packed


@contextlib.contextmanager
def _packed(raw: BinaryIO, suffix: str) -> Iterator[IO[str]]:
    """Yield a text stream into the file. The same text makes the same file: no time stamp goes into it."""
    with contextlib.ExitStack() as stack:
        packed: Any = raw
        if suffix == ".gz":
            packed = stack.enter_context(gzip.GzipFile("", "wb", fileobj=raw, mtime=0))
        elif suffix in COMPRESSED:
            packed = stack.enter_context(COMPRESSED[suffix](raw, "wb"))
        text = io.TextIOWrapper(packed, encoding="utf-8", newline="")
        yield text
        text.flush()
        text.detach()


@contextlib.contextmanager
def written_file(target: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """Yield a file to write bytes into, which takes its place under its name when it is complete."""
    path = Path(os.path.realpath(target))
    with input_errors(target, "written"), contextlib.ExitStack() as stack:
        if path.is_symlink():  # the real path has none left unless they go round in circles
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))
        if path.exists() and not path.is_file():  # a pipe or a device takes what comes
            yield stack.enter_context(path.open("wb"))
        else:
            yield stack.enter_context(stack.enter_context(drafted(path)).open("xb"))


@contextlib.contextmanager
def drafted(path: Path) -> Iterator[Path]:
    """Yield a temporary name; the file that is written there takes the place of ``path`` when it is complete."""
    draft = draft_of(path)
    try:
        yield draft
        _sync(draft)
        if path.exists():
            shutil.copymode(path, draft)
        draft.replace(path)
        _sync_folder(path.parent)
    finally:
        draft.unlink(missing_ok=True)


def write_text(path: Path, text: str) -> None:
    """Write a text file, which appears whole."""
    with written_file(path) as handle:
        handle.write(text.encode())


def write_json(path: Path, value: Any) -> None:
    """Write plain values as indented JSON."""
    write_text(path, json.dumps(value, ensure_ascii=False, indent=2) + "\n")


@contextlib.contextmanager
def written_folder(folder: Path) -> Iterator[Path]:
    """Yield a fresh folder to write into, which takes the place of ``folder`` when it is complete."""
    with input_errors(folder, "written"):
        folder.parent.mkdir(parents=True, exist_ok=True)
        draft = draft_of(folder)
        try:
            draft.mkdir()
            yield draft
            for path in filter(Path.is_file, sorted(draft.rglob("*"))):
                _sync(path)
            _sync_folder(draft)
            _put_in_place(draft, folder)
        finally:
            shutil.rmtree(draft, ignore_errors=True)


def _put_in_place(draft: Path, folder: Path) -> None:
    """Rename the draft; a folder that is in the way is moved aside first, and found again by `restore_folder`."""
    old = _aside(folder)
    shutil.rmtree(old, ignore_errors=True)
    if folder.exists():
        folder.rename(old)
    draft.rename(folder)
    _sync_folder(folder.parent)
    shutil.rmtree(old, ignore_errors=True)


def restore_folder(folder: Path) -> None:
    """Put back a folder that was moved aside when its replacement was interrupted."""
    if _aside(folder).is_dir() and not folder.exists():
        _aside(folder).rename(folder)


def _aside(folder: Path) -> Path:
    return folder.with_name(f".{folder.name}.old")


def draft_of(path: Path) -> Path:
    """Return a temporary name beside a path."""
    return path.with_name(f"{_DRAFT}{os.getpid()}-{secrets.token_hex(4)}.part")


def remove_drafts(folder: Path) -> None:
    """Remove what killed processes left unfinished in a folder that nobody else is writing to."""
    for draft in folder.glob(f"{_DRAFT}*.part"):
        shutil.rmtree(draft, ignore_errors=True) if draft.is_dir() else draft.unlink(missing_ok=True)


def _sync(path: Path) -> None:
    handle = os.open(path, os.O_RDWR if os.name == "nt" else os.O_RDONLY)  # Windows flushes what may be written to
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _sync_folder(folder: Path) -> None:
    with contextlib.suppress(OSError):  # a renaming is made to last where the system lets us
        _sync(folder)


def checksum(path: Path) -> str:
    """Return the SHA-256 of a file's bytes."""
    with input_errors(path, "read"), path.open("rb") as handle:
        return hashlib.file_digest(handle, "sha256").hexdigest()
