"""Where trees go, and as what: text into a stream, pictures into a file each."""

from __future__ import annotations

import os
import sys
from collections.abc import Container, Iterable
from itertools import chain, islice
from pathlib import Path

from h3n import draw, formats
from h3n.errors import InputError, UsageError
from h3n.formats.files import COMPRESSED, STANDARD, opened_to_write

PICTURES = ("svg", "png")  # formats of which a file holds one sentence
# The ending of a file -> the format to write into it. What has no ending, such as a pipe, gets the terminal's drawing.
ENDINGS = {
    ".txt": "pretty",
    ".joint": "joint",
    ".svg": "svg",
    ".png": "png",
    ".html": "html",
    ".htm": "html",
    **{ending: name for name, known in formats.FORMATS.items() for ending in known.extensions},
}


def format_of(output: str, accepted: Container[str]) -> str:
    """Return the format, one of those accepted, that the output's ending stands for; a folder is one of pictures.

    Endings of compression do not count.
    """
    if output == STANDARD:
        return "pretty"
    if _is_folder(output):
        return "svg"
    endings = [ending.lower() for ending in Path(output).suffixes if ending.lower() not in COMPRESSED]
    if not endings:
        return "pretty"
    name = ENDINGS.get(endings[-1])
    if name is None or name not in accepted:
        known = sorted(ending for ending, name in ENDINGS.items() if name in accepted)
        raise UsageError(f"--output {output}: nothing is written as {endings[-1]}; known: {', '.join(known)}")
    return name


def check_output(output: str, *, pictures: bool) -> None:
    """Raise unless something can be written there, so that nobody waits for results that then have no place."""
    if output == STANDARD or (pictures and _is_folder(output)):
        return
    path = Path(output)
    if _is_folder(output):
        raise UsageError(f"--output {output} is a folder, and only pictures go into one: --to svg or --to png")
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
    first = list(islice(pictures, 2))
    if len(first) > 1:
        folder = "pictures/" if output == STANDARD else f"{Path(output).with_suffix('')}/"
        wish = f"--to {kind} --output {folder}"
        raise UsageError(f"several sentences, and a file of {kind} holds one picture; name a folder: {wish}")
    if not first:
        raise UsageError(f"no sentence, so there is nothing to draw into a file of {kind}")
    _save(Path(output), first[0][1], kind)


def _save(path: Path, text: str, kind: str) -> None:
    content = draw.png(text) if kind == "png" else text.encode()
    if str(path) == STANDARD:
        if kind == "png" and sys.stdout.isatty():
            raise UsageError("a PNG picture cannot be shown in a terminal; name a file with --output")
        sys.stdout.buffer.write(content)
        sys.stdout.buffer.flush()
        return
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    except OSError as error:
        raise InputError(f"{path}: cannot be written: {error.strerror}") from None
