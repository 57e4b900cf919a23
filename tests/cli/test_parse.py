"""`h3n parse` as a user meets it."""

from __future__ import annotations

import io
import json
import shutil
from pathlib import Path
from xml.etree import ElementTree

import pytest

from h3n import formats
from h3n.draw import read_joint_brackets
from tests.cli.parse_inputs import ROWS, Run


def test_given_tags_are_kept_and_marked_or_predicted_anew(parse: Run) -> None:
    for ending in ("conllu", "jsonl"):
        assert (
            parse("a.conllu", "-o", f"kept.{ending}")[0] == parse("a.conllu", "--retag", "-o", f"own.{ending}")[0] == 0
        )
        (kept,), (own,) = (list(formats.read(f"{name}.{ending}")) for name in ("kept", "own"))
        assert kept.tags == ("XX", "YY", "ZZ")
        assert "# tags = given" in kept.comments
        assert own.tags is not None
        assert not {"XX", "YY", "ZZ"} & set(own.tags)
        assert "# tags = given" not in own.comments
    assert parse("kept.conllu", "--retag", "-o", "again.conllu")[0] == 0
    assert Path("again.conllu").read_text() == Path("own.conllu").read_text()
    assert parse("kept.conllu", "-o", "twice.conllu")[0] == 0
    assert Path("twice.conllu").read_text().count("# tags = given") == 1
    assert "given" not in parse("a.txt", "--to", "conllu")[1]


def test_a_text_becomes_trees_in_the_terminal(parse: Run) -> None:
    code, out, err = parse("--text", "This dog saw Oslo. Oslo found a house.")
    assert (code, err) == (0, "")
    first, second, nothing = out.split("\n\n")
    assert [line.split()[-4] for line in first.splitlines()] == ["This", "dog", "saw", "Oslo", "."]
    assert "house" in second
    assert nothing == ""


def test_lines_and_blank_lines_stay_in_step(parse: Run) -> None:
    arguments = ("a.txt", "--from", "lines", "--to")
    code, out, _ = parse(*arguments, "brackets")
    assert code == 0
    first, blank, third = out.splitlines()
    assert blank == ""
    assert " -LRB-)" in third
    assert first.startswith("(ROOT ")
    assert [len(read_joint_brackets(line)) if line else 0 for line in parse(*arguments, "joint")[1].splitlines()] == [
        5,
        0,
        9,
    ]
    assert [len(json.loads(line)["words"]) for line in parse(*arguments, "jsonl")[1].splitlines()] == [5, 0, 9]
    found = list(formats.read(io.StringIO(parse(*arguments, "conllu")[1]), format="conllu"))
    assert [len(sentence) for sentence in found] == [5, 0, 9]
    assert len(parse(*arguments, "pretty")[1].splitlines()) == 5 + 0 + 9 + 3


def test_words_are_taken_as_they_are(parse: Run) -> None:
    code, out, _ = parse("-", "--from", "words", "--to", "jsonl", stdin="don't ( stop\n")
    assert code == 0
    assert json.loads(out)["words"] == ["don't", "(", "stop"]


def test_conllu_keeps_what_was_known(parse: Run) -> None:
    code, out, _ = parse("a.conllu", "--to", "conllu")
    assert code == 0
    assert "old" not in out
    lines, given = out.splitlines(), ROWS.splitlines()
    assert lines.pop(2) == "# tags = given"
    assert lines[:2] == given[:2]
    assert lines[3] == given[3]
    for line, row in zip(lines[2:6], given[2:6], strict=True):
        assert line.split("\t")[:6] == row.split("\t")[:6]
    assert [line.split("\t")[6] for line in lines[2:6]].count("0") == 1


def test_brackets_keep_words_and_tags(parse: Run) -> None:
    code, out, _ = parse("a.ptb", "-o", "out.ptb")
    assert (code, out) == (0, "")
    first, blank, last = formats.read("out.ptb")
    assert (first.words, first.tags) == (("the", "New_York", "("), ("AA", "BB", "-LRB-"))
    assert blank.words == ()
    assert (last.words, last.tags) == (("ends",), ("CC",))


def test_the_ending_of_the_output_names_its_format(parse: Run) -> None:
    for name in ("x.conllu", "x.ptb", "x.jsonl", "x.svg", "x.html"):
        assert parse("--text", "Oslo found a dog.", "-o", name)[0] == 0
    assert next(formats.read("x.conllu")).dependencies is not None
    assert next(formats.read("x.ptb")).tree is not None
    both = next(formats.read("x.jsonl"))
    assert both.tree is not None
    assert both.dependencies is not None
    for name in ("x.conllu.gz", "x.brackets.xz", "x.JSON"):
        assert parse("--text", "Oslo found a dog.", "-o", name)[0] == 0
        assert next(formats.read(name)).words == both.words
    ElementTree.parse("x.svg")
    assert "Oslo found a dog." in Path("x.html").read_text(encoding="utf-8")


