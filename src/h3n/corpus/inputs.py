"""The files a run reads: found by name, pattern or folder, in an order that does not depend on the file system."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any

from h3n.corpus.options import INPUTS, TABLES, Options
from h3n.corpus.storage import absolute, each, filesystem, is_packed, opened, protocol
from h3n.corpus.tables import parts_of
from h3n.errors import InputError, UsageError
from h3n.files import COMPRESSED, input_errors, shown_name

ENDS = 1 << 16  # bytes at both ends of a file that go into its checksum


@dataclass(frozen=True, slots=True, kw_only=True)
class Input:
    """A file to read. ``name`` is how it was given and what documents are called by, ``url`` where it is.

    ``parts`` are the bytes of the row groups of a table. ``checksum`` is that of its size, first and last bytes: what
    can be told of a terabyte before it is read.
    """

    name: str
    url: str
    format: str
    size: int
    checksum: str
    parts: tuple[int, ...] = ()

    @property
    def is_packed(self) -> bool:
        return is_packed(self.name)


def find_inputs(
    given: Sequence[str],
    options: Options,
    *,
    out: str | None = None,
    on_note: Callable[[str], object] | None = None,
) -> tuple[Input, ...]:
    """Return the files that names, patterns and folders stand for, each once, in the order of the arguments.

    What lies in the folder ``out``, which is written to, is not input. ``on_note`` is told of what is left out of a
    folder because it is not a regular file.
    """
    if not given:
        raise UsageError("no input; accepted: files, folders, patterns such as 'texts/*.txt', or URLs of these")
    names: dict[str, None] = {}
    for one in given:
        found = (name for name in _expanded(one, on_note) if not _is_inside(name, out))
        names.update(dict.fromkeys(found))
    return tuple(each(lambda name: _described(name, options), list(names), url=given[0]))


def _expanded(given: str, on_note: Callable[[str], object] | None) -> Iterable[str]:
    """Return the names of files that one argument stands for; those of a folder or pattern are sorted."""
    system, path = filesystem(given)
    with input_errors(shown_name(given), "listed"):
        if system.isfile(path):
            return [given]
        if system.isdir(path):
            below = [name for name in sorted(system.find(path)) if not _is_hidden(name[len(path) :])]
            kind = "folder without files"
        else:
            below = sorted(name for name in system.glob(path) if not system.isdir(name)) if "*" in given else []
            kind = "pattern that no file fits" if "*" in given else "file or folder that does not exist"
            if not below and system.exists(path):
                kind = "pipe or device, not a regular file; h3n parse reads those"
        chosen = [name for name in below if system.isfile(name)]
    for name in sorted(set(below) - set(chosen)):
        if on_note is not None:
            on_note(f"{shown_name(_as_given(name, given, path))}: not a regular file; left out")
    if not chosen:
        raise InputError(f"{shown_name(given)}: a {kind}")
    return [_as_given(name, given, path) for name in chosen]


def _is_inside(name: str, folder: str | None) -> bool:
    return folder is not None and absolute(name).startswith(f"{folder.rstrip('/')}/")


def _is_hidden(name: str) -> bool:
    return any(part.startswith((".", "_")) for part in name.split("/"))


def _as_given(name: str, given: str, path: str) -> str:
    """Return the name of a found file in the words of the argument: a relative path stays one."""
    fixed = path.split("*")[0]
    return given.split("*")[0] + name[len(fixed) :] if name.startswith(fixed) else f"{protocol(given)}://{name}"


def _described(name: str, options: Options) -> Input:
    url = absolute(name)
    system, path = filesystem(url)
    with input_errors(shown_name(name), "opened"):
        size = int(system.size(path) or 0)
    kind = options.input_format or guess_input(name)
    parts = parts_of(url, kind, options) if kind in TABLES else ()
    return Input(name=shown_name(name), url=url, format=kind, size=size, checksum=_checksum(url, size), parts=parts)


def guess_input(name: str) -> str:
    """Return the format that a file's ending stands for; running text where it stands for none."""
    endings = [suffix.lower() for suffix in PurePosixPath(name).suffixes if suffix.lower() not in COMPRESSED]
    last = endings[-1] if endings else ""
    return next((kind for kind, known in INPUTS.items() if last in known), "text")


def _checksum(url: str, size: int) -> str:
    digest = hashlib.sha256(str(size).encode())
    with opened(url) as handle:
        digest.update(handle.read(ENDS))
        if size > ENDS:
            handle.seek(max(ENDS, size - ENDS))
            digest.update(handle.read(ENDS))
    return digest.hexdigest()


def as_table(one: Input) -> dict[str, Any]:
    """Return what of an input stands in a manifest: where it lies may change, what it is may not."""
    return {"name": one.name, "format": one.format, "size": one.size, "checksum": one.checksum}
