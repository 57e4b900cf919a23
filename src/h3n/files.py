"""Files: opening them, compression, checksums, and writing that leaves a whole file or folder, or none.

A compressed file is recognised by its first bytes when it is read, so that its name does not matter, and made by its
ending when it is written. Of one that is damaged all is read that stands before the damage.

What is written stands under a temporary name until it is complete and on the disk; then it takes its place in one step.
After an error, or a signal that ends the program, the old file is still there.
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
import re
import secrets
import shutil
import stat
import sys
import zlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, BinaryIO, Protocol, TypeAlias, TypeVar, cast

from h3n.errors import CorruptInput, H3nError, InputError, MissingExtra, TruncatedInput

Source: TypeAlias = str | os.PathLike[str] | IO[str] | IO[bytes]
STANDARD = "-"
PIECE = 1 << 16
LARGEST = 1 << 28  # bytes of a file that is read as a whole, unpacked
REMEMBERED = 1 << 24  # compressed bytes of a pipe that are kept, to be unpacked again where they are damaged
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
            _check_regular(path, os.fstat(handle), largest)
            return opened_file.read(largest)


def check_regular(path: Path, *, largest: int = LARGEST) -> None:
    """Raise unless the path leads to a regular file of at most so many bytes: a pipe or a device may never end."""
    with input_errors(path, "read"):
        found = path.stat()
    _check_regular(path, found, largest)


def _check_regular(path: Path, found: os.stat_result, largest: int) -> None:
    if not stat.S_ISREG(found.st_mode):
        kinds = {stat.S_ISDIR: "a folder", stat.S_ISFIFO: "a pipe", stat.S_ISSOCK: "a socket"}
        kind = next((name for holds, name in kinds.items() if holds(found.st_mode)), "a device")
        raise InputError(f"{path}: not a regular file but {kind}; expected a regular file")
    if found.st_size > largest:
        raise InputError(f"{path}: {found.st_size:,} bytes; a file of this name may have {largest:,} at most")


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


Part = TypeVar("Part")


@contextlib.contextmanager
def up_to_error(parts: Iterable[Part]) -> Iterator[Iterator[Part]]:
    """Yield the parts up to the first error, which is raised at the end of the block.

    For whoever reads ahead: the last paragraph of a file that breaks off is parsed before the damage is reported.
    """
    errors: list[H3nError] = []

    def before() -> Iterator[Part]:
        try:
            yield from parts
        except H3nError as error:
            errors.append(error)

    yield before()
    if errors:
        raise errors[0]


def read_bytes(path: Path, *, largest: int = LARGEST) -> bytes:
    """Return the contents of a file, unpacked, for formats that cannot be read line by line."""
    with opened(path) as handle, input_errors(path, "read"):
        content = handle.read(largest + 1)
        handle.read(1)  # contents that are complete come before the damage behind them
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
        start = buffered.peek(LONGEST_MAGIC)[:LONGEST_MAGIC]
    for ending, known in COMPRESSED.items():
        # A file that is called compressed and ends inside the first bytes, or before them, has been cut off there.
        cut_off = name.lower().endswith(ending) and known.magic.startswith(start)
        if start.startswith(known.magic) or cut_off:
            unpacked = _Unpacked(cast(BinaryIO, buffered), known.unpacker, name)
            return stack.enter_context(io.BufferedReader(unpacked, PIECE))
    return cast(BinaryIO, buffered)


def _let_go(buffered: io.BufferedReader) -> None:
    """Keep the caller's stream from being closed with ours."""
    with contextlib.suppress(ValueError):  # the caller has closed it already
        buffered.detach()


class Unpacker(Protocol):
    """What unpacks one member of a compressed file: those of bz2, lzma and zstd are so."""

    @property
    def eof(self) -> bool: ...
    @property
    def needs_input(self) -> bool: ...
    @property
    def unused_data(self) -> bytes: ...
    def decompress(self, data: bytes, max_length: int) -> bytes: ...


