"""Documents come out of every format, each exactly once, however the input is cut."""

from __future__ import annotations

import bz2
import gzip
import json
import lzma
from collections.abc import Callable
from pathlib import Path

import pytest

from h3n.corpus.documents import Item, Problem, read_shard
from h3n.corpus.inputs import find_inputs
from h3n.corpus.options import LARGEST, SMALLEST, Options, read_size, size_of_shards
from h3n.corpus.shards import cut
from h3n.errors import InputError, UsageError

LINES = ["The dog sees it.", "", "Ä short one", "A man reads. He stops.", "x"]


def read(given: list[str], *, size: int = 1_000, options: Options | None = None) -> tuple[list[Item], list[Problem]]:
    options = options or Options()
    problems: list[Problem] = []
    shards = list(cut(find_inputs(given, options), size))
    assert [shard.number for shard in shards] == list(range(len(shards)))
    return [item for shard in shards for item in read_shard(shard, options, problems.append)], problems


def words(items: list[Item]) -> list[tuple[str, ...]]:
    return [item.sentence.words for item in items]


@pytest.mark.parametrize("size", [*range(1, 60), 500])
@pytest.mark.parametrize("end", ["\n", "\r\n", ""])
def test_every_line_is_in_one_shard_wherever_it_is_cut(tmp_path: Path, size: int, end: str) -> None:
    file = tmp_path / "a.txt"
    file.write_bytes((("\r\n" if end == "\r\n" else "\n").join(LINES) + end).encode())
    items, problems = read([str(file)], size=size, options=Options(input_format="words"))
    assert words(items) == [tuple(line.split()) for line in LINES if line]
    assert not problems
    whole, _ = read([str(file)], options=Options(input_format="words"))
    assert [item.document for item in items] == [item.document for item in whole]


PARAGRAPHS = ["A man reads.\nHe stops.", "Ä dog", "One two\nthree.", "x"]


@pytest.mark.parametrize("size", [*range(1, 60), 500])
@pytest.mark.parametrize(
    ("before", "between", "end"), [("", "\n\n", ""), ("\n\n", "\n \n\n", "\n\n\n"), ("\n", "\n\t\n", "\n")]
)
def test_every_paragraph_is_in_one_shard_wherever_it_is_cut(
    tmp_path: Path, size: int, before: str, between: str, end: str
) -> None:
    file = tmp_path / "a.txt"
    file.write_bytes((before + between.join(PARAGRAPHS) + end).encode())
    items, problems = read([str(file)], size=size, options=Options(input_format="paragraphs"))
    whole, _ = read([str(file)], options=Options(input_format="paragraphs"))
    assert [(item.document, item.number, item.sentence.words) for item in items] == [
        (item.document, item.number, item.sentence.words) for item in whole
    ]
    assert not problems
    documents = list(dict.fromkeys(item.document for item in items))
    content = file.read_bytes()
    assert [content[int(name.rpartition(":")[2]) :].decode().split("\n")[0] for name in documents] == [
        paragraph.split("\n")[0] for paragraph in PARAGRAPHS
    ]
    assert words(items)[:2] == [("A", "man", "reads", "."), ("He", "stops", ".")]


def test_a_damaged_paragraph_costs_itself_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("documents", "streams"):
        monkeypatch.setattr(f"h3n.corpus.{module}.LONGEST", 40)
    file = tmp_path / "a.txt"
    file.write_bytes(b"Fine.\n\nBad \xff byte.\n\n" + b"Far too long.\n" * 9 + b"\nNUL \0.\n\nFine again.")
    for size in (1, 7, 30, 1_000):
        items, problems = read([str(file)], size=size, options=Options(input_format="paragraphs"))
        assert words(items) == [("Fine", "."), ("Fine", "again", ".")]
        reasons = [problem.reason.partition(";")[0] for problem in problems]
        assert reasons == [
            "byte 5 of the paragraph is not UTF-8",
            "a paragraph of more than 40 bytes",
            "a NUL character at 5",
        ]


@pytest.mark.parametrize("size", [1, 40, 100_000])
@pytest.mark.parametrize("rows", [1, 3, 10])
@pytest.mark.parametrize("kind", ["parquet", "arrow"])
def test_every_row_of_a_table_is_in_one_shard(tmp_path: Path, kind: str, rows: int, size: int) -> None:
    pyarrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    table = pyarrow.table({"body": [f"Line {at}." for at in range(10)], "key": list(range(10))})
    file = tmp_path / f"a.{kind}"
    if kind == "parquet":
        parquet.write_table(table, file, row_group_size=rows)
    else:
        with pyarrow.ipc.new_file(file, table.schema) as writer:
            writer.write_table(table, max_chunksize=rows)
    items, problems = read([str(file)], size=size, options=Options(text_column="body", id_column="key"))
    assert [(item.document, item.sentence.words) for item in items] == [
        (str(at), ("Line", str(at), ".")) for at in range(10)
    ]
    assert not problems
    unnamed, _ = read([str(file)], size=size, options=Options(text_column="body"))
    assert [item.document for item in unnamed] == [f"{file}:{at}" for at in range(10)]
    with pytest.raises(UsageError, match=r"no column 'text'.*body, key"):
        read([str(file)])


def zstandard(content: bytes) -> bytes:
    return bytes(pytest.importorskip("pyarrow").compress(content, codec="zstd", asbytes=True))


