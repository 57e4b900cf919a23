"""`h3n draw` as a user meets it."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree

import pytest

from h3n.cli import main
from h3n.draw import read_joint_brackets

Run = Callable[..., tuple[int, str, str]]

TREES = "(TOP (S (NP (DT the) (NN dog)) (VP (VBZ barks)) (. .)))\n(TOP (S (NP (PRP it)) (VP (VBZ is))))\n"
ROWS = (
    "# sent_id = a-1\n# text = The dog\n1\tthe\t_\t_\tDT\t_\t2\tdet\t_\t_\n2\tdog\t_\t_\tNN\t_\t3\tnsubj\t_\t_\n"
    "3\tbarks\t_\t_\tVBZ\t_\t0\troot\t_\t_\n4\t.\t_\t_\t.\t_\t3\tpunct\t_\t_\n\n"
    "1\tit\t_\t_\tPRP\t_\t2\tnsubj\t_\t_\n2\tis\t_\t_\tVBZ\t_\t0\troot\t_\t_\n\n"
)
DRAWN = (
    "S─┬─NP─┬── 1 the   DT  2 det\n"
    "  │    ┕━━ 2 dog   NN  3 nsubj\n"
    "  ┝━VP━━━━ 3 barks VBZ 0 root\n"
    "  └─────── 4 .     .   3 punct\n"
)


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsysbinary: pytest.CaptureFixture[bytes]) -> Run:
    """Return a function that runs the command inside a folder of sample files: (exit code, stdout, stderr)."""
    monkeypatch.chdir(tmp_path)
    files = {
        "dev.ptb": TREES,
        "dev.conllu": ROWS,
        "short.conllu": ROWS[: ROWS.index("\n\n") + 2],
        "other.conllu": ROWS.replace("dog", "cat"),
        "empty.ptb": "",
        "unparsed.ptb": "()\n",
    }
    for name, text in files.items():
        Path(name).write_text(text, encoding="utf-8")

    def command(*arguments: str) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["h3n", "draw", *arguments])
        with pytest.raises(SystemExit) as left:
            main()
        out, err = capsysbinary.readouterr()
        return int(left.value.code or 0), out.decode(errors="replace"), err.decode()

    return command


def test_both_trees_in_the_terminal(run: Run) -> None:
    assert run("dev.ptb", "--dependencies", "dev.conllu", "--sentence", "1") == (0, DRAWN, "")


def test_several_sentences_are_numbered(run: Run) -> None:
    code, out, _ = run("dev.ptb", "--dependencies", "dev.conllu")
    assert code == 0
    assert out.startswith(f"# 1\n{DRAWN}\n# 2\nS─┬─NP")


@pytest.mark.parametrize(
    ("asked", "shown"), [("2", []), ("1-2", ["1", "2"]), ("2-", ["2"]), ("1,2", ["1", "2"]), ("1-1,2-9", ["1", "2"])]
)
def test_sentences_are_chosen(run: Run, asked: str, shown: list[str]) -> None:
    code, out, _ = run("dev.ptb", "-s", asked)
    assert code == 0
    assert re.findall(r"^# (\d+)$", out, re.MULTILINE) == shown


def test_a_sentence_by_its_id(run: Run) -> None:
    assert run("dev.conllu", "-s", "a-1") == run("dev.conllu", "-s", "1")
    assert re.findall(r"^# (\d+)$", run("dev.conllu", "-s", "a-1,2")[1], re.MULTILINE) == ["1", "2"]


def test_latex_by_its_ending_and_in_parts(run: Run) -> None:
    both = ("dev.ptb", "--dependencies", "dev.conllu")
    assert run(*both, "-o", "trees.tex") == (0, "", "")
    document = Path("trees.tex").read_text(encoding="utf-8")
    assert document.startswith("\\documentclass")
    assert document.count("\\begin{forest}") == document.count("\\begin{dependency}") == 2
    assert "[{NN}, edge={very thick} [{dog}, tier=word]]" in run(*both, "-s", "1", "--to", "forest")[1]
    assert "\\depedge{2}{1}{det}" in run(*both, "-s", "1", "--to", "tikz")[1]


def test_a_picture_no_wider_than_asked_for(run: Run) -> None:
    code, out, _ = run("dev.ptb", "--dependencies", "dev.conllu", "-s", "1", "--to", "svg", "--fit", "210")
    assert code == 0
    picture = ElementTree.fromstring(out)
    assert float(picture.get("width", "0")) <= 210
    assert len(picture.findall("{*}g[@class='h3n-word']/{*}text")) == 4


def test_png_says_which_characters_no_font_has(run: Run) -> None:
    pytest.importorskip("resvg_py", reason="the extra png is not installed")
    Path("odd.ptb").write_text("(TOP (S (X \U0010fffc) (X é)))\n", encoding="utf-8")
    code, _, err = run("odd.ptb", "-o", "odd.png")
    assert code == 1
    assert "no font of this machine has 1 of the characters" in err
    assert "write svg or html" in err
    assert Path("odd.png").exists()


def test_one_tree_alone(run: Run) -> None:
    assert "1 the   DT\n" in run("dev.ptb", "-s", "1")[1]
    assert "╭──▸ 1 the   DT  2 det" in run("dev.conllu", "-s", "1")[1]


def test_ascii_width_and_colour(run: Run) -> None:
    assert run("dev.ptb", "-s", "2", "--ascii", "--width", "40")[1].isascii()
    assert "\x1b[" in run("dev.ptb", "-s", "2", "--colour", "always")[1]


def test_joint_brackets_can_be_read_back(run: Run) -> None:
    code, out, _ = run("dev.ptb", "--dependencies", "dev.conllu", "--to", "joint")
    assert code == 0
    assert [read_joint_brackets(line).words for line in out.splitlines()] == [
        ("the", "dog", "barks", "."),
        ("it", "is"),
    ]


def test_the_ending_of_the_output_decides(run: Run) -> None:
    assert run("dev.ptb", "-s", "1", "-o", "tree.svg") == (0, "", "")
    assert ElementTree.parse("tree.svg").getroot().tag.endswith("svg")
    assert run("dev.ptb", "--dependencies", "dev.conllu", "-o", "trees.html") == (0, "", "")
    page = Path("trees.html").read_text(encoding="utf-8")
    assert page.count("<svg") == 2
    assert '<figcaption dir="auto">1. The dog</figcaption>' in page
    assert '<figcaption dir="auto">2. it is</figcaption>' in page


def test_a_picture_on_standard_output(run: Run) -> None:
    code, out, _ = run("dev.ptb", "-s", "2", "--to", "svg", "--theme", "print")
    assert code == 0
    assert ElementTree.fromstring(out).get("class") == "h3n"


def test_several_pictures_go_into_a_folder(run: Run) -> None:
    assert run("dev.ptb", "-o", "pictures/") == (0, "", "")
    assert sorted(path.name for path in Path("pictures").iterdir()) == ["1.svg", "2.svg"]


def test_png(run: Run) -> None:
    pytest.importorskip("resvg_py")
    assert run("dev.ptb", "-s", "1", "-o", "tree.png") == (0, "", "")
    assert Path("tree.png").read_bytes().startswith(b"\x89PNG")


def test_png_without_the_converter(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "resvg_py", None)
    code, _, err = run("dev.ptb", "-s", "1", "-o", "tree.png")
    assert (code, err.count("\n")) == (2, 1)
    assert "pip install 'h3n[png]'" in err
    assert not Path("tree.png").exists()


def test_a_sentence_without_a_parse_has_no_lines(run: Run) -> None:
    assert run("unparsed.ptb") == (0, "# 1\n\n", "")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["missing.ptb"], "missing.ptb: cannot be opened"),
        (["empty.ptb"], "empty.ptb has 0 sentences"),
        (["dev.ptb", "-s", "3"], "dev.ptb has 2 sentences; --sentence asks for what is not there: 3"),
        (["dev.ptb", "-s", "2,500,9-"], "--sentence asks for what is not there: 500, 9-"),
        (["dev.conllu", "-s", "b"], "--sentence asks for what is not there: b"),
        (["dev.ptb", "-s", "1,"], "--sentence '1,': expected numbers from 1, ranges"),
        (["dev.ptb", "-s", "1", "-t", "svg", "--fit", "20"], "a picture of 20 pixels is too narrow"),
        (["dev.ptb", "-s", "0"], "the range '0' is empty; sentences count from 1"),
        (["dev.ptb", "-s", "5-2"], "the range '5-2' is empty"),
        (["dev.ptb", "--to", "svg"], "holds one picture; name a folder: --to svg --output pictures/"),
        (["dev.ptb", "-o", "x.svg"], "holds one picture; name a folder: --to svg --output x/"),
        (["dev.ptb", "-o", "x.pdf"], "nothing is written as .pdf; known: .htm, .html, .joint, .png, .svg, .tex, .txt"),
        (["dev.ptb", "-o", "x.conllu"], "nothing is written as .conllu; known: .htm"),
        (["dev.ptb", "--to", "gif"], "unknown output format 'gif'"),
        (["dev.ptb", "--width", "10"], "a width of 10 columns is too narrow"),
        (["dev.ptb", "--to", "joint"], "has no dependencies; a joint tree needs both"),
        (["dev.ptb", "--dependencies", "short.conllu"], "ends after 1 sentences, but another file goes on at"),
        (["dev.ptb", "--dependencies", "other.conllu"], "is 'dog', but 'cat' at other.conllu:1"),
        (["dev.ptb", "-s", "1", "-o", "dev.ptb/x.svg"], "cannot be written"),
        (["-", "--dependencies", "-"], "only one of FILE and --dependencies can be standard input"),
    ],
)
def test_what_cannot_be_drawn_is_one_line(run: Run, arguments: list[str], message: str) -> None:
    code, _, err = run(*arguments)
    assert code == 2
    assert message in err
    assert err.startswith("h3n: ")
    assert err.count("\n") == 1


def test_nothing_is_written_when_the_input_is_wrong(run: Run) -> None:
    assert run("dev.ptb", "-s", "9", "-o", "out.txt")[0] == 2
    assert not Path("out.txt").exists()


def test_drawing_needs_no_torch() -> None:
    code = "import sys, h3n.cli.draw; sys.exit('torch' in sys.modules or 'transformers' in sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)
