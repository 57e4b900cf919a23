"""What `h3n prepare` writes, h3n trains on, parses and evaluates: also where words hold blanks."""

from __future__ import annotations

import itertools
import json
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from h3n import formats
from h3n.cli import main
from h3n.config import Treebank, load_config
from h3n.prepare import Options, prepare
from h3n.training import load_examples, train
from h3n.trees import Sentence

SENTENCES = 24
ROWS = (
    "1\t3 500\t3500\tNUM\t_\t_\t2\tnummod\t_\t_\n2\tdogs\tdog\tNOUN\t_\t_\t3\tnsubj\t_\t_\n"
    "3\tsee\tsee\tVERB\t_\t_\t0\troot\t_\t_\n4\t: )\t: )\tSYM\t(\t_\t3\tdiscourse\t_\tSpaceAfter=No\n"
    "5\t(\t(\tPUNCT\t_\t_\t3\tpunct\t_\t_\n\n"
)
SETTINGS = [
    "preset=small",
    *(f"encoder.layers.{name}" for name in ("count=1", "size=32", "inner=32", "heads=2", "head_size=8")),
    *(f"scorers.{name}=16" for name in ("span", "arc", "relation", "head", "tag")),
    *(f"training.{name}" for name in ("epochs=1", "checks=1", "tune=false", "threads=1", "device=cpu")),
]


def command(monkeypatch: pytest.MonkeyPatch, *arguments: str | Path) -> int:
    monkeypatch.setattr(sys, "argv", ["h3n", *map(str, arguments)])
    with pytest.raises(SystemExit) as left:
        main()
    return int(left.value.code or 0)


def go_through(source: Path, folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """Prepare the file, train on it, parse it, evaluate both trees, and put the two files together."""
    prepared = folder / "prepared"
    options = Options(splits=("train",), keep_going=True)
    report = prepare("conllu", source, prepared, options=options)
    assert report.splits["train"].sentences
    files = (str(prepared / "train.ptb"), str(prepared / "train.conllu"))
    config = replace(load_config(settings=SETTINGS), output=str(folder / "run"))
    examples = load_examples([Treebank(files=files)], data=config.data)
    train(config, examples, examples[:2])
    model = folder / "run" / "model"
    for ending in ("ptb", "conllu"):
        assert command(monkeypatch, "parse", files[1], "-m", model, "-o", folder / f"parsed.{ending}") == 0
        assert command(monkeypatch, "evaluate", prepared / f"train.{ending}", folder / f"parsed.{ending}") == 0
    capsys.readouterr()
    assert command(monkeypatch, "stats", files[0], "--dependencies", files[1], "--json") == 0
    numbers = json.loads(capsys.readouterr().out)
    assert numbers["sentences"] == len(examples)


def test_a_treebank_with_blanks_in_words(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "own.conllu").write_text(ROWS * 3, encoding="utf-8")
    go_through(tmp_path / "own.conllu", tmp_path, monkeypatch, capsys)
    parsed = next(formats.read(tmp_path / "parsed.ptb"))
    assert parsed.words == ("3_500", "dogs", "see", ":_)", "(")


def with_blanks_first(sentences: list[Sentence]) -> list[Sentence]:
    return sorted(sentences, key=lambda sentence: not any(" " in word for word in sentence.words))[:SENTENCES]


def test_every_treebank_of_universal_dependencies(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    files = sorted((data / "ud").glob("*dev*.conllu*"))
    assert files
    for number, file in enumerate(files):
        folder = tmp_path / str(number)
        folder.mkdir()
        short = [s for s in itertools.islice(formats.read(file), 400) if len(s) < 25]
        formats.write(with_blanks_first(short), folder / "short.conllu")
        go_through(folder / "short.conllu", folder, monkeypatch, capsys)
