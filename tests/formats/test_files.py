"""Paths, streams and compression."""

from __future__ import annotations

import bz2
import gzip
import io
import itertools
import lzma
import os
import stat
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from h3n import formats
from h3n.errors import (
    BadCharacter,
    CorruptInput,
    FormatError,
    InputError,
    LineTooLong,
    MisplacedLine,
    TruncatedInput,
    UnknownName,
    UsageError,
)
from h3n.files import PIECE
from h3n.formats import Reading, Writing, lines
from h3n.formats.lines import read_lines, read_pieces
from h3n.formats.options import Problems
from h3n.trees import Sentence

LINE = "(S (NP (NN dogs)) (VP (VBP bark)))\n"
PACKERS = {".gz": gzip.compress, ".xz": lzma.compress, ".bz2": bz2.compress}


@pytest.mark.parametrize("packed", PACKERS)
def test_compression_shows_in_the_contents(tmp_path: Path, packed: str) -> None:
    file = tmp_path / "misleading.ptb"
    file.write_bytes(PACKERS[packed](LINE.encode()))
    [sentence] = formats.read(file)
    assert sentence.words == ("dogs", "bark")
    assert str(sentence.place) == f"{file}:1"


@pytest.mark.parametrize("packed", ["", *PACKERS])
def test_written_as_the_ending_says(tmp_path: Path, packed: str) -> None:
    file = tmp_path / f"x.ptb{packed}"
    for _ in range(2):
        formats.write(formats.read(io.StringIO(LINE), format="brackets"), file)
        raw = file.read_bytes()
        assert raw == (LINE.encode() if not packed else raw)
        assert [sentence.words for sentence in formats.read(file)] == [("dogs", "bark")]
    assert list(tmp_path.iterdir()) == [file]


def test_the_same_text_makes_the_same_file(tmp_path: Path) -> None:
    first, second = tmp_path / "a.ptb.gz", tmp_path / "b.ptb.gz"
    for file in (first, second):
        formats.write(formats.read(io.StringIO(LINE), format="brackets"), file)
    assert first.read_bytes() == second.read_bytes()


@pytest.mark.parametrize("packed", PACKERS)
def test_a_truncated_file_says_how_far_it_went(tmp_path: Path, packed: str) -> None:
    file = tmp_path / f"x.ptb{packed}"
    text = "".join(f"(S (NP (NN dog{number})))\n" for number in range(5000))
    file.write_bytes(PACKERS[packed](text.encode())[:-20])
    with pytest.raises(TruncatedInput, match=rf"x\.ptb\{packed}:\d+: the compressed file stops short"):
        list(formats.read(file))


def test_what_stands_before_the_break_is_read(tmp_path: Path) -> None:
    file = tmp_path / "x.ptb.gz"
    text = "".join(f"(S (NP (NN dog{number})))\n" for number in range(5000))
    file.write_bytes(gzip.compress(text.encode())[:-20])
    with pytest.raises(TruncatedInput) as caught:
        list(formats.read(file))
    line = int(str(caught.value).split(":")[1])
    read = formats.read(file)
    assert [next(read).words for _ in range(line - 1)] == [(f"dog{number}",) for number in range(line - 1)]
    assert line > 4900


@pytest.mark.parametrize("packed", PACKERS)
def test_a_corrupt_file(tmp_path: Path, packed: str) -> None:
    file = tmp_path / "x.ptb"
    raw = bytearray(PACKERS[packed](os.urandom(100_000).hex().encode()))
    middle = len(raw) // 2
    raw[middle : middle + 8] = bytes(8)
    file.write_bytes(raw)
    with pytest.raises(CorruptInput, match=r"x\.ptb:\d+: cannot be read: "):
        list(formats.read(file, options=Reading(on_problem=lambda _: None)))


def test_files_that_cannot_be_opened(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be opened: No such file"):
        list(formats.read(tmp_path / "none.ptb"))
    with pytest.raises(InputError, match="cannot be opened: Is a directory"):
        list(formats.read(tmp_path, format="brackets"))
    with pytest.raises(InputError, match="cannot be written: No such file"):
        formats.write([], tmp_path / "none" / "x.ptb")
    with pytest.raises(InputError, match="cannot be written: Is a directory"):
        formats.write([], tmp_path, format="brackets")
    for name in ("half \ud83d.conllu", "nul \0.conllu"):
        with pytest.raises(InputError, match="cannot be opened: a file cannot have this name"):
            list(formats.read(name))


def test_after_an_error_the_old_file_is_still_there(tmp_path: Path) -> None:
    file = tmp_path / "x.ptb"
    file.write_text(LINE)
    file.chmod(0o640)
    with pytest.raises(RuntimeError, match="half way"):
        formats.write(_broken(formats.read(file)), file)
    assert file.read_text() == LINE
    assert list(tmp_path.iterdir()) == [file]
    formats.write(formats.read(file), file, options=Writing(top="ROOT"))
    assert file.read_text() == f"(ROOT {LINE.strip()})\n"
    assert stat.S_IMODE(file.stat().st_mode) == 0o640


def _broken(sentences: Iterator[Sentence]) -> Iterator[Sentence]:
    yield from sentences
    raise RuntimeError("half way")


def test_standard_streams(monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(gzip.compress(LINE.encode()))))
    [sentence] = formats.read("-", format="brackets")
    assert str(sentence.place) == "<stdin>:1"
    formats.write([sentence], "-", format="brackets")
    assert capfdbinary.readouterr().out == LINE.encode()


