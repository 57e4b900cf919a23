"""Results of `h3n parse` come as far as the input goes: typed, still open, or damaged further on."""

from __future__ import annotations

import io
import subprocess
import sys
from pathlib import Path

import pytest

from h3n import formats
from h3n.trees import Constituent, Sentence, leaves
from tests.cli.parse_inputs import ROWS, Run

DAMAGED = ROWS + ROWS.replace("\t0\troot", "\t9\troot") + ROWS.replace("dogs", "cats")


def test_what_is_typed_is_answered_line_by_line(parse: Run) -> None:
    typed = "Oslo found a dog. This dog saw Oslo.\n\nthe dog\nsaw Oslo\n"
    code, out, err = parse("-t", "brackets", typed=typed)
    assert (code, err) == (0, "h3n: type a text and press Enter; Ctrl-D ends\n")
    assert [len(list(leaves(one.tree or Constituent("", ())))) for one in trees_in(out)] == [5, 5, 2, 2]
    code, out, err = parse("-t", "brackets", "--from", "words", typed=typed)
    assert [len(one) for one in trees_in(out)] == [8, 0, 2, 2]


def trees_in(out: str) -> list[Sentence]:
    return list(formats.read(io.StringIO(out), format="brackets"))


def test_results_come_before_the_input_has_ended(tiny_model: Path) -> None:
    command = [
        sys.executable,
        "-m",
        "h3n",
        "parse",
        "--model",
        str(tiny_model),
        "--from",
        "words",
        "-t",
        "brackets",
    ]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        # More than the first windows hold, yet the input stays open.
        process.stdin.write("this dog saw a house .\n" * 800)
        process.stdin.flush()
        assert process.stdout.readline().startswith("(ROOT ")
        process.stdin.close()
        assert sum(1 for _ in process.stdout) == 799
    assert process.returncode == 0


@pytest.mark.parametrize("target", ["-", "out.conllu"])
def test_what_stands_before_damage_is_given_out(parse: Run, target: str) -> None:
    Path("bad.conllu").write_text(ROWS * 20 + DAMAGED, encoding="utf-8")
    code, out, err = parse("bad.conllu", "--to", "conllu", "-o", target)
    assert code == 2
    assert err.startswith("h3n: bad.conllu:152: head 9 of word 2; expected a number from 0 to 3; what stands before")
    assert err.count("\n") == 1
    text = out if target == "-" else Path(target).read_text(encoding="utf-8")
    assert [s.words[0] for s in formats.read(io.StringIO(text), format="conllu")] == ["dogs"] * 21


def test_a_damaged_sentence_is_left_out_on_request(parse: Run) -> None:
    Path("bad.conllu").write_text(DAMAGED, encoding="utf-8")
    code, _, err = parse("bad.conllu", "--keep-going", "-o", "out.conllu")
    assert code == 1
    first, last = err.splitlines()
    assert first.startswith("h3n: bad.conllu:12: head 9 of word 2")
    assert last == "h3n: 1 problem; what they concern was left out"
    assert [sentence.words[0] for sentence in formats.read("out.conllu")] == ["dogs", "cats"]
