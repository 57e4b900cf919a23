"""`h3n convert` as a user meets it."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from h3n.cli import main

Run = Callable[..., tuple[int, str, str]]

TREES = (
    "( (S (NP-SBJ (DT the) (NN dog)) (VP (VBZ barks) (NP (-NONE- *))) (. .)) )\n( (S (NP (PRP it)) (VP (VBZ is))) )\n"
)
ROWS = (
    "# text = The dog\n1\tthe\t_\t_\tDT\t_\t2\tdet\t_\t_\n2\tdog\t_\t_\tNN\t_\t3\tnsubj\t_\t_\n"
    "3\tbarks\t_\t_\tVBZ\t_\t0\troot\t_\t_\n4\t.\t_\t_\t.\t_\t3\tpunct\t_\tSpaceAfter=No\n\n"
    "1-2\tit's\t_\t_\t_\t_\t_\t_\t_\t_\n"
    "1\tit\t_\t_\tPRP\t_\t2\tnsubj\t_\t_\n2\tis\t_\t_\tVBZ\t_\t0\troot\t_\t_\n\n"
)


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsysbinary: pytest.CaptureFixture[bytes]) -> Run:
    """Return a function that runs the command inside a folder of sample files: (exit code, stdout, stderr)."""
    monkeypatch.chdir(tmp_path)
    Path("dev.mrg").write_text(TREES, encoding="utf-8")
    Path("dev.conllu").write_text(ROWS, encoding="utf-8")

    def command(*arguments: str, stdin: str = "") -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["h3n", "convert", *arguments])
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin.encode())))
        with pytest.raises(SystemExit) as left:
            main()
        out, err = capsysbinary.readouterr()
        return int(left.value.code or 0), out.decode(), err.decode()

    return command


def test_trees_for_a_parser(run: Run) -> None:
    options = ["--strip-traces", "--strip-functions", "--top", "ROOT"]
    assert run("dev.mrg", "dev.ptb.gz", *options) == (0, "", "")
    assert run("dev.ptb.gz", "-", "--to", "brackets") == (
        0,
        "(ROOT (S (NP (DT the) (NN dog)) (VP (VBZ barks)) (. .)))\n(ROOT (S (NP (PRP it)) (VP (VBZ is))))\n",
        "",
    )


def test_two_files_become_one_and_come_back(run: Run) -> None:
    assert run("dev.mrg", "dev.jsonl", "--dependencies", "dev.conllu") == (0, "", "")
    line = json.loads(Path("dev.jsonl").read_text(encoding="utf-8").splitlines()[0])
    assert line["tree"] == TREES.splitlines()[0]
    assert line["heads"] == [2, 3, 0, 3]
    code, out, err = run("dev.jsonl", "-", "--to", "conllu")
    assert (code, out) == (0, ROWS)
    assert err == "h3n: conllu cannot show and leaves out: tree (in 2 sentences)\n"
    code, out, err = run("dev.jsonl", "-", "--to", "brackets")
    assert (code, out) == (0, TREES)
    assert err.startswith(
        "h3n: brackets cannot show and leaves out: misc (in 1 sentence), dependencies (in 2 sentences)"
    )


def test_what_a_format_leaves_out_is_said(run: Run) -> None:
    code, _, err = run("dev.conllu", "dev.conllx")
    assert code == 0
    lost = ", ".join(f"{name} (in 1 sentence)" for name in ("comments", "misc", "inserts"))
    assert err == f"h3n: conllx cannot show and leaves out: {lost}\n"
    assert run("dev.conllx", "again.conllx") == (0, "", "")


def test_standard_input_to_standard_output(run: Run) -> None:
    code, out, err = run("-", "-", "--from", "brackets", "--to", "brackets", "--indent", stdin=TREES)
    assert (code, err) == (0, "")
    assert out.splitlines()[-3:] == ["( (S", "    (NP (PRP it))", "    (VP (VBZ is))) )"]


def test_blanks_and_escapes(run: Run) -> None:
    Path("x.jsonl").write_text('{"version": 1, "words": ["1 {"], "tree": "(NP (CD 1_{))"}\n', encoding="utf-8")
    code, out, err = run("x.jsonl", "-", "--to", "brackets")
    assert (code, out) == (0, "(NP (CD 1_{))\n")
    assert err == "h3n: 1 word holds a blank, which brackets cannot show: written '_' (--blank)\n"
    assert run("x.jsonl", "-", "--to", "brackets", "--blank", "~", "--all-escapes")[:2] == (0, "(NP (CD 1~-LCB-))\n")
    code, out, err = run("x.jsonl", "-", "--to", "brackets", "--blank", " ")
    assert (code, out) == (2, "")
    assert err.startswith("h3n: --blank ' ': expected a text without blanks")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["none.ptb", "x.jsonl"], "none.ptb: cannot be opened: No such file or directory"),
        (["dev.mrg", "x.docx"], "x.docx: the ending stands for no known format; name one of: brackets, conllu,"),
        (["dev.mrg", "x.ptb", "--from", "word"], "unknown format 'word'; known: brackets, conllu,"),
        (["-", "x.ptb"], "standard input or output has no known format"),
        (["dev.conllu", "x.ptb"], "dev.conllu:1: the sentence has no phrase structure"),
        (["-", "x.jsonl", "--from", "brackets", "--dependencies", "-"], "only one of the files can be standard input"),
        (["dev.mrg"], "Missing argument 'OUT'; see h3n convert --help"),
        (["dev.mrg", "x.ptb", "--layout", "odd"], "Invalid value for '--layout'"),
        (["dev.mrg", "none/x.ptb"], "none/x.ptb: cannot be written: No such file or directory"),
    ],
)
def test_errors_are_one_line_and_leave_no_file(run: Run, arguments: list[str], message: str) -> None:
    code, out, err = run(*arguments)
    assert (code, out) == (2, "")
    assert err.startswith(f"h3n: {message}")
    assert err.count("\n") == 1
    assert sorted(path.name for path in Path().iterdir()) == ["dev.conllu", "dev.mrg"]


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (ROWS.replace("dog\t", "cat\t"), "dev.mrg:1: word 2 is 'dog', but 'cat' at other.conllu:1"),
        (ROWS[ROWS.index("1-2") :], "dev.mrg:1: word 1 is "),
        (ROWS[: ROWS.index("1-2")], "other.conllu: ends after 1 sentences, but another file goes on at dev.mrg:2"),
        (ROWS + ROWS, "dev.mrg: ends after 2 sentences, but another file goes on at other.conllu:"),
    ],
)
def test_files_that_do_not_belong_together(run: Run, rows: str, message: str) -> None:
    Path("other.conllu").write_text(rows, encoding="utf-8")
    code, _, err = run("dev.mrg", "x.jsonl", "--dependencies", "other.conllu")
    assert code == 2
    assert err.startswith(f"h3n: {message}")
    assert not Path("x.jsonl").exists()


def test_quotes_of_the_penn_treebank_match_plain_ones(run: Run) -> None:
    Path("q.ptb").write_text("(S (`` ``) (NN x) ('' ''))\n", encoding="utf-8")
    rows = "".join(f"{at}\t{word}\t_\t_\t_\t_\t_\t_\t_\t_\n" for at, word in enumerate('"x"', start=1))
    Path("q.conllu").write_text(rows + "\n", encoding="utf-8")
    assert run("q.ptb", "q.jsonl", "--dependencies", "q.conllu") == (0, "", "")
    assert run("q.jsonl", "-", "--to", "brackets")[1] == Path("q.ptb").read_text(encoding="utf-8")
    assert run("q.jsonl", "-", "--to", "conllu")[1].split("\t")[1] == '"'


def test_line_ends_stay_within_one_format(run: Run) -> None:
    Path("windows.ptb").write_bytes(b"(S (NN a))\r\n(S (NN b))\r\n")
    assert run("windows.ptb", "same.ptb")[0] == 0
    assert Path("same.ptb").read_bytes() == Path("windows.ptb").read_bytes()
    assert run("windows.ptb", "other.jsonl")[0] == 0
    assert b"\r" not in Path("other.jsonl").read_bytes()