def test_a_stream_of_the_caller_stays_open() -> None:
    raw = io.BytesIO(LINE.encode())
    assert len(list(formats.read(raw, format="brackets"))) == 1
    assert not raw.closed


@pytest.mark.parametrize("make", [io.BytesIO, lambda raw: io.StringIO(raw.decode(), newline="")])
def test_long_lines_come_in_pieces_of_whole_characters(make: Callable[[bytes], io.BytesIO]) -> None:
    text = "a" + "語é𝔘" * PIECE + "\nx\n"
    pieces = list(read_pieces(make(text.encode()), Problems(None)))
    assert "".join(pieces) == text
    assert len(pieces) >= 5
    assert max(map(len, pieces)) <= PIECE


def test_lines_end_in_line_feeds_and_nothing_else() -> None:
    text = "a\u2028b\u0085c\x0bd\r\n\ng"
    assert list(read_lines(io.BytesIO(text.encode()), Problems(None))) == ["a\u2028b\u0085c\x0bd", "", "g"]
    with pytest.raises(BadCharacter, match="<text>:2: a carriage return inside the line"):
        list(read_lines(io.BytesIO(b"a\nb\rc\n"), Problems(None)))


@pytest.mark.parametrize("packed", PACKERS)
@pytest.mark.parametrize("name", ["conllu", "conllx", "jsonl"])
def test_a_line_without_end_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, packed: str, name: str) -> None:
    monkeypatch.setattr(lines, "LONGEST", 100_000)
    file = tmp_path / "bomb"
    sound = {"jsonl": '{"version": 1, "words": ["x"]}\n'}.get(name, "1\tx\t_\t_\t_\t_\t_\t_\t_\t_\n\n").encode()
    file.write_bytes(PACKERS[packed](sound + b"a" * 1_000_000 + b"\n\n" + sound))
    with pytest.raises(LineTooLong, match="a line of more than 100,000 bytes; expected lines of at most 100,000 bytes"):
        list(formats.read(file, format=name))
    found: list[FormatError] = []
    assert len(list(formats.read(file, format=name, options=Reading(on_problem=found.append)))) == 2
    assert [type(error) for error in found if not isinstance(error, MisplacedLine)] == [LineTooLong]
    assert (
        "".join(lines.read_limited(io.BytesIO(b"a\n" + b"b" * 300_000 + b"\nc"), Problems(found.append)))[-2:] == "\nc"
    )
    assert str(found[-1]).startswith("<text>:2: a line of more than")


class Endless(io.RawIOBase):
    """A file that never ends, and knows how much of it was read."""

    def __init__(self, text: str) -> None:
        self.text = text.encode() * 1000
        self.taken = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        start = self.taken % len(self.text)
        part = self.text[start : start + len(buffer)]
        buffer[: len(part)] = part
        self.taken += len(part)
        return len(part)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("brackets", LINE),
        ("brackets", LINE.replace("\n", " ")),  # all on one line
        ("brackets", LINE.replace(" (", "\n  (")),
        ("conllu", "1\tx\t_\t_\t_\t_\t_\t_\t_\t_\n\n"),
        ("conllx", "1\tx\t_\t_\t_\t_\t_\t_\t_\t_\n\n"),
        ("jsonl", '{"version": 1, "words": ["x"]}\n'),
    ],
)
def test_a_file_without_end_is_read_as_it_comes(name: str, text: str) -> None:
    endless = Endless(text)
    found = list(itertools.islice(formats.read(endless, format=name), 5000))  # type: ignore[arg-type]
    assert len(found) == 5000
    assert endless.taken <= 5000 * len(text) + 2 * PIECE


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("a/b.ptb", "brackets"),
        ("b.clean.ptb.xz", "brackets"),
        ("b.mrg.gz", "brackets"),
        ("sample.gld", "brackets"),
        ("B.CONLLU.bz2", "conllu"),
        ("b.conllx", "conllx"),
        ("b.conll", "conllx"),
        ("b.jsonl", "jsonl"),
        ("b.spmrl", "spmrl"),
    ],
)
def test_format_by_ending(name: str, expected: str) -> None:
    assert formats.guess_format(name) == expected


def test_unknown_formats_list_the_known_ones(tmp_path: Path) -> None:
    known = "brackets, conllu, conllx, jsonl, spmrl"
    path = tmp_path / "notes.docx"
    with pytest.raises(InputError, match=r"notes\.docx: cannot be opened: No such file"):
        formats.read(path)
    path.write_text("notes")
    with pytest.raises(UsageError, match=f"notes.docx: the ending stands for no known format; name one of: {known}"):
        formats.read(path)
    with pytest.raises(UsageError, match="the ending stands for no known format"):
        formats.guess_format("missing.docx")  # it may be one to write
    with pytest.raises(UsageError, match="standard input or output has no known format"):
        formats.read("-")
    with pytest.raises(UnknownName, match=f"unknown format 'word'; known: {known}"):
        formats.read("x.ptb", format="word")


def test_the_table_is_keyed_by_name() -> None:
    assert all(name == made.name for name, made in formats.FORMATS.items())
    endings = [ending for made in formats.FORMATS.values() for ending in made.extensions]
    assert len(endings) == len(set(endings))
