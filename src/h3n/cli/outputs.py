"""Where drawings go: text into a stream, pictures into a file each."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from itertools import chain, islice
from pathlib import Path

from h3n import draw
from h3n.errors import InputError, UsageError
from h3n.formats.files import STANDARD, opened_to_write


def check_output(output: str, *, pictures: bool) -> None:
    """Raise unless something can be written there, so that nobody waits for results that then have no place."""
    if output == STANDARD or (pictures and _is_folder(output)):
        return
    path = Path(output)
    if _is_folder(output):
        raise UsageError(f"--output {output} is a folder; expected a file")
    if not path.parent.is_dir():
        raise InputError(f"{output}: cannot be written: there is no folder {path.parent}")


def _is_folder(output: str) -> bool:
    return output.endswith(("/", os.sep)) or Path(output).is_dir()


def write_text(parts: Iterable[str], output: str, *, flush: bool = False) -> None:
    """Write the parts one after the other, each at once where somebody waits for it (``flush``)."""
    parts = iter(parts)
    first = next(parts, "")  # what is wrong with the input is said before a file is made
    with opened_to_write(output) as stream:
        for part in chain([first], parts):
            stream.write(part)
            if flush:
                stream.flush()


def write_pictures(pictures: Iterable[tuple[int, str]], output: str, *, kind: str) -> None:
    """Write numbered SVG pictures, as ``svg`` or ``png``: one to a file or standard output, several into a folder."""
    if _is_folder(output):
        for number, text in pictures:
            _save(Path(output) / f"{number}.{kind}", text, kind)
        return
    found = list(islice(pictures, 2))
    if len(found) > 1:
        raise UsageError(f"several sentences, and a file of {kind} holds one picture: name a folder/ with --output")
    if not found:
        raise UsageError(f"no sentence, so there is nothing to draw into a file of {kind}")
    _save(Path(output), found[0][1], kind)


def _save(path: Path, text: str, kind: str) -> None:
    content = draw.png(text) if kind == "png" else text.encode()
    if str(path) == STANDARD:
        if kind == "png" and sys.stdout.isatty():
            raise UsageError("a PNG picture is no text for a terminal: name a file with --output")
        sys.stdout.buffer.write(content)
        sys.stdout.buffer.flush()
        return
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    except OSError as error:
        raise InputError(f"{path}: cannot be written: {error.strerror}") from None
