"""Every file of the real treebanks comes back as it is."""

from __future__ import annotations

import io
from collections.abc import Iterator
from pathlib import Path

import pytest

from h3n import formats
from h3n.errors import UsageError
from h3n.formats import Reading, Writing
from h3n.formats.lines import read_pieces
from h3n.formats.options import Problems

LARGE = 130_000  # bytes: the larger files are of the same treebanks


def files(data: Path) -> Iterator[Path]:
    for file in sorted(data.rglob("*")):
        if "encoders" in file.parts:  # settings of networks, not treebanks
            continue
        try:
            formats.guess_format(file)
        except UsageError:
            continue
        if file.is_file() and file.stat().st_size < LARGE:
            yield file


def written(file: Path, newline: str) -> str:
    stream = io.StringIO(newline="")
    options = Writing(newline="\r\n" if newline == "\r\n" else "\n")
    formats.write(formats.read(file), stream, format=formats.guess_format(file), options=options)
    return stream.getvalue()


def test_bytes_come_back(data: Path) -> None:
    count = 0
    for file in files(data):
        text = "".join(read_pieces(file, Problems(None)))
        newline = "\r\n" if "\r\n" in text else "\n"
        # One line of EVALB's sample has brackets side by side; they get the unlabelled bracket they lack.
        text = text.replace("\n(P this) (Q is) (R a) (T test)\n", "\n( (P this) (Q is) (R a) (T test) )\n")
        again = written(file, newline)
        if text.startswith("( (") and ") )\n" not in text:  # unlabelled outer brackets, closed without the usual blank
            again = again.replace(") )\n", "))\n")
        assert again == text, file
        count += 1
    assert count > 30


@pytest.mark.parametrize("folder", ["gum", "masc", "farpahc", "sinica"])
def test_trees_and_dependencies_have_the_same_words(data: Path, folder: str) -> None:
    trees = next((data / folder).glob("dev*.ptb*"))
    for one, two in zip(formats.read(trees), formats.read(data / folder / "dev.conllu.xz"), strict=True):
        assert one.words == two.words, f"{one.place} {two.place}"


def test_traces_are_no_words(data: Path) -> None:
    bare = list(formats.read(data / "masc" / "dev.mrg", options=Reading(strip_traces=True)))
    clean = list(formats.read(data / "masc" / "dev.clean.ptb"))
    stream = io.StringIO()
    formats.write(bare, stream, format="brackets", options=Writing(top="ROOT"))
    assert [sentence.words for sentence in bare] == [sentence.words for sentence in clean]
    assert stream.getvalue() == (data / "masc" / "dev.clean.ptb").read_text(encoding="utf-8")
