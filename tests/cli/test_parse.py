"""`h3n parse` as a user meets it."""

from __future__ import annotations

import io
import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree

import pytest

from h3n import formats
from h3n.cli import main
from h3n.draw import read_joint_brackets
from h3n.trees import Constituent, Sentence, leaves

Run = Callable[..., tuple[int, str, str]]

LINES = "This dog saw Oslo.\n\nOslo didn't see ( a  dog ) .\n"
ROWS = (
    "# sent_id = a\n# text = dogs didn't run\n"
    "1\tdogs\tdog\tNOUN\tXX\tNumber=Plur\t3\told\t_\t_\n2-3\tdidn't\t_\t_\t_\t_\t_\t_\t_\tSpaceAfter=No\n"
    "2\tdid\tdo\tAUX\tYY\t_\t0\troot\t_\t_\n3\tn't\tnot\tPART\tZZ\t_\t2\told\t_\t_\n\n"
)
TREES = "(TOP (S (NP (AA the) (BB New_York)) (VP (-NONE- *T*) (-LRB- -LRB-))))\n\n(TOP (X (CC ends)))\n"


class Keyboard(io.TextIOWrapper):
    """Standard input that somebody types."""

    def isatty(self) -> bool:
        return True


@pytest.fixture
def run(
    tiny_model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsysbinary: pytest.CaptureFixture[bytes]
) -> Run:
    """Return a function that runs the command with a small model: (exit code, stdout, stderr)."""
    monkeypatch.chdir(tmp_path)
    for name, text in {"a.txt": LINES, "a.conllu": ROWS, "a.ptb": TREES, "empty.txt": ""}.items():
        Path(name).write_text(text, encoding="utf-8")

    def command(
        *arguments: str, stdin: str = "", typed: str | None = None, model: str = str(tiny_model)
    ) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["h3n", "parse", *arguments, "--model", model])
        kind = io.TextIOWrapper if typed is None else Keyboard
        monkeypatch.setattr(sys, "stdin", kind(io.BytesIO((typed or stdin).encode()), encoding="utf-8"))
        with pytest.raises(SystemExit) as left:
            main()
        out, err = capsysbinary.readouterr()
        return int(left.value.code or 0), out.decode(errors="replace"), err.decode()

    return command


def test_given_tags_are_kept_and_marked_or_predicted_anew(run: Run) -> None:
    for ending in ("conllu", "jsonl"):
        assert run("a.conllu", "-o", f"kept.{ending}")[0] == run("a.conllu", "--retag", "-o", f"own.{ending}")[0] == 0
        (kept,), (own,) = (list(formats.read(f"{name}.{ending}")) for name in ("kept", "own"))
        assert kept.tags == ("XX", "YY", "ZZ")
        assert "# tags = given" in kept.comments
        assert own.tags is not None
        assert not {"XX", "YY", "ZZ"} & set(own.tags)
        assert "# tags = given" not in own.comments
    assert run("kept.conllu", "--retag", "-o", "again.conllu")[0] == 0
    assert Path("again.conllu").read_text() == Path("own.conllu").read_text()
    assert run("kept.conllu", "-o", "twice.conllu")[0] == 0
    assert Path("twice.conllu").read_text().count("# tags = given") == 1
    assert "given" not in run("a.txt", "--to", "conllu")[1]


def test_a_text_becomes_trees_in_the_terminal(run: Run) -> None:
    code, out, err = run("--text", "This dog saw Oslo. Oslo found a house.")
    assert (code, err) == (0, "")
    first, second, nothing = out.split("\n\n")
    assert [line.split()[-4] for line in first.splitlines()] == ["This", "dog", "saw", "Oslo", "."]
    assert "house" in second
    assert nothing == ""


