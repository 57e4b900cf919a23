"""`h3n convert --scheme`: one kind of tree into the other, as a user meets it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from h3n.cli import main

TREE = "(TOP (S (NP (PRP She)) (VP (VBZ reads) (NP (DT the) (NN book))) (. .)))\n"
ROWS = (
    "1\tShe\t_\tPRON\tPRP\t_\t2\tnsubj\t_\t_\n"
    "2\treads\t_\tVERB\tVBZ\t_\t0\troot\t_\t_\n"
    "3\tthe\t_\tDET\tDT\t_\t4\tdet\t_\t_\n"
    "4\tbooks\t_\tNOUN\tNNS\t_\t2\tobj:lvc\t_\t_\n\n"
)


def run(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "h3n", "convert", *arguments], cwd=folder, capture_output=True, text=True, check=False
    )


def relations(rows: str) -> list[tuple[str, str, str]]:
    return [(f[1], f[6], f[7]) for f in (row.split("\t") for row in rows.splitlines()) if len(f) == 10]


@pytest.mark.parametrize(("scheme", "name"), [("sd", "dobj"), ("ud1", "dobj"), ("ud2", "obj")])
def test_dependencies_from_phrases(tmp_path: Path, scheme: str, name: str) -> None:
    (tmp_path / "in.ptb").write_text(TREE)
    made = run(tmp_path, "in.ptb", "-", "--to", "conllu", "--scheme", scheme)
    assert made.returncode == 0
    assert made.stderr == ""
    assert relations(made.stdout) == [
        ("She", "2", "nsubj"),
        ("reads", "0", "root"),
        ("the", "4", "det"),
        ("book", "2", name),
        (".", "2", "punct"),
    ]


def test_both_trees_in_one_file(tmp_path: Path) -> None:
    (tmp_path / "in.ptb").write_text(TREE)
    assert run(tmp_path, "in.ptb", "both.jsonl", "--scheme", "ud2").returncode == 0
    assert run(tmp_path, "both.jsonl", "back.ptb").returncode == 0
    assert (tmp_path / "back.ptb").read_text() == TREE


def test_soft_labels_do_not_outlive_their_trees(tmp_path: Path) -> None:
    line = '{"version": 1, "words": ["Go"], "tree": "(S (VB Go))", "soft_labels": {"spans": [[0, 1, "S", 990]]}}\n'
    (tmp_path / "in.jsonl").write_text(line)
    assert run(tmp_path, "in.jsonl", "made.jsonl", "--scheme", "ud2").returncode == 0
    assert run(tmp_path, "in.jsonl", "same.jsonl").returncode == 0
    assert "soft_labels" not in (tmp_path / "made.jsonl").read_text()
    assert "soft_labels" in (tmp_path / "same.jsonl").read_text()


@pytest.mark.parametrize(("labels", "label"), [("main", "obj"), ("full", "obj:lvc")])
def test_phrases_from_dependencies(tmp_path: Path, labels: str, label: str) -> None:
    (tmp_path / "in.conllu").write_text(ROWS)
    made = run(tmp_path, "in.conllu", "-", "--to", "brackets", "--scheme", "phrases", "--labels", labels)
    assert made.stdout == f"(TOP (root (PRP She) (VBZ reads) ({label} (DT the) (NNS books))))\n"


def test_unknown_scheme_lists_the_known(tmp_path: Path) -> None:
    (tmp_path / "in.ptb").write_text(TREE)
    said = run(tmp_path, "in.ptb", "-", "--to", "conllu", "--scheme", "esperanto")
    assert said.returncode == 2
    assert said.stderr.startswith("h3n: unknown scheme 'esperanto'; known: ")
    assert {"phrases", "sd", "ud1", "ud2", "zh"} <= set(said.stderr.split("known: ")[1].strip().split(", "))


def test_unknown_labels_are_counted(tmp_path: Path) -> None:
    (tmp_path / "in.ptb").write_text("(TOP (XX (YY a) (XX (ZZ b) (ZZ c))))\n")
    made = run(tmp_path, "in.ptb", "-", "--to", "conllu", "--scheme", "ud2")
    assert made.returncode == 0
    assert len(relations(made.stdout)) == 3
    assert made.stderr == "h3n: no head rule, the default was taken: XX (2)\n"


@pytest.mark.parametrize(
    ("name", "text", "scheme", "message"),
    [
        ("in.ptb", "(TOP (NN x))\n()\n", "sd", "in.ptb:2: the tree ( ...) has no word to convert"),
        ("in.conllu", ROWS.replace("\t0\troot", "\t1\troot"), "phrases", "in.conllu:1: no root word"),
        ("in.conllu", ROWS + "1\ta\t_\t_\t_\t_\t_\t_\t_\t_\n\n", "phrases", "in.conllu:6: no dependencies;"),
        ("in.conllu", ROWS, "sd", "in.conllu:1: no phrase structure tree;"),
    ],
)
def test_what_cannot_be_converted_is_said_with_its_line(
    tmp_path: Path, name: str, text: str, scheme: str, message: str
) -> None:
    (tmp_path / name).write_text(text)
    said = run(tmp_path, name, "out.jsonl", "--scheme", scheme)
    assert said.returncode == 2
    assert said.stderr.startswith(f"h3n: {message}")
    assert said.stderr.count("\n") == 1
    assert not (tmp_path / "out.jsonl").exists()


def test_keep_going_leaves_out_the_damaged_and_says_so(tmp_path: Path) -> None:
    (tmp_path / "in.ptb").write_text(TREE + "()\n(TOP (NN\n" + TREE)
    made = run(tmp_path, "in.ptb", "out.conllu", "--scheme", "ud2", "--keep-going")
    assert made.returncode == 1
    assert "in.ptb:2:" in made.stderr
    assert "in.ptb:3:" in made.stderr
    assert made.stderr.endswith("h3n: 2 problems; what they concern was left out\n")
    assert (tmp_path / "out.conllu").read_text().count("\tShe\t") == 2


def test_two_files_that_do_not_line_up(tmp_path: Path) -> None:
    (tmp_path / "in.ptb").write_text(TREE + TREE)
    rows = ROWS.replace("books", "book").rstrip("\n") + "\n5\t.\t_\tPUNCT\t.\t_\t2\tpunct\t_\t_\n\n"
    (tmp_path / "in.conllu").write_text(rows.replace("She", "He") + rows)
    arguments = ("in.ptb", "out.jsonl", "--dependencies", "in.conllu")
    said = run(tmp_path, *arguments)
    assert (said.returncode, said.stderr.count("\n")) == (2, 1)
    assert "in.ptb:1: word 1 is 'She', but 'He' at in.conllu:1" in said.stderr
    made = run(tmp_path, *arguments, "--keep-going")
    assert made.returncode == 1
    assert len((tmp_path / "out.jsonl").read_text().splitlines()) == 1
    (tmp_path / "in.conllu").write_text(rows)
    assert "ends after 1 sentences, but another file goes on at" in run(tmp_path, *arguments).stderr


def test_universal_schemes_fill_the_universal_tags(tmp_path: Path) -> None:
    tree = "(S (NP (PRP She)) (VP (MD can) (RB not) (VP (VB read) (NP (DT this) (NN book)))) (. .))"
    (tmp_path / "in.ptb").write_text(tree + "\n")
    assert run(tmp_path, "in.ptb", "out.conllu", "--scheme", "ud2").returncode == 0
    rows = [line.split("\t") for line in (tmp_path / "out.conllu").read_text().splitlines() if "\t" in line]
    assert [row[3] for row in rows] == ["PRON", "AUX", "PART", "VERB", "DET", "NOUN", "PUNCT"]
    assert run(tmp_path, "in.ptb", "sd.conllu", "--scheme", "sd").returncode == 0
    assert "PRON" not in (tmp_path / "sd.conllu").read_text()


def test_what_a_scheme_makes_has_names_and_texts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Without `sent_id` and `text` CoNLL-U is not valid; `h3n validate --ud` finds nothing else either."""
    monkeypatch.chdir(tmp_path)
    Path("my trees.v2.ptb").write_text("(S (NP (DT the) (NN dog)) (VP (VBZ barks)) (. .))\n" * 2)

    def run(*arguments: str) -> int:
        monkeypatch.setattr("sys.argv", ["h3n", *arguments])
        with pytest.raises(SystemExit) as left:
            main()
        return int(left.value.code or 0)

    assert run("convert", "my trees.v2.ptb", "made.conllu", "--scheme", "ud2") == 0
    comments = [line for line in Path("made.conllu").read_text().splitlines() if line.startswith("#")]
    text = "# text = the dog barks ."
    assert comments == ["# sent_id = my_trees-1", text, "# sent_id = my_trees-2", text]
    assert run("validate", "made.conllu", "--ud") == 0
    assert run("convert", "made.conllu", "made.conllx") == 0
    assert "#" not in Path("made.conllx").read_text()
    assert "comments" in capsys.readouterr().err
