"""``h3n prepare`` as a user meets it: exit codes, one line per error, the list."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from h3n.treebanks import known_recipes
from tests.treebanks.miniature import brackets, conllu, penn, put


def run(*arguments: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "h3n", "prepare", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False, encoding="utf-8")


def test_the_list_has_name_licence_source_and_trees_of_each() -> None:
    done = run("--list")
    assert done.returncode == 0
    names = [line.split(":")[0] for line in done.stdout.splitlines() if not line.startswith(" ")]
    assert names == list(known_recipes())
    for field in ("trees", "licence", "get it"):
        assert done.stdout.count(f"\n  {field} ") == len(known_recipes())


def test_one_treebank_is_shown_with_its_layouts() -> None:
    done = run("--list", "ptb")
    assert "parsed/mrg/wsj" in done.stdout
    assert "{name}/wsj_*.mrg" in done.stdout
    assert "craft" not in done.stdout


def test_a_treebank_is_prepared(tmp_path: Path) -> None:
    done = run("ptb", penn(tmp_path / "in"), tmp_path / "out", "--splits", "dev, test")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("dev   2 sentences, 22 words\n")
    assert {path.name for path in (tmp_path / "out").iterdir()} == {
        "dev.ptb", "dev.conllu", "test.ptb", "test.conllu", "manifest.json", "report.json", "report.txt",
    }  # fmt: skip
    assert done.stdout in (tmp_path / "out/report.txt").read_text(encoding="utf-8")


def test_damage_stops_the_run_unless_it_is_to_go_on(tmp_path: Path) -> None:
    put(tmp_path / "in", {"train.ptb": brackets("a b", "c"), "train.conllu": conllu("a b", "d")})
    arguments = ("parallel", tmp_path / "in", tmp_path / "out", "--splits", "train")
    done = run(*arguments)
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert "train.ptb:2: word 1 is 'c', but 'd' at" in done.stderr
    done = run(*arguments, "--keep-going")
    assert done.returncode == 1
    assert "1 problems; see" in done.stderr
    assert (tmp_path / "out/train.ptb").read_text(encoding="utf-8") == "(TOP (S (TAG a) (TAG b)))\n"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "expected NAME SOURCE OUT_DIR; --list shows the names"),
        (("ptb", "nowhere", "out"), "nowhere: no such file or folder"),
        (("pbt", ".", "out"), "unknown treebank 'pbt'; known: "),
        (("--list", "pbt"), "unknown treebank 'pbt'; known: "),
        (("conllu", ".", "out", "--divide", "8/1"), "--divide 8/1: expected three numbers, such as 8/1/1"),
        (("conllu", ".", "out", "--labels", "long"), "unknown phrase labels 'long'; known: full, main"),
        (("ptb", "{empty}", "out"), "not a folder of ptb; expected parsed/mrg/wsj/02/wsj_*.mrg"),
        (("ptb", ".", "out", "--colour"), "--colour"),
    ],
)
def test_bad_usage_is_one_line_and_exit_code_2(tmp_path: Path, arguments: tuple[str, ...], message: str) -> None:
    done = run(*(argument.replace("{empty}", str(tmp_path)) for argument in arguments))
    assert done.returncode == 2
    assert message in done.stderr
    assert done.stderr.count("\n") == 1
    assert done.stdout == ""


def test_empty_files_give_empty_splits(tmp_path: Path) -> None:
    put(tmp_path / "in", {f"{split}.conllu": "" for split in ("train", "dev", "test")})
    done = run("conllu", tmp_path / "in", tmp_path / "out")
    assert done.returncode == 0
    assert "train 0 sentences, 0 words" in done.stdout
    assert (tmp_path / "out/train.ptb").read_bytes() == b""