def test_lines_and_blank_lines_stay_in_step(run: Run) -> None:
    arguments = ("a.txt", "--from", "lines", "--to")
    code, out, _ = run(*arguments, "brackets")
    assert code == 0
    first, blank, third = out.splitlines()
    assert blank == ""
    assert " -LRB-)" in third
    assert first.startswith("(ROOT ")
    assert [len(read_joint_brackets(line)) if line else 0 for line in run(*arguments, "joint")[1].splitlines()] == [
        5,
        0,
        9,
    ]
    assert [len(json.loads(line)["words"]) for line in run(*arguments, "jsonl")[1].splitlines()] == [5, 0, 9]
    found = list(formats.read(io.StringIO(run(*arguments, "conllu")[1]), format="conllu"))
    assert [len(sentence) for sentence in found] == [5, 0, 9]
    assert len(run(*arguments, "pretty")[1].splitlines()) == 5 + 0 + 9 + 3


def test_words_are_taken_as_they_are(run: Run) -> None:
    code, out, _ = run("-", "--from", "words", "--to", "jsonl", stdin="don't ( stop\n")
    assert code == 0
    assert json.loads(out)["words"] == ["don't", "(", "stop"]


def test_conllu_keeps_what_was_known(run: Run) -> None:
    code, out, _ = run("a.conllu", "--to", "conllu")
    assert code == 0
    assert "old" not in out
    lines, given = out.splitlines(), ROWS.splitlines()
    assert lines.pop(2) == "# tags = given"
    assert lines[:2] == given[:2]
    assert lines[3] == given[3]
    for line, row in zip(lines[2:6], given[2:6], strict=True):
        assert line.split("\t")[:6] == row.split("\t")[:6]
    assert [line.split("\t")[6] for line in lines[2:6]].count("0") == 1


def test_brackets_keep_words_and_tags(run: Run) -> None:
    code, out, _ = run("a.ptb", "-o", "out.ptb")
    assert (code, out) == (0, "")
    first, blank, last = formats.read("out.ptb")
    assert (first.words, first.tags) == (("the", "New_York", "("), ("AA", "BB", "-LRB-"))
    assert blank.words == ()
    assert (last.words, last.tags) == (("ends",), ("CC",))


def test_the_ending_of_the_output_names_its_format(run: Run) -> None:
    for name in ("x.conllu", "x.ptb", "x.jsonl", "x.svg", "x.html"):
        assert run("--text", "Oslo found a dog.", "-o", name)[0] == 0
    assert next(formats.read("x.conllu")).dependencies is not None
    assert next(formats.read("x.ptb")).tree is not None
    both = next(formats.read("x.jsonl"))
    assert both.tree is not None
    assert both.dependencies is not None
    for name in ("x.conllu.gz", "x.brackets.xz", "x.JSON"):
        assert run("--text", "Oslo found a dog.", "-o", name)[0] == 0
        assert next(formats.read(name)).words == both.words
    ElementTree.parse("x.svg")
    assert "Oslo found a dog." in Path("x.html").read_text(encoding="utf-8")


def test_pictures_of_several_sentences_need_a_folder(run: Run) -> None:
    text = "Oslo found a dog. This dog saw Oslo."
    code, _, err = run("--text", text, "-o", "one.svg")
    message = "several sentences, and a file of svg holds one picture; name a folder: --to svg --output one/"
    assert (code, err) == (2, f"h3n: {message}\n")
    assert not Path("one.svg").exists()
    assert run("--text", text, *message.split(": ")[1].split())[0] == 0
    assert run("--text", text, "-o", "pictures/")[0] == 0
    for folder in ("one", "pictures"):
        assert sorted(path.name for path in Path(folder).iterdir()) == ["1.svg", "2.svg"]


def test_confidence_shades_a_picture(run: Run) -> None:
    text = "Oslo found a dog which didn't see the house."
    assert run("--text", text, "--confidence", "-o", "sure.svg")[0] == 0
    assert "h3n-doubt" in Path("sure.svg").read_text(encoding="utf-8")
    code, _, err = run("--text", text, "--confidence")
    assert (code, err.count("\n")) == (2, 1)
    assert "accepted with --to: svg, png, html" in err


