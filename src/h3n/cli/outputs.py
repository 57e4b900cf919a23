"""Where trees go, and as what: text into a stream, pictures into a file each."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Container, Iterable, Mapping
from itertools import chain, islice
from pathlib import Path

import typer

from h3n.cli.terminal import say, show_drawing
from h3n.draw import NARROWEST, Drawable, missing_characters, visible
from h3n.errors import InputError, UnknownName, UsageError
from h3n.files import COMPRESSED, STANDARD, opened_to_write
from h3n.outputs import ENDINGS, OUTPUTS, Look, Output


def chosen_output(name: str | None, output: str, accepted: Mapping[str, Output] = OUTPUTS) -> Output:
    """Return the output of this name, or else the one that the ending of the file stands for.

    A folder is one of pictures. What has no ending, such as a pipe, gets the terminal's drawing. Endings of compression
    do not count.
    """
    if name is not None:
        if name not in accepted:
            raise UnknownName("output format", name, accepted)
        return accepted[name]
    return accepted["svg" if _is_folder(output) else _format_of(output, accepted)]


def _format_of(output: str, accepted: Container[str]) -> str:
    if output == STANDARD:
        return "pretty"
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


def on_terminal(output: str) -> bool:
    """Return whether the output is shown in a terminal."""
    return output == STANDARD and sys.stdout.isatty()


def columns_of(output: str, width: int | None) -> int:
    """Return how many columns a drawing for the terminal may have."""
    return width or (max(NARROWEST, shutil.get_terminal_size().columns) if on_terminal(output) else 80)


def in_colour(output: str) -> bool:
    """Return whether a drawing for the terminal has colours."""
    return on_terminal(output) and not os.environ.get("NO_COLOR")


def write_parts(parts: Iterable[str], output: str, *, flush: bool = False, coloured: bool = False) -> None:
    """Write the parts one after the other, each at once where somebody waits for it (``flush``).

    ``coloured`` parts are drawings of ours whose colours a terminal is to obey.
    """
    parts = iter(parts)
    first = next(parts, "")  # what is wrong with the input is said before a file is made
    if coloured and on_terminal(output):
        for part in chain([first], parts):
            show_drawing(part)
        return
    with opened_to_write(output) as stream:
        for part in chain([first], parts):
            stream.write(part)
            if flush:
                stream.flush()


def write_drawings(trees: Iterable[tuple[int, Drawable, str]], output: str, *, chosen: Output, look: Look) -> None:
    """Write numbered trees with captions as a document, as pictures, or one after the other."""
    if (draw := chosen.draw) is not None and chosen.kind == "picture":
        _write_pictures(((number, draw(tree, look)) for number, tree, _ in trees), output, chosen)
        return
    captioned = ((tree, f"{number}. {caption}") for number, tree, caption in trees)
    if chosen.document is not None:
        write_parts([chosen.document(captioned, look)], output)
    elif draw is not None:
        write_parts((f"% {visible(caption)}\n{draw(tree, look)}" for tree, caption in captioned), output)


def _write_pictures(pictures: Iterable[tuple[int, str]], output: str, chosen: Output) -> None:
    """Write SVG pictures, as they are or as PNG: one to a file or standard output, several into a folder."""
    missing: set[str] = set()
    if _is_folder(output):
        for number, text in pictures:
            missing.update(_save(Path(output) / f"{number}.{chosen.name}", text, chosen))
        _complain(missing)
        return
    first = list(islice(pictures, 2))
    if len(first) > 1:
        folder = "pictures/" if output == STANDARD else f"{Path(output).with_suffix('')}/"
        options = f"--to {chosen.name} --output {folder}"
        raise UsageError(f"several sentences, and a file of {chosen.name} holds one picture; name a folder: {options}")
    if not first:
        raise UsageError(f"no sentence, so there is nothing to draw into a file of {chosen.name}")
    _complain(_save(Path(output), first[0][1], chosen))


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


def _save(path: Path, text: str, chosen: Output) -> str:
    """Write one picture; return the characters it cannot show."""
    content = chosen.encode(text)
    missing = missing_characters(text) if chosen.name == "png" else ""
    if str(path) == STANDARD:
        if chosen.name == "png" and sys.stdout.isatty():
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