class _Gzip:
    """The unpacker of gzip, in the form of the others."""

    def __init__(self) -> None:
        self._stream = zlib.decompressobj(wbits=31)
        self.needs_input = True

    @property
    def eof(self) -> bool:
        return self._stream.eof

    @property
    def unused_data(self) -> bytes:
        return self._stream.unused_data

    def decompress(self, data: bytes, max_length: int) -> bytes:
        part = self._stream.decompress(self._stream.unconsumed_tail + data, max_length)
        self.needs_input = not self._stream.unconsumed_tail and len(part) < max_length
        return part

    @property
    def is_complete(self) -> bool:
        """Whether all contents are out, and nothing but the checksum behind them is wrong or missing."""
        stream = self._stream.copy()
        try:  # zeros in place of the checksum: zlib tells whether it is the checksum that it does not like
            stream.decompress(bytes(8))
        except zlib.error as error:
            return "data check" in str(error) or "length check" in str(error)
        return stream.eof


def _zstandard() -> Any:
    """Return the module that packs and unpacks Zstandard, or say how to get it."""
    try:
        from backports import zstd
    except ImportError:
        raise MissingExtra("files compressed with Zstandard", "corpus") from None
    return zstd


@dataclass(frozen=True, slots=True)
class Compression:
    """A kind of compression: how its files begin, and what unpacks and what packs them."""

    magic: bytes
    unpacker: Callable[[], Unpacker]
    packed: Callable[[BinaryIO], Any]


COMPRESSED: dict[str, Compression] = {
    # No time stamp: the same text makes the same file.
    ".gz": Compression(b"\x1f\x8b", _Gzip, lambda raw: gzip.GzipFile("", "wb", fileobj=raw, mtime=0)),
    ".xz": Compression(b"\xfd7zXZ\x00", lzma.LZMADecompressor, lambda raw: lzma.LZMAFile(raw, "wb")),  # noqa: SIM115
    ".bz2": Compression(b"BZh", bz2.BZ2Decompressor, lambda raw: bz2.BZ2File(raw, "wb")),
    ".zst": Compression(
        b"\x28\xb5\x2f\xfd", lambda: _zstandard().ZstdDecompressor(), lambda raw: _zstandard().ZstdFile(raw, "wb")
    ),
}
LONGEST_MAGIC = max(len(known.magic) for known in COMPRESSED.values())


class _Members:
    """The contents of a compressed file: of all its members, one after the other."""

    def __init__(self, read: Callable[[], bytes], make: Callable[[], Unpacker]) -> None:
        self._read, self._make = read, make
        self._member, self._data, self._fresh = make(), b"", True

    @property
    def is_complete(self) -> bool:
        """Whether what is damaged stands behind the contents: a checksum, or something that is not a member."""
        return self._fresh or bool(getattr(self._member, "is_complete", False))

    def read(self, size: int) -> bytes:
        """Return some of the contents, nothing at their end; raise EOFError, or an error of the unpacker."""
        while True:
            if self._member.eof and not self._begin_next():
                return b""
            data = b""
            if self._member.needs_input:
                data, self._data = self._data or self._read(), b""
                if not data:
                    raise EOFError
            part = self._member.decompress(data, size)
            if part:
                self._fresh = False
                return part

    def _begin_next(self) -> bool:
        """Begin the next member, if there is one. Zeros between members are padding."""
        data = self._member.unused_data.lstrip(b"\0")
        while not data:
            if not (raw := self._read()):
                return False
            data = raw.lstrip(b"\0")
        self._member, self._data, self._fresh = self._make(), data, True
        return True


