"""Files wherever fsspec finds them: a path of this machine, or a URL such as ``s3://bucket/folder``.

What is written appears whole or not at all: a local file is renamed into its place, an object store takes an object
whole, and elsewhere a file is moved to its name.
"""

from __future__ import annotations

import contextlib
import io
import os
import tempfile
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, TypeVar, cast

import fsspec
from fsspec.core import url_to_fs

from h3n.errors import InputError, UsageError
from h3n.files import COMPRESSED, draft_of, input_errors, reason, remove_drafts, written_file

LOCAL = ("file", "local")
WHOLE = ("s3", "s3a", "gs", "gcs", "abfs", "abfss", "az", "adl", "memory")  # object stores: a write is whole or nothing
REQUESTS = 32  # at a time
PRIVATE = ("memory",)  # what another process does not see

Item = TypeVar("Item")
Value = TypeVar("Value")


def filesystem(url: str) -> tuple[Any, str]:
    """Return the file system of a URL or path, and the path in it."""
    if protocol(url) in LOCAL:  # in other URLs ``::`` joins file systems; in the name of a file it is two colons
        here = fsspec.filesystem("file")
        return here, str(here._strip_protocol(url))
    try:
        found: tuple[Any, str] = url_to_fs(url)
    except ImportError as error:
        raise UsageError(f"{url}: {error}") from None
    except ValueError as error:
        known = ", ".join(["a path", *(f"{name}://" for name in ("s3", "gs", "hdfs", "memory"))])
        raise UsageError(f"{url}: {error}; accepted: {known} or another URL of fsspec") from None
    return found


def protocol(url: str) -> str:
    """Return the name of a URL's file system; ``file`` for a path."""
    return url.partition("://")[0] if "://" in url else "file"


def absolute(url: str) -> str:
    """Return a URL as it is, and a path so that it means the same in every folder."""
    return os.path.abspath(url) if protocol(url) == "file" and "://" not in url else url  # noqa: PTH100 - links stay


@contextlib.contextmanager
def opened(url: str, *, name: str | None = None, start: int = 0) -> Iterator[BinaryIO]:
    """Yield the bytes of a file from one of them on; ``name`` is what messages call it."""
    system, path = filesystem(url)
    with contextlib.ExitStack() as stack:
        with input_errors(name or url, "opened"):
            handle = stack.enter_context(system.open(path, "rb"))
            if start:
                handle.seek(start)
        yield cast(BinaryIO, io.BufferedReader(_Reliable(handle, name or url), 1 << 16))


class _Reliable(io.RawIOBase):
    """A stored file. What its storage fails at is an `InputError`, not to be taken for damage of what is in it."""

    def __init__(self, handle: Any, name: str) -> None:
        self._handle, self._name = handle, name
        self.name = name

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, place: int, whence: int = 0) -> int:
        with input_errors(self._name, "read"):
            return int(self._handle.seek(place, whence))

    def tell(self) -> int:
        return int(self._handle.tell())

    def readinto(self, buffer: Any) -> int:
        with input_errors(self._name, "read"):
            part = self._handle.read(len(buffer))
        buffer[: len(part)] = part
        return len(part)


def each(function: Callable[[Item], Value], items: Sequence[Item], *, url: str) -> list[Value]:
    """Return what a function gives for each item, in order; several at a time where requests wait for a network."""
    if protocol(url) in (*LOCAL, *PRIVATE) or len(items) < 2:
        return [function(item) for item in items]
    with ThreadPoolExecutor(REQUESTS, thread_name_prefix="h3n") as pool:
        return list(pool.map(function, items))


def is_packed(name: str) -> bool:
    """Return whether a file is compressed, by its ending."""
    return name.lower().endswith(tuple(COMPRESSED))


@dataclass(frozen=True, slots=True)
class Piece:
    """A file or a part of it: bytes of one by lines, row groups of a table, from ``start`` up to ``end``."""

    name: str
    url: str
    format: str
    start: int
    end: int

    @property
    def is_packed(self) -> bool:
        return is_packed(self.name)


@dataclass(frozen=True, slots=True)
class Folder:
    """A folder of files that appear whole, on this machine or elsewhere."""

    url: str

    @property
    def is_local(self) -> bool:
        return protocol(self.url) in LOCAL

    @property
    def path(self) -> Path:
        """The folder of this machine; only where it `is_local`."""
        return Path(filesystem(self.url)[1])

    def at(self, name: str) -> str:
        return f"{self.url.rstrip('/')}/{name}"

    def create(self, *names: str) -> None:
        """Make the folder and folders in it, where there are such things."""
        for name in ("", *names):
            system, path = filesystem(self.at(name))
            with input_errors(self.at(name), "made"):
                system.makedirs(path.rstrip("/"), exist_ok=True)

    def names(self, inside: str = "") -> list[str]:
        """Return the names of the files in the folder, or in one inside it, as they are now."""
        system, path = filesystem(self.at(inside))
        path = path.rstrip("/")
        system.invalidate_cache(path)
        try:
            with input_errors(self.url, "listed"):
                entries = system.ls(path, detail=True) if system.exists(path) else []
        except InputError:
            entries = []  # removed meanwhile
        return sorted(entry["name"].rstrip("/").rsplit("/", 1)[-1] for entry in entries if entry["type"] == "file")

    def read(self, name: str) -> bytes | None:
        """Return the contents of a file, or None where there is none."""
        system, path = filesystem(self.at(name))
        try:
            return bytes(system.cat_file(path))
        except FileNotFoundError:
            return None
        except OSError as error:
            raise InputError(f"{self.at(name)}: cannot be read: {reason(error)}") from None

    def write(self, name: str, content: bytes) -> None:
        """Write a file, which appears whole."""
        with self.writing(name) as handle:
            handle.write(content)

    @contextlib.contextmanager
    def writing(self, name: str) -> Iterator[BinaryIO]:
        """Yield a file to write into, which takes its place when it is complete."""
        if self.is_local:
            with written_file(self.path / name) as handle:
                yield handle
            return
        with tempfile.TemporaryFile() as handle:  # so that what is written may be larger than memory
            yield cast(BinaryIO, handle)
            handle.seek(0)
            self._upload(name, cast(BinaryIO, handle))

    def _upload(self, name: str, handle: BinaryIO) -> None:
        whole = protocol(self.url) in WHOLE
        target = self.at(name)
        draft = target if whole else self.at(draft_of(Path(name)).name)
        with input_errors(target, "written"):
            with fsspec.open(draft, "wb") as remote:
                while piece := handle.read(1 << 20):
                    remote.write(piece)
            if not whole:
                system, path = filesystem(draft)
                system.mv(path, filesystem(target)[1])

    def remove_drafts(self, *names: str) -> None:
        """Remove what killed processes left unfinished; only while nobody else writes there."""
        for name in ("", *names) if self.is_local else ():
            remove_drafts(self.path / name)