def test_pictures_of_several_sentences_need_a_folder(parse: Run) -> None:
    text = "Oslo found a dog. This dog saw Oslo."
    code, _, err = parse("--text", text, "-o", "one.svg")
    message = "several sentences, and a file of svg holds one picture; name a folder: --to svg --output one/"
    assert (code, err) == (2, f"h3n: {message}\n")
    assert not Path("one.svg").exists()
    assert parse("--text", text, *message.split(": ")[1].split())[0] == 0
    assert parse("--text", text, "-o", "pictures/")[0] == 0
    for folder in ("one", "pictures"):
        assert sorted(path.name for path in Path(folder).iterdir()) == ["1.svg", "2.svg"]


def test_confidence_shades_a_picture(parse: Run) -> None:
    text = "Oslo found a dog which didn't see the house."
    assert parse("--text", text, "--confidence", "-o", "sure.svg")[0] == 0
    assert "h3n-doubt" in Path("sure.svg").read_text(encoding="utf-8")
    code, _, err = parse("--text", text, "--confidence")
    assert (code, err.count("\n")) == (2, 1)
    assert "accepted with --to: svg, png, html" in err


def test_latex(parse: Run) -> None:
    assert parse("--text", "Oslo found a dog.", "-o", "x.tex") == (0, "", "")
    assert "[{Oslo}, tier=word]" in Path("x.tex").read_text(encoding="utf-8")


def test_conllx_by_its_endings(parse: Run) -> None:
    for name in ("x.conll", "x.conllx"):
        assert parse("--text", "Oslo found a dog.", "-o", name) == (0, "", "")
        sentence = next(formats.read(name, format="conllx"))
        assert sentence.words == ("Oslo", "found", "a", "dog", ".")
        assert sentence.dependencies is not None


def test_short_names_of_the_formats(parse: Run) -> None:
    new = parse("a.txt", "--from", "lines", "--to", "jsonl")
    assert new[0] == 0
    assert parse("a.txt", "-f", "lines", "-t", "jsonl") == new


def test_png(parse: Run) -> None:
    pytest.importorskip("resvg_py", reason="the extra png is not installed")
    assert parse("--text", "Oslo found a dog.", "-o", "one.png")[0] == 0
    assert Path("one.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize("name", ["pretty", "joint", "brackets", "conllu", "conllx", "jsonl"])
def test_empty_input_is_empty_output_and_a_note(parse: Run, name: str) -> None:
    assert parse("empty.txt", "--to", name) == (0, "", "h3n: empty.txt: no sentence to parse\n")


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
        (["a.txt", "--to", "word"], "unknown output format 'word'"),
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
def test_mistakes_are_one_line(parse: Run, arguments: list[str], message: str) -> None:
    code, out, err = parse(*arguments)
    assert (code, out) == (2, "")
    assert err.startswith("h3n: ")
    assert err.count("\n") == 1
    assert message in err


def test_a_missing_model_is_one_line(parse: Run) -> None:
    code, _, err = parse("--text", "a", model="nix")
    assert (code, err.count("\n")) == (2, 1)
    assert "no model 'nix'" in err


def test_what_is_wrong_with_the_file_is_said_before_a_model_is_loaded(parse: Run) -> None:
    assert "nix.txt: cannot be opened" in parse("nix.txt", model="no-model-either")[2]
    assert "there is no folder nix" in parse("a.txt", "-o", "nix/a.ptb", model="no-model-either")[2]


def test_a_model_of_dependencies_alone_says_so(parse: Run, tiny_model: Path, tmp_path: Path) -> None:
    about = json.loads((tiny_model / "parser.json").read_text(encoding="utf-8"))
    about["config"]["decoding"]["decoder"] = "mst"
    folder = tmp_path / "arcs"
    shutil.copytree(tiny_model, folder)
    (folder / "parser.json").write_text(json.dumps(about), encoding="utf-8")
    code, out, err = parse("a.txt", "-t", "brackets", model=str(folder))
    assert (code, out) == (2, "")
    assert "finds the best dependency tree, crossing arcs allowed (decoder mst), not all that brackets shows" in err
    assert parse("a.txt", "-t", "brackets", "--decoder", "cky", model=str(folder))[0] == 0


@pytest.mark.parametrize(
    "card", ["---\nlanguage: af\nlicense: mit\n---\n# X\n", "# X\n\n- Language: af\n- Licence: (fill in)\n"]
)
def test_text_for_a_model_of_another_language_is_noted_once(parse: Run, tiny_model: Path, card: str) -> None:
    shutil.copytree(tiny_model, "af")
    Path("af/README.md").write_text(card, encoding="utf-8")
    note = "h3n: model af is for af, and text is cut into words as English; --from words takes others\n"
    code, _, err = parse("a.txt", "--to", "conllu", model="af")
    assert (code, err) == (0, note)
    assert parse("a.txt", "--from", "words", "--to", "conllu", model="af")[2] == ""
    assert parse("a.conllu", "--to", "conllu", model="af")[2] == ""
    for silent in ("---\nlanguage: en\n---\n", "- Language: English\n", "- Language: (fill in)\n", "# No card\n"):
        Path("af/README.md").write_text(silent, encoding="utf-8")
        assert parse("--text", "It sleeps.", "--to", "conllu", model="af")[2] == ""
