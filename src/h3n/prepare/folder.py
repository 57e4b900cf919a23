"""The folder that is written: complete or not there at all."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from h3n.errors import InputError, UsageError

MANIFEST = "manifest.json"


@contextmanager
def written_folder(folder: Path, *, overwrite: bool) -> Iterator[Path]:
    """Yield a fresh folder to write into; on success it takes the place of ``folder``, on an error it is gone.

    A folder that holds something is replaced only with ``overwrite``, and only if we wrote it.
    """
    if folder.exists() and not folder.is_dir():
        raise UsageError(f"{folder}: is no folder; expected a new or an empty one")
    if folder.exists() and any(folder.iterdir()):
        ours = (folder / MANIFEST).is_file()
        if not (overwrite and ours):
            hint = "--overwrite replaces it" if ours else "expected a new or an empty folder"
            raise UsageError(f"{folder}: exists and is not empty; {hint}")
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        made = Path(tempfile.mkdtemp(prefix=f".{folder.name}.", dir=folder.parent))
    except OSError as error:
        raise InputError(f"{folder}: cannot be written: {error.strerror}") from None
    try:
        yield made
        made.chmod(0o777 & ~_umask())
        _put_in_place(made, folder)
    except OSError as error:
        raise InputError(f"{folder}: cannot be written: {error.strerror}") from None
    finally:
        shutil.rmtree(made, ignore_errors=True)


def _put_in_place(made: Path, folder: Path) -> None:
    if not folder.exists() or not any(folder.iterdir()):
        made.replace(folder)
        return
    old = Path(tempfile.mkdtemp(prefix=f".{folder.name}.", dir=folder.parent))
    folder.replace(old)
    made.replace(folder)
    shutil.rmtree(old)


def _umask() -> int:
    """Return the process' umask, which can only be read by setting it."""
    mask = os.umask(0)
    os.umask(mask)
    return mask


def write_json(value: Any, file: Path) -> None:
    """Write plain values as indented JSON."""
    file.write_text(json.dumps(value, ensure_ascii=False, indent=2) + "\n", encoding="utf-8", newline="")


def checksum(file: Path) -> str:
    """Return the SHA-256 of a file's bytes."""
    try:
        with file.open("rb") as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest()
    except OSError as error:
        raise InputError(f"{file}: cannot be read: {error.strerror}") from None