def test_latex(run: Run) -> None:
    assert run("--text", "Oslo found a dog.", "-o", "x.tex") == (0, "", "")
    assert "[{Oslo}, tier=word]" in Path("x.tex").read_text(encoding="utf-8")


def test_conllx_by_its_endings(run: Run) -> None:
    for name in ("x.conll", "x.conllx"):
        assert run("--text", "Oslo found a dog.", "-o", name) == (0, "", "")
        sentence = next(formats.read(name, format="conllx"))
        assert sentence.words == ("Oslo", "found", "a", "dog", ".")
        assert sentence.dependencies is not None


def test_names_that_were_given_up_are_still_understood(run: Run) -> None:
    new = run("a.txt", "--from", "lines", "--to", "jsonl")
    assert new[0] == 0
    assert run("a.txt", "--input-format", "lines", "--output-format", "json") == new
    assert run("a.txt", "-f", "lines", "-t", "jsonl") == new


def test_png(run: Run) -> None:
    pytest.importorskip("resvg_py", reason="the extra png is not installed")
    assert run("--text", "Oslo found a dog.", "-o", "one.png")[0] == 0
    assert Path("one.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize("name", ["pretty", "joint", "brackets", "conllu", "conllx", "jsonl"])
def test_empty_input_is_empty_output(run: Run, name: str) -> None:
    assert run("empty.txt", "--to", name) == (0, "", "")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nix.txt"], "nix.txt: cannot be opened: No such file or directory"),
        (["a.txt", "--text", "a"], "both FILE (a.txt) and --text are given; expected one of them"),
        (["a.txt", "--from", "prose"], "unknown format 'prose'; known: brackets, conllu"),
        (["a.txt", "--decoder", "best"], "unknown decoder 'best'; known: auto"),
        (["a.txt", "--decoder", "mst", "-t", "brackets"], "--decoder mst finds the best dependency tree"),
        (["a.txt", "--decoder", "cky", "-t", "joint"], "accepted: hpsg, h3n, auto"),
        (["a.txt", "--device", "abacus"], "device 'abacus' cannot be used"),
        (["a.txt", "--threads", "0"], "Invalid value for '--threads'"),
        (["a.txt", "--to", "word"], "'word' is not one of"),
        (["a.ptb", "--from", "conllu"], "a.ptb:1: 1 columns; expected 10"),
        (["a.txt", "-o", "no/such/folder.ptb"], "no/such/folder.ptb: cannot be written: there is no folder no/such"),
        (["a.txt", "-o", "no/such/", "-t", "jsonl"], "no/such/ is a folder, and only pictures go into one: --to svg"),
        (["a.txt", "-o", ".", "-t", "pretty"], "--output . is a folder, and only pictures go into one"),
        (["a.txt", "-o", "x.pdf"], "--output x.pdf: nothing is written as .pdf; known: .brackets, .conll, .conllu"),
        (["a.txt", "-o", "x.xyz.gz"], "nothing is written as .xyz; known: "),
        (["a.txt", "-o", "x.spmrl"], "nothing is written as .spmrl; known: "),
        (["empty.txt", "-o", "x.svg"], "nothing to draw"),
    ],
)
def test_mistakes_are_one_line(run: Run, arguments: list[str], message: str) -> None:
    code, out, err = run(*arguments)
    assert (code, out) == (2, "")
    assert err.startswith("h3n: ")
    assert err.count("\n") == 1
    assert message in err


def test_a_missing_model_is_one_line(run: Run) -> None:
    code, _, err = run("--text", "a", model="nix")
    assert (code, err.count("\n")) == (2, 1)
    assert "no model 'nix'" in err


def test_what_is_wrong_with_the_file_is_said_before_a_model_is_loaded(run: Run) -> None:
    assert "nix.txt: cannot be opened" in run("nix.txt", model="no-model-either")[2]
    assert "there is no folder nix" in run("a.txt", "-o", "nix/a.ptb", model="no-model-either")[2]


