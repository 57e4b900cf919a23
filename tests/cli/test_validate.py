"""`h3n validate` as a user meets it."""

from __future__ import annotations

import gzip
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from h3n.cli import main

Run = Callable[..., tuple[int, str, str]]

GOOD = "(S (NP (NN dogs)) (VP (VBP bark)))\n"


def row(number: int, head: int) -> str:
    return f"{number}\tx\t_\t_\t_\t_\t{head}\tdep\t_\t_\n"


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """Return a function that runs the command inside an empty folder: (exit code, stdout, stderr)."""
    monkeypatch.chdir(tmp_path)

    def command(*arguments: str) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["h3n", "validate", *arguments])
        with pytest.raises(SystemExit) as left:
            main()
        return int(left.value.code or 0), *capsys.readouterr()

    return command


def test_sound_files(run: Run) -> None:
    Path("a.ptb").write_text(GOOD * 3)
    Path("b.conllu").write_text(row(1, 0) + "\n")
    assert run("a.ptb", "b.conllu") == (0, "no problems in 2 files, 4 sound sentences\n", "")
    assert run("a.ptb") == (0, "no problems in 1 file, 3 sound sentences\n", "")


def test_every_problem_with_its_line(run: Run) -> None:
    Path("a.ptb").write_text(GOOD + GOOD.replace("dogs)", "dogs") + GOOD + "(S (NP))\n")
    Path("b.conllu").write_text(row(1, 3) + "\n" + row(1, 2) + row(2, 1) + "\n" + row(1, 0) + row(2, 0) + "\n\n")
    code, out, err = run("a.ptb", "b.conllu")
    assert code == 1
    assert out == (
        "a.ptb:2: 1 bracket still open at the end of the line; expected a tree on every line, or another layout\n"
        "a.ptb:4: the bracket (NP) holds nothing; expected words or brackets inside it\n"
        "b.conllu:1: head 3 of word 1; expected a number from 0 to 1\n"
        "b.conllu:3: no root word; expected one word with head 0\n"
        "b.conllu:3: words 1, 2 govern each other in a circle; expected heads that lead to the root word\n"
        "b.conllu:7: 2 root words (1, 2); expected one word with head 0\n"
        "b.conllu:9: an empty line too many; expected one empty line after every sentence\n"
    )
    assert err == "h3n: 7 problems in 2 files, 2 sound sentences\n"


def test_a_truncated_file_is_a_problem_and_the_next_is_still_read(run: Run) -> None:
    Path("a.ptb.gz").write_bytes(gzip.compress((GOOD * 500).encode())[:-10])
    Path("b.ptb").write_text(GOOD)
    code, out, err = run("a.ptb.gz", "b.ptb")
    assert code == 1
    assert "the compressed file stops short" in out
    assert err.startswith("h3n: 1 problem in 2 files, ")


def test_a_deep_tree(run: Run) -> None:
    Path("a.ptb").write_text("(S " * 100_000 + "(NN x)" + ")" * 100_000)
    assert run("a.ptb") == (0, "no problems in 1 file, 1 sound sentence\n", "")


def test_an_empty_file_has_no_problems(run: Run) -> None:
    Path("a.ptb").write_text("")
    assert run("a.ptb") == (0, "no problems in 1 file, 0 sound sentences\n", "")


def test_the_format_can_be_named(run: Run) -> None:
    Path("a.txt").write_text(GOOD)
    assert run("a.txt", "--from", "brackets")[0] == 0
    assert run("a.txt", "--from", "conllu")[0] == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["none.ptb"], "h3n: none.ptb: cannot be opened: No such file or directory\n"),
        (["none.docx"], "h3n: none.docx: cannot be opened: No such file or directory"),
        (["x.ptb", "--from", "word"], "h3n: unknown format 'word'; known: "),
        ([], "h3n: Missing argument 'FILE...'; see h3n validate --help\n"),
    ],
)
def test_errors_are_one_line(run: Run, arguments: list[str], message: str) -> None:
    code, out, err = run(*arguments)
    assert (code, out) == (2, "")
    assert err.startswith(message)
    assert err.count("\n") == 1


def test_universal_dependencies_on_request(run: Run) -> None:
    row = "1\tx\t_\tWORD\t_\t_\t0\troot\t_\t_\n\n"
    Path("ud.conllu").write_text(f"# sent_id = 1\n# text = x\n{row}", encoding="utf-8")
    assert run("ud.conllu")[0] == 0
    code, out, _ = run("ud.conllu", "--ud")
    assert code == 1
    assert out.startswith("ud.conllu:3: the tag 'WORD' in UPOS; expected one of ADJ")