class _Unpacked(io.RawIOBase):
    """The contents of a compressed file; where it is damaged, all before that and then an error with file and line.

    A line that the damage is in does not come out, unless the damage stands behind all contents.
    """

    def __init__(self, packed: BinaryIO, make: Callable[[], Unpacker], name: str) -> None:
        self.name = name
        self._packed, self._make = packed, make
        self._start = packed.tell() if packed.seekable() else None
        self._seen: bytearray | None = bytearray() if self._start is None else None
        self._members = _Members(self._read, make)
        self._taken, self._before = 0, 0  # compressed bytes that were read, and those before the last piece of them
        self._given, self._line, self._last = 0, 1, b"\n"
        self._damage: Callable[[], InputError] | None = None
        self._rest = b""  # what came out before the damage and is not yet given

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        if self._damage is None:
            part = self._next(len(buffer))
        else:
            part, self._rest = self._rest[: len(buffer)], self._rest[len(buffer) :]
        if not part and self._damage is not None:
            if self._last != b"\n" and self._members.is_complete:
                self._line, self._last = self._line + 1, b"\n"
                return 0  # the end of the last line; the damage comes after it
            raise self._damage()
        buffer[: len(part)] = part
        self._given += len(part)
        self._line += part.count(b"\n")
        self._last = part[-1:] or self._last
        return len(part)

    def _next(self, size: int) -> bytes:
        try:
            return self._members.read(size)
        except (H3nError, MemoryError):
            raise  # of the storage, or of the machine
        except EOFError:
            self._damage = lambda: TruncatedInput(
                f"{self.name}:{self._line}: the compressed file stops short; get a complete copy"
            )
        except Exception as error:  # every library has its own
            why = str(error)
            self._damage = lambda: CorruptInput(f"{self.name}:{self._line}: cannot be read: {why}")
            self._rest = self._unpacked_again()
        part, self._rest = self._rest[:size], self._rest[size:]
        return part

    def _read(self) -> bytes:
        with input_errors(self.name, "read"):
            data: bytes = cast(io.BufferedReader, self._packed).read1(PIECE)
        self._before, self._taken = self._taken, self._taken + len(data)
        if self._seen is not None:
            self._seen += data
            if len(self._seen) > REMEMBERED:
                self._seen = None
        return data

    def _unpacked_again(self) -> bytes:
        """Return what stands between what was given and the damage: an unpacker that fails keeps that to itself.

        So another one unpacks the file up to here. The piece that the first failed at goes in and comes out byte by
        byte, until it fails again.
        """
        if self._start is not None:
            self._packed.seek(self._start)
        elif self._seen is not None:
            self._packed = io.BytesIO(self._seen)
        else:
            return b""
        whole = self._before

        def read() -> bytes:
            nonlocal whole
            data = self._packed.read(min(PIECE, whole) or 1)
            whole -= min(len(data), whole)
            return data

        self._members, missing, rest = _Members(read, self._make), self._given, bytearray()
        with contextlib.suppress(Exception):
            while missing:
                missing -= len(self._members.read(min(missing, PIECE)))
            while byte := self._members.read(1):
                rest += byte
        return bytes(rest)


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
            with contextlib.suppress(OSError):  # the error that matters is already raised
                stream.detach()
    else:
        with written_file(target) as raw, _packed(raw, Path(target).suffix) as packed:
            yield packed


@contextlib.contextmanager
def _packed(raw: BinaryIO, suffix: str) -> Iterator[IO[str]]:
    """Yield a text stream into the file."""
    with contextlib.ExitStack() as stack:
        packed = stack.enter_context(COMPRESSED[suffix].packed(raw)) if suffix in COMPRESSED else raw
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


_SURROGATE = re.compile(rb"\\u[dD][89a-fA-F]")  # the escape of half a pair, or of one half of a whole pair


def read_json(path: Path, *, largest: int = LARGEST) -> Any:
    """Return what a JSON file of a stranger holds: no key twice, no number that is none, Unicode alone."""
    content = read_regular(path, largest=largest)
    try:
        table = json.loads(content.decode("utf-8"), object_pairs_hook=_once, parse_constant=_refuse_constant)
        if _SURROGATE.search(content):
            json.dumps(table, ensure_ascii=False).encode()
        return table
    except UnicodeDecodeError:
        raise InputError(f"{path}: not JSON: not UTF-8") from None
    except UnicodeEncodeError:  # no file, no terminal and no tokenizer takes such text
        raise InputError(f"{path}: half a surrogate pair in a text; expected valid Unicode") from None
    except RecursionError:
        raise InputError(f"{path}: not JSON that can be read: lists or tables inside each other too deep") from None
    except ValueError as error:
        raise InputError(f"{path}: not JSON: {' '.join(str(error).split())[:200]}") from None


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    table = dict(pairs)
    if len(table) < len(pairs):
        seen: set[str] = set()
        twice = next(name for name, _ in pairs if name in seen or seen.add(name))  # type: ignore[func-returns-value]
        raise ValueError(f"the key {twice[:60]!r} stands twice in a table")
    return table


def _refuse_constant(name: str) -> Any:
    raise ValueError(f"{name} is not a number of JSON")
