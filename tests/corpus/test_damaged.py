"""A damaged file, or a fault nobody foresaw, costs what it must, and is reported with the name of the input."""

from __future__ import annotations

import bz2
import gzip
import json
import lzma
import os
import subprocess
import sys
from pathlib import Path

import pytest

from h3n import corpus
from h3n.corpus import Options, local, parse_corpus, work
from h3n.corpus.documents import READERS
from h3n.corpus.shards import Shard
from h3n.corpus.storage import Piece
from h3n.corpus.work import Job, Workers
from h3n.errors import InputError

pytest.importorskip("pyarrow", reason="the extra corpus is not installed")
zstd = pytest.importorskip("backports.zstd", reason="the extra corpus is not installed")
CHECKED = {zstd.CompressionParameter.checksum_flag: 1}  # as the program zstd does
PACKERS = {
    ".gz": gzip.compress,
    ".bz2": bz2.compress,
    ".xz": lzma.compress,
    ".zst": lambda content: zstd.compress(content, options=CHECKED),
}
LINES = "".join(f"The dog sees {number} houses.\n" for number in range(30))
INPUTS = {
    "text": LINES,
    "lines": LINES,
    "words": LINES,
    "paragraphs": LINES,
    "jsonl": "".join(json.dumps({"text": line}) + "\n" for line in LINES.splitlines()),
    "conllu": "1\tdogs\t_\t_\t_\t_\t2\tnsubj\t_\t_\n2\tbark\t_\t_\t_\t_\t0\troot\t_\t_\n\n" * 30,
}


def errors_of(out: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in (out / "errors.jsonl").read_text(encoding="utf-8").splitlines()]


@pytest.mark.parametrize("workers", [1, 2])
def test_a_gzip_of_four_bytes_beside_a_good_file(tiny_model: Path, tmp_path: Path, workers: int) -> None:
    texts, out = tmp_path / "texts", tmp_path / "out"
    texts.mkdir()
    (texts / "a.txt.gz").write_bytes(gzip.compress(LINES.encode())[:4])
    (texts / "b.txt").write_text(LINES, encoding="utf-8")
    (texts / "c.txt.gz").write_bytes(gzip.compress(LINES.encode())[:-3])
    command = [sys.executable, "-m", "h3n", "corpus", "parse", str(texts), "--out", str(out), "--shard-size", "100"]
    command += ["--model", str(tiny_model), "--workers", str(workers)]
    said = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    assert said.returncode == 1, said.stderr
    assert said.stdout.startswith("60 sentences in ")
    assert said.stderr == f"h3n: 2 problems; {out}/errors.jsonl says which documents and why\n"
    short = "the compressed file stops short; get a complete copy; what stands before that is parsed"
    assert [error["reason"] for error in errors_of(out)] == [
        f"{texts}/a.txt.gz:1: {short}",
        f"{texts}/c.txt.gz:31: {short}",
    ]


@pytest.mark.parametrize("ending", PACKERS)
@pytest.mark.parametrize("kind", INPUTS)
def test_all_whole_lines_before_the_damage_are_parsed(tiny_model: Path, tmp_path: Path, kind: str, ending: str) -> None:
    file, out = tmp_path / f"a{ending}", tmp_path / "out"
    file.write_bytes(PACKERS[ending](INPUTS[kind].encode())[:-3])
    options = Options(input_format=kind)
    finished = parse_corpus([str(file)], out, model=str(tiny_model), options=options, workers=1)
    assert (finished.sentences, finished.errors) == (30, 1)
    assert sum(1 for _ in corpus.read(out)) == 30
    (error,) = errors_of(out)
    assert error["document"] == str(file)
    line = INPUTS[kind].count("\n") + 1
    assert str(error["reason"]).startswith(f"{file}:{line}: the compressed file stops short")


def test_a_reader_that_fails_costs_its_file_alone(
    texts: Path, tiny_model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    original = READERS["text"]

    def text(piece, how):  # type: ignore[no-untyped-def]
        if piece.name.endswith("texts/0.txt"):
            raise EOFError("nobody foresaw this")
        yield from original(piece, how)

    monkeypatch.setitem(READERS, "text", text)
    finished = parse_corpus([str(texts)], tmp_path / "out", model=str(tiny_model), workers=1)
    assert finished.sentences > 10
    (error,) = errors_of(tmp_path / "out")
    assert (error["document"], error["sentence"]) == (str(texts / "0.txt"), None)
    assert str(error["reason"]).startswith("EOFError: nobody foresaw this (test_damaged.py, line ")


@pytest.mark.parametrize("fault", [EOFError("gone"), KeyError("x"), BrokenPipeError("odd"), OSError("disk")])
def test_a_fault_in_a_worker_is_reported_as_what_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fault: Exception
) -> None:
    shards = [Shard(at, 1, (Piece(f"{at}.txt", f"{tmp_path}/{at}.txt", "text", 0, 1),)) for at in range(2)]

    def fail(*_: object) -> None:
        raise fault

    monkeypatch.setattr(work, "_work", fail)
    monkeypatch.setattr(Job, "load", lambda _: None)
    kind = type(fault).__name__
    reason = rf"shard \d \(\d\.txt\): {kind}: .*\(test_damaged\.py, line \d+\)"
    with pytest.raises(InputError, match=reason):
        list(local.run(Job(str(tmp_path), "one", kind, Options()), shards, Workers(1)))
    if hasattr(os, "fork"):
        monkeypatch.setattr(local, "METHOD", "fork")
        with pytest.raises(InputError, match=reason):
            list(local.run(Job(str(tmp_path), "two", kind, Options()), shards, Workers(2)))