@pytest.mark.parametrize(
    ("ending", "pack"), [("gz", gzip.compress), ("xz", lzma.compress), ("bz2", bz2.compress), ("zst", zstandard)]
)
def test_compressed_files_are_one_piece(tmp_path: Path, ending: str, pack: Callable[[bytes], bytes]) -> None:
    lines = [json.dumps({"id": at, "text": "It is. It was."}) for at in range(5)]
    (tmp_path / f"a.jsonl.{ending}").write_bytes(pack("\n".join(lines).encode()))
    items, problems = read([str(tmp_path)], size=10)
    assert [(item.document, item.number) for item in items] == [(str(at), n) for at in range(5) for n in (0, 1)]
    assert not problems


def test_what_is_damaged_is_named_and_the_rest_read(tmp_path: Path) -> None:
    lines = [b'{"text": "It is."}', b"{", b"[]", b'{"text": 3}', b'{"text": "\\ud800"}', b'{"text": "\xff"}']
    lines += [b"", b'{"words": ["It", "was"]}', b'{"version": 1, "words": ["So"], "tags": ["RB"]}', b'{"words": [""]}']
    (tmp_path / "a.jsonl").write_bytes(b"\n".join(lines))
    (tmp_path / "b.txt").write_bytes(b"Fine.\n\nBad \xff byte.\n\nFine again.\n")
    (tmp_path / "c.txt.gz").write_bytes(gzip.compress(b"It is here.\n\n" * 3_000)[:-20])
    rows = "1\tit\t_\t_\tPRP\t_\t2\tnsubj\t_\t_\n2\tis\t_\t_\tVBZ\t_\t0\troot\t_\t_\n\n"
    (tmp_path / "d.conllu").write_text(f"# newdoc id = one\n{rows}x\n\n{rows}# newdoc id = two\n{rows}")
    items, problems = read([str(tmp_path)], size=30)
    named = [(item.document.removeprefix(f"{tmp_path}/"), item.number) for item in items]
    assert words(items)[:3] == [("It", "is", "."), ("It", "was"), ("So",)]
    assert items[2].sentence.tags == ("RB",)
    assert [name for name in named if name[0] == "b.txt"] == [("b.txt", 0), ("b.txt", 1), ("b.txt", 2)]
    assert named[-3:] == [("one", 0), ("one", 1), ("two", 0)]
    found = [(problem.document.removeprefix(f"{tmp_path}/"), problem.reason) for problem in problems]
    assert [name.partition(":")[0] for name, _ in found] == ["a.jsonl"] * 6 + ["b.txt", "c.txt.gz", "d.conllu"]
    assert "stops short" in found[-2][1]
    assert len(named) > 1_000


def test_a_damaged_part_of_a_table_is_named(tmp_path: Path) -> None:
    pyarrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    binary = pyarrow.array([b"It is.", b"\xff", None], pyarrow.binary()).view(pyarrow.string())
    parquet.write_table(pyarrow.table({"text": binary}), tmp_path / "a.parquet")
    items, problems = read([str(tmp_path / "a.parquet")])
    assert words(items) == [("It", "is", ".")]
    assert [problem.reason.partition(" of ")[0] for problem in problems] == ["row 1", "row 2"]
    texts = pyarrow.table({"text": [f"Number {at} of many." for at in range(400)]})
    parquet.write_table(texts, tmp_path / "b.parquet", row_group_size=200, use_dictionary=False, compression="zstd")
    content = bytearray((tmp_path / "b.parquet").read_bytes())
    start = parquet.ParquetFile(tmp_path / "b.parquet").metadata.row_group(1).column(0).data_page_offset
    content[start + 40 : start + 80] = bytes(40)
    (tmp_path / "b.parquet").write_bytes(content)
    items, problems = read([str(tmp_path / "b.parquet")])
    assert len(items) == 200
    (problem,) = problems
    assert "b.parquet: part 2: cannot be read: " in problem.reason


def test_what_is_written_is_not_read(tmp_path: Path) -> None:
    for name in ("a.txt", "out/part-000000.ptb", "output.txt"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("x")
    names = [one.name for one in find_inputs([str(tmp_path)], Options(), out=str(tmp_path / "out"))]
    assert names == [str(tmp_path / "a.txt"), str(tmp_path / "output.txt")]


def test_a_storage_that_fails_is_not_a_damaged_document(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("It is.\n")
    (shard,) = cut(find_inputs([str(tmp_path)], Options()), 100)
    (tmp_path / "a.txt").unlink()
    with pytest.raises(InputError, match="cannot be opened"):
        list(read_shard(shard, Options(), lambda _: None))


def test_names_patterns_and_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("b.txt", "a.txt", "c.md", "in/d.txt", "in/.hidden", "in/_SUCCESS"):
        Path(name).parent.mkdir(exist_ok=True)
        Path(name).write_text("x")

    def names(*given: str) -> list[str]:
        return [one.name for one in find_inputs(given, Options())]

    assert names("b.txt", "*.txt") == ["b.txt", "a.txt"]
    assert names("in") == ["in/d.txt"]
    assert names("**/*.txt") == ["a.txt", "b.txt", "in/d.txt"]
    for missing, message in (("no.txt", "does not exist"), ("no*", "no file fits"), ("strange://x", "strange")):
        with pytest.raises((InputError, UsageError), match=message):
            names(missing)
    with pytest.raises(UsageError, match="no input"):
        names()


def test_sizes() -> None:
    assert [read_size(size) for size in ("0", "300", "2k", "4M", "4MB", "1G")] == [
        0,
        300,
        2048,
        1 << 22,
        1 << 22,
        1 << 30,
    ]
    for wrong in ("", "x", "-1", "4T", "k"):
        with pytest.raises(UsageError, match="a size of"):
            read_size(wrong)
    assert size_of_shards(0) == SMALLEST
    assert size_of_shards(1 << 40) == LARGEST
    with pytest.raises(UsageError, match="known: arrow"):
        Options(input_format="pdf")
