"""Of a damaged compressed file every reader gets all whole lines before the damage, then file and line of it."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from h3n import formats
from h3n.cli import main
from h3n.errors import CorruptInput, InputError, TruncatedInput
from h3n.files import COMPRESSED, opened, read_bytes
from h3n.trees import Sentence

zstd = pytest.importorskip("backports.zstd", reason="the extra corpus is not installed")
PACKERS: dict[str, Callable[[bytes], bytes]] = {
    ".gz": gzip.compress,
    ".bz2": lambda content: bz2.compress(content, 1),  # blocks of 100 KB, so that there are several
    ".xz": lzma.compress,
    ".zst": lambda content: zstd.compress(content, options={zstd.CompressionParameter.checksum_flag: 1}),
}
ORACLES: dict[str, Callable[[], Any]] = {
    ".bz2": bz2.BZ2Decompressor,
    ".xz": lzma.LZMADecompressor,
    ".zst": zstd.ZstdDecompressor,
}
LINE = "(S (NP (NN dog)) (VP (VBZ barks)))\n"
KINDS = pytest.mark.parametrize("kind", PACKERS)


def lines(count: int, *, seed: int = 0) -> bytes:
    numbers = random.Random(seed)
    return "".join(f"{number} {numbers.getrandbits(80):x}\n" for number in range(count)).encode()


CONTENT = lines(20_000)  # 500 KB: several of everything that is read at a time


class Pipe(io.RawIOBase):
    """A stream that cannot be read twice."""

    def __init__(self, content: bytes, name: str) -> None:
        self._stream, self.name = io.BytesIO(content), name

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        return self._stream.readinto(buffer)


def read(source: Any) -> tuple[list[bytes], InputError | None]:
    """Return the lines of a source and what is wrong with it."""
    found: list[bytes] = []
    try:
        with opened(source) as handle:
            while line := handle.readline():
                found.append(line)
    except InputError as error:
        return found, error
    return found, None


def everywhere(tmp_path: Path, kind: str, packed: bytes) -> Iterator[tuple[list[bytes], InputError | None]]:
    """Yield what is read of a file and of a pipe."""
    file = tmp_path / f"x{kind}"
    file.write_bytes(packed)
    yield read(file)
    yield read(Pipe(packed, f"x{kind}"))


def before_the_damage(kind: str, packed: bytes) -> bytes:
    """Return all that comes out before the damage, by another way: byte after byte goes in, byte after byte out."""
    found = bytearray()
    if kind == ".gz":
        with gzip.open(io.BytesIO(packed)) as stream:
            try:
                while byte := stream.read(1):
                    found += byte
            except (EOFError, OSError, gzip.zlib.error):  # type: ignore[attr-defined]
                pass
        return bytes(found)
    unpacker = ORACLES[kind]()
    try:
        for at in range(len(packed)):
            found += unpacker.decompress(packed[at : at + 1], 1)
            while not unpacker.eof and not unpacker.needs_input:
                found += unpacker.decompress(b"", 1)
            if unpacker.eof:
                break
    except (OSError, lzma.LZMAError, zstd.ZstdError):
        pass
    return bytes(found)


def whole(content: bytes) -> list[bytes]:
    return [line for line in content.splitlines(keepends=True) if line.endswith(b"\n")]


@KINDS
@pytest.mark.parametrize("share", [0.0, 0.001, 0.3, 0.9, 1.0])
def test_a_file_that_stops_short(tmp_path: Path, kind: str, share: float) -> None:
    packed = PACKERS[kind](CONTENT)
    cut = packed[: int(share * (len(packed) - 3))]
    expected = whole(before_the_damage(kind, cut))
    for found, error in everywhere(tmp_path, kind, cut):
        assert found == expected
        assert isinstance(error, TruncatedInput)
        assert str(error).endswith(f"x{kind}:{len(expected) + 1}: the compressed file stops short; get a complete copy")
    if share == 1.0:
        assert len(expected) == 20_000


@KINDS
@pytest.mark.parametrize("seed", range(4))
def test_a_file_that_is_damaged_inside(tmp_path: Path, kind: str, seed: int) -> None:
    packed = bytearray(PACKERS[kind](CONTENT))
    at = random.Random(seed).randrange(len(packed) // 3, len(packed) - 1_000)
    packed[at : at + 500] = bytes(500)
    expected = whole(before_the_damage(kind, bytes(packed)))
    for found, error in everywhere(tmp_path, kind, bytes(packed)):
        assert isinstance(error, CorruptInput)
        assert f"x{kind}:{len(found) + 1}: cannot be read: " in str(error)
        assert whole(b"".join(found)) == expected
    assert kind == ".xz" or len(expected) > 2_000


@KINDS
@pytest.mark.parametrize("end", [b"", b"\n"])
def test_a_wrong_checksum_costs_no_line(tmp_path: Path, kind: str, end: bytes) -> None:
    content = lines(30).removesuffix(b"\n") + end
    packed = bytearray(PACKERS[kind](content))
    place = {".gz": -6, ".bz2": -3, ".xz": -28, ".zst": -2}[kind]
    packed[place] ^= 0x55
    for found, error in everywhere(tmp_path, kind, bytes(packed)):
        assert isinstance(error, CorruptInput)
        # Only gzip tells contents that are complete from a line that is not.
        complete = end == b"\n" or kind == ".gz"
        assert b"".join(found) == (content if complete else content[: content.rindex(b"\n") + 1])
        assert f"x{kind}:{31 if complete else 30}: " in str(error)


@pytest.mark.parametrize("missing", range(1, 9))
def test_a_gzip_without_the_end_of_its_checksum_has_all_lines(tmp_path: Path, missing: int) -> None:
    content = lines(30).removesuffix(b"\n")
    for found, error in everywhere(tmp_path, ".gz", gzip.compress(content)[:-missing]):
        assert b"".join(found) == content
        assert isinstance(error, TruncatedInput)
        assert "x.gz:31: " in str(error)


@KINDS
@pytest.mark.parametrize("end", [b"", b"\n"])
def test_what_follows_the_members_and_is_none(tmp_path: Path, kind: str, end: bytes) -> None:
    content = lines(30).removesuffix(b"\n") + end
    for found, error in everywhere(tmp_path, kind, PACKERS[kind](content) + b"this is not compressed"):
        assert b"".join(found) == content
        assert isinstance(error, CorruptInput)
        assert f"x{kind}:31: " in str(error)


@KINDS
def test_several_members_with_padding_are_one_file(tmp_path: Path, kind: str) -> None:
    pack = PACKERS[kind]
    packed = pack(CONTENT) + pack(b"") + bytes(512) + pack(b"the end") + bytes(100_000)
    for found, error in everywhere(tmp_path, kind, packed):
        assert error is None
        assert b"".join(found) == CONTENT + b"the end"
    second = pack(lines(1_000, seed=1))
    for found, error in everywhere(tmp_path, kind, pack(CONTENT) + second[: len(second) // 2]):
        assert b"".join(found[:20_000]) == CONTENT
        assert isinstance(error, TruncatedInput)


@KINDS
def test_files_with_nothing_in_them(tmp_path: Path, kind: str) -> None:
    for found, error in everywhere(tmp_path, kind, PACKERS[kind](b"")):
        assert (found, error) == ([], None)
    for length in range(len(COMPRESSED[kind].magic) + 1):
        for found, error in everywhere(tmp_path, kind, PACKERS[kind](b"x")[:length]):
            assert found == []
            assert isinstance(error, TruncatedInput)
            assert f"x{kind}:1: " in str(error)
    (tmp_path / "plain.txt").write_bytes(b"B")  # as bzip2 begins
    assert read(tmp_path / "plain.txt") == ([b"B"], None)


@KINDS
def test_files_that_are_read_as_a_whole(tmp_path: Path, kind: str) -> None:
    file = tmp_path / f"x{kind}"
    for content in (CONTENT, b"no line end"):
        file.write_bytes(PACKERS[kind](content))
        assert read_bytes(file) == content
        file.write_bytes(PACKERS[kind](content)[:-3])
        with pytest.raises(TruncatedInput):
            read_bytes(file)


SENTENCES = {
    "brackets": LINE,
    "spmrl": LINE,
    "conllu": "1\tdogs\t_\t_\t_\t_\t2\tnsubj\t_\t_\n2\tbark\t_\t_\t_\t_\t0\troot\t_\t_\n\n",
    "conllx": "1\tdogs\t_\t_\t_\t_\t2\tnsubj\t_\t_\n2\tbark\t_\t_\t_\t_\t0\troot\t_\t_\n\n",
    "jsonl": '{"version": 1, "words": ["dogs", "bark"]}\n',
}


@KINDS
@pytest.mark.parametrize("name", SENTENCES)
def test_every_format_reads_up_to_the_damage(tmp_path: Path, kind: str, name: str) -> None:
    assert SENTENCES.keys() == formats.FORMATS.keys()
    file = tmp_path / f"x{kind}"
    file.write_bytes(PACKERS[kind]((SENTENCES[name] * 30).encode())[:-3])
    found: list[Sentence] = []
    with pytest.raises(TruncatedInput, match=rf"x\{kind}:\d+: "):
        found.extend(formats.read(file, format=name))
    assert len(found) == 30


@KINDS
def test_the_commands_report_file_and_line(
    tmp_path: Path, kind: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / f"x.ptb{kind}"
    file.write_bytes(PACKERS[kind]((LINE * 30).encode())[:-3])
    output = tmp_path / "y.jsonl"
    for code, command in ((1, ["validate"]), (2, ["stats"]), (2, ["convert", str(output)])):
        monkeypatch.setattr("sys.argv", ["h3n", command[0], str(file), *command[1:]])
        with pytest.raises(SystemExit) as left:
            main()
        said = capsys.readouterr()
        assert left.value.code == code, said
        assert f"x.ptb{kind}:31: the compressed file stops short" in said.out + said.err
        assert "Traceback" not in said.err
    assert not output.exists()


@KINDS
@pytest.mark.parametrize("input_format", ["text", "lines", "words"])
def test_a_text_is_parsed_up_to_the_damage(
    tiny_model: Path,
    tmp_path: Path,
    kind: str,
    input_format: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    file = tmp_path / f"x.txt{kind}"
    file.write_bytes(PACKERS[kind](b"The dog sees the house.\n" * 30)[:-3])
    arguments = ["parse", str(file), "--from", input_format, "--model", str(tiny_model), "--to", "brackets"]
    monkeypatch.setattr("sys.argv", ["h3n", *arguments, "--threads", "1"])
    with pytest.raises(SystemExit) as left:
        main()
    said = capsys.readouterr()
    assert left.value.code == 2
    assert len(said.out.splitlines()) == 30
    assert said.err.startswith(f"h3n: {file}:31: the compressed file stops short")
    assert len(said.err.splitlines()) == 1


def test_an_end_of_file_that_nobody_foresaw_is_not_taken_for_ctrl_d(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **__: object) -> None:
        raise EOFError("nobody foresaw this")

    monkeypatch.setattr("h3n.formats.read", fail)
    monkeypatch.setattr("sys.argv", ["h3n", "validate", "-", "--from", "brackets"])
    with pytest.raises(EOFError, match="nobody foresaw this"):
        main()
