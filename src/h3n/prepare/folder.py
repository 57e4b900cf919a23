"""The folder that is written: complete or not there at all."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from h3n import files
from h3n.errors import UsageError

MANIFEST = "manifest.json"


@contextmanager
def replaced_folder(folder: Path, *, overwrite: bool) -> Iterator[Path]:
    """Yield a fresh folder to write into; on success it takes the place of ``folder``, on an error it is gone.

    A folder that holds something is replaced only with ``overwrite``, and only if we wrote it.
    """
    with files.input_errors(folder, "written"):
        if folder.exists() and not folder.is_dir():
            raise UsageError(f"{folder}: is not a folder; expected a new or an empty one")
        if folder.exists() and any(folder.iterdir()):
            ours = (folder / MANIFEST).is_file()
            if not (overwrite and ours):
                hint = "--overwrite replaces it" if ours else "expected a new or an empty folder"
                raise UsageError(f"{folder}: exists and is not empty; {hint}")
    with files.written_folder(folder) as draft:
        yield draft