def test_a_model_of_dependencies_alone_says_so(run: Run, tiny_model: Path, tmp_path: Path) -> None:
    about = json.loads((tiny_model / "parser.json").read_text(encoding="utf-8"))
    about["config"]["decoding"]["decoder"] = "mst"
    folder = tmp_path / "arcs"
    shutil.copytree(tiny_model, folder)
    (folder / "parser.json").write_text(json.dumps(about), encoding="utf-8")
    code, out, err = run("a.txt", "-t", "brackets", model=str(folder))
    assert (code, out) == (2, "")
    assert "finds the best dependency tree, crossing arcs allowed (decoder mst), not all that brackets shows" in err
    assert run("a.txt", "-t", "brackets", "--decoder", "cky", model=str(folder))[0] == 0


def test_what_is_typed_is_answered_line_by_line(run: Run) -> None:
    typed = "Oslo found a dog. This dog saw Oslo.\n\nthe dog\nsaw Oslo\n"
    code, out, err = run("-t", "brackets", typed=typed)
    assert (code, err) == (0, "h3n: type a text and press Enter; Ctrl-D ends\n")
    assert [len(list(leaves(one.tree or Constituent("", ())))) for one in trees_in(out)] == [5, 5, 2, 2]
    code, out, err = run("-t", "brackets", "--from", "words", typed=typed)
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


DAMAGED = ROWS + ROWS.replace("\t0\troot", "\t9\troot") + ROWS.replace("dogs", "cats")


@pytest.mark.parametrize("target", ["-", "out.conllu"])
def test_what_stands_before_damage_is_given_out(run: Run, target: str) -> None:
    Path("bad.conllu").write_text(ROWS * 20 + DAMAGED, encoding="utf-8")
    code, out, err = run("bad.conllu", "--to", "conllu", "-o", target)
    assert code == 2
    assert err.startswith("h3n: bad.conllu:152: head 9 of word 2; expected a number from 0 to 3; what stands before")
    assert err.count("\n") == 1
    text = out if target == "-" else Path(target).read_text(encoding="utf-8")
    assert [s.words[0] for s in formats.read(io.StringIO(text), format="conllu")] == ["dogs"] * 21


def test_a_damaged_sentence_is_left_out_on_request(run: Run) -> None:
    Path("bad.conllu").write_text(DAMAGED, encoding="utf-8")
    code, _, err = run("bad.conllu", "--keep-going", "-o", "out.conllu")
    assert code == 1
    first, last = err.splitlines()
    assert first.startswith("h3n: bad.conllu:12: head 9 of word 2")
    assert last == "h3n: 1 problem; what they concern was left out"
    assert [sentence.words[0] for sentence in formats.read("out.conllu")] == ["dogs", "cats"]


@pytest.mark.parametrize(
    "card", ["---\nlanguage: af\nlicense: mit\n---\n# X\n", "# X\n\n- Language: af\n- Licence: (fill in)\n"]
)
def test_text_for_a_model_of_another_language_is_noted_once(run: Run, tiny_model: Path, card: str) -> None:
    shutil.copytree(tiny_model, "af")
    Path("af/README.md").write_text(card, encoding="utf-8")
    note = "h3n: model af is for af, and text is cut into words as English; --from words takes others\n"
    code, _, err = run("a.txt", "--to", "conllu", model="af")
    assert (code, err) == (0, note)
    assert run("a.txt", "--from", "words", "--to", "conllu", model="af")[2] == ""
    assert run("a.conllu", "--to", "conllu", model="af")[2] == ""
    for silent in ("---\nlanguage: en\n---\n", "- Language: English\n", "- Language: (fill in)\n", "# No card\n"):
        Path("af/README.md").write_text(silent, encoding="utf-8")
        assert run("--text", "It sleeps.", "--to", "conllu", model="af")[2] == ""
