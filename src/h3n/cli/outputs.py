"""Where trees go, and as what: text into a stream, pictures into a file each."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Container, Iterable
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path

import typer

from h3n import draw, formats
from h3n.cli.terminal import say, show_drawing
from h3n.draw import Drawable
from h3n.errors import InputError, UsageError
from h3n.files import COMPRESSED, STANDARD, opened_to_write

PICTURES = ("svg", "png")  # formats of which a file holds one sentence
DRAWINGS = (*PICTURES, "html", "latex", "forest", "tikz")
# The ending of a file -> the format to write into it. What has no ending, such as a pipe, gets the terminal's drawing.
ENDINGS = {
    ".txt": "pretty",
    ".joint": "joint",
    ".svg": "svg",
    ".png": "png",
    ".html": "html",
    ".htm": "html",
    ".tex": "latex",
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


def write_parts(parts: Iterable[str], output: str, *, flush: bool = False, coloured: bool = False) -> None:
    """Write the parts one after the other, each at once where somebody waits for it (``flush``).

    ``coloured`` parts are drawings of ours whose colours a terminal is to obey.
    """
    parts = iter(parts)
    first = next(parts, "")  # what is wrong with the input is said before a file is made
    if coloured and output == STANDARD and sys.stdout.isatty():
        for part in chain([first], parts):
            show_drawing(part)
        return
    with opened_to_write(output) as stream:
        for part in chain([first], parts):
            stream.write(part)
            if flush:
                stream.flush()


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """How trees are drawn: colours, helper spans or not, and the widest a picture may be."""

    title: str
    theme: str = "auto"
    helpers: bool = False
    fit: int | None = None


def write_drawings(trees: Iterable[tuple[int, Drawable, str]], output: str, *, kind: str, look: Look) -> None:
    """Write numbered trees with captions as one of `DRAWINGS`."""
    if kind in PICTURES:
        pictures = (
            (number, draw.svg(tree, theme=look.theme, helpers=look.helpers, fit=look.fit)) for number, tree, _ in trees
        )
        _write_pictures(pictures, output, kind=kind)
        return
    captioned = ((tree, f"{number}. {caption}") for number, tree, caption in trees)
    if kind == "html":
        page = draw.html(captioned, title=look.title, theme=look.theme, helpers=look.helpers, fit=look.fit)
        write_parts([page], output)
    elif kind == "latex":
        write_parts([draw.latex(captioned, helpers=look.helpers)], output)
    else:
        write: Callable[[Drawable], str] = draw.forest if kind == "forest" else draw.tikz_dependency
        write_parts((f"% {draw.visible(caption)}\n{write(tree)}" for tree, caption in captioned), output)


def _write_pictures(pictures: Iterable[tuple[int, str]], output: str, *, kind: str) -> None:
    """Write SVG pictures, as ``svg`` or ``png``: one to a file or standard output, several into a folder."""
    missing: set[str] = set()
    if _is_folder(output):
        for number, text in pictures:
            missing.update(_save(Path(output) / f"{number}.{kind}", text, kind))
        _complain(missing)
        return
    first = list(islice(pictures, 2))
    if len(first) > 1:
        folder = "pictures/" if output == STANDARD else f"{Path(output).with_suffix('')}/"
        wish = f"--to {kind} --output {folder}"
        raise UsageError(f"several sentences, and a file of {kind} holds one picture; name a folder: {wish}")
    if not first:
        raise UsageError(f"no sentence, so there is nothing to draw into a file of {kind}")
    _complain(_save(Path(output), first[0][1], kind))


def _complain(missing: Iterable[str]) -> None:
    """Say which characters a PNG picture shows as boxes, and leave with 1."""
    characters = "".join(sorted(missing))
    if characters:
        shown = characters if len(characters) <= 20 else f"{characters[:20]}..."
        what = (
            f"no font of this machine has {len(characters)} of the characters, which are boxes in the picture: {shown}"
        )
        say(f"{what}; install a font for them, such as Noto, or write svg or html")
        raise typer.Exit(1)


def _save(path: Path, text: str, kind: str) -> str:
    """Write one picture; return the characters it cannot show."""
    content = draw.png(text) if kind == "png" else text.encode()
    missing = draw.missing_characters(text) if kind == "png" else ""
    if str(path) == STANDARD:
        if kind == "png" and sys.stdout.isatty():
            raise UsageError("a PNG picture cannot be shown in a terminal; name a file with --output")
        sys.stdout.buffer.write(content)
        sys.stdout.buffer.flush()
        return missing
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    except OSError as error:
        raise InputError(f"{path}: cannot be written: {error.strerror}") from None
    return missing
