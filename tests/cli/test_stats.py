"""`h3n stats`: the numbers, against counts made by hand and another way of counting."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from h3n.cli import main
from h3n.trees import ROOT, crossing_arcs, is_projective
from tests.strategies import governors

Run = Callable[..., tuple[int, str, str]]

TREES = """\
(ROOT (S (NP-SBJ (DT the) (NN dog)) (VP (VBZ barks) (NP (-NONE- *)))))
()
(ROOT (S (NP (PRP it)) (VP (VBZ is))))
"""
ROWS = (
    "1\tthe\t_\tDET\tDT\t_\t2\tdet\t_\t_\n2\tdog\t_\tNOUN\tNN\t_\t3\tnsubj\t_\t_\n3\tbarks\t_\tVERB\tVBZ\t_\t0\troot\t_\t_\n\n"
    "1\ta\t_\t_\t_\t_\t3\tx\t_\t_\n2\tb\t_\t_\t_\t_\t4\tx\t_\t_\n3\tc\t_\t_\t_\t_\t0\troot\t_\t_\n4\td\t_\t_\t_\t_\t3\tx\t_\t_\n\n"
    "1\tit\t_\tPRON\tPRP\t_\t2\tnsubj\t_\t_\n2\tis\t_\tAUX\tVBZ\t_\t0\troot\t_\t_\n\n"
)


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """Return a function that runs the command inside a folder of sample files: (exit code, stdout, stderr)."""
    monkeypatch.chdir(tmp_path)
    Path("dev.ptb").write_text(TREES)
    Path("dev.conllu").write_text(ROWS)

    def command(*arguments: str) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["h3n", "stats", *arguments])
        with pytest.raises(SystemExit) as left:
            main()
        return int(left.value.code or 0), *capsys.readouterr()

    return command


def test_trees(run: Run) -> None:
    code, out, _ = run("dev.ptb", "--json")
    assert code == 0
    assert json.loads(out) == {
        "sentences": 3,
        "words": 5,
        "length": {"mean": 1.67, "median": 2, "max": 3, "distribution": {"0": 1, "2": 1, "3": 1}},
        "without_words": 1,
        "phrases": {"trees": 2, "constituents": 9, "deepest": 4, "traces": 1},
        "labels": {"NP": 3, "ROOT": 2, "S": 2, "VP": 2},
        "tags": {"VBZ": 2, "DT": 1, "NN": 1, "PRP": 1},
    }


def test_function_tags_on_request(run: Run) -> None:
    assert json.loads(run("dev.ptb", "--json", "--functions")[1])["labels"]["NP-SBJ"] == 1


def test_dependencies(run: Run) -> None:
    numbers = json.loads(run("dev.conllu", "--json")[1])
    assert numbers["dependencies"] == {
        "trees": 3,
        "non_projective": 1,
        "non_projective_percent": 33.33,
        "non_projective_arcs": 1,
        "non_projective_arcs_percent": 11.11,
    }
    assert numbers["relations"] == {"root": 3, "x": 3, "nsubj": 2, "det": 1}
    assert numbers["upos"] == {"DET": 1, "NOUN": 1, "VERB": 1, "PRON": 1, "AUX": 1}


def test_agreement_of_two_files(run: Run) -> None:
    agreement = json.loads(run("dev.ptb", "--dependencies", "dev.conllu", "--json")[1])["agreement"]
    assert agreement["sentences"] == 2
    assert agreement["consistent"] == 2
    assert agreement["moved_words"] == 0
    # the dog hangs on nothing inside its phrase any more: both its words are attached outside
    Path("dev.conllu").write_text(ROWS.replace("\t2\tdet", "\t3\tdet"))
    agreement = json.loads(run("dev.ptb", "--dependencies", "dev.conllu", "--json")[1])["agreement"]
    assert agreement["consistent"] == 1
    assert agreement["spans_with_several_heads"] == 1


def test_text(run: Run) -> None:
    code, out, err = run("dev.ptb", "dev.conllu", "--limit", "2")
    assert (code, err) == (0, "")
    assert out.splitlines() == [
        "sentences      6",
        "words          14",
        "length         mean 2.33, median 2, max 4",
        "without words  1",
        "phrases        trees 2, constituents 9, deepest 4, traces 1",
        "dependencies   trees 3, non projective 1 (33.33 %), non projective arcs 1 (11.11 %)",
        "labels         4: NP 3, ROOT 2, 2 more",
        "relations      4: root 3, x 3, 2 more",
        "tags           4: VBZ 4, DT 2, 2 more",
        "upos           5: DET 1, NOUN 1, 3 more",
    ]


def test_an_empty_file(run: Run) -> None:
    Path("empty.ptb").write_text("")
    assert run("empty.ptb") == (0, "sentences      0\nwords          0\n", "")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["none.ptb"], "h3n: none.ptb: cannot be opened: No such file or directory\n"),
        (["dev.ptb", "x.docx"], "h3n: x.docx: cannot be opened: No such file or directory"),
        (
            ["dev.ptb", "dev.ptb", "--dependencies", "dev.conllu"],
            "h3n: --dependencies goes with one file of trees, not",
        ),
        (["dev.ptb", "--limit", "-1"], "h3n: Invalid value for '--limit'"),
    ],
)
def test_errors_are_one_line(run: Run, arguments: list[str], message: str) -> None:
    code, out, err = run(*arguments)
    assert (code, out) == (2, "")
    assert err.startswith(message)
    assert err.count("\n") == 1


def crossing_slowly(found: tuple[int, ...]) -> int:
    """Count the arcs over a word whose way up does not meet the arc's head."""

    def ancestors(word: int) -> set[int]:
        above = set()
        while word != ROOT:
            above.add(word)
            word = found[word]
        return above

    return sum(
        any(head not in ancestors(between) for between in range(min(word, head) + 1, max(word, head)))
        for word, head in enumerate(found)
        if head != ROOT
    )


@given(found=st.integers(1, 9).flatmap(lambda n: governors(words=n)))
@settings(deadline=None)
def test_crossing_arcs(found: tuple[int, ...]) -> None:
    assert crossing_arcs(found) == crossing_slowly(found)
    if crossing_arcs(found) == 0:
        assert is_projective(found)


def test_figures_of_a_real_treebank(run: Run, data: Path) -> None:
    file = str(data / "ud" / "nonproj" / "grc_perseus-ud-dev.conllu.xz")
    numbers = json.loads(run(file, "--json")[1])
    assert (numbers["sentences"], numbers["words"]) == (1137, 22135)
    assert numbers["dependencies"]["non_projective_percent"] == 72.03
    assert numbers["dependencies"]["non_projective_arcs_percent"] == 9.07


def test_damaged_sentences_are_left_out_on_request(tmp_path: Path) -> None:
    row = "1\tx\t_\t_\t_\t_\t0\troot\t_\t_\n\n"
    (tmp_path / "bad.conllu").write_text(row + row.replace("1\t", "2\t", 1) + row)
    command = [sys.executable, "-m", "h3n", "stats", "bad.conllu"]
    stopped = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (stopped.returncode, stopped.stdout, stopped.stderr.count("\n")) == (2, "", 1)
    said = subprocess.run([*command, "--keep-going"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (said.returncode, said.stderr.count("\n")) == (1, 2)
    assert said.stdout.startswith("sentences      2\n")
