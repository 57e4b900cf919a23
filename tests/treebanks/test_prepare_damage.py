"""Preparing treebanks whose trees disagree or are damaged, and what is refused without a trace left behind."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from h3n.errors import FormatError, MismatchError, TreeError, UsageError
from h3n.prepare import Options, prepare
from tests.treebanks.miniature import both, brackets, conllu, in_splits, put

TRAIN = Options(splits=("train",))
GOING = replace(TRAIN, keep_going=True)
TEXT = ("one a", "two b b", "three", "four d", "five e e e")


def parallel(root: Path, trees: str, dependencies: str) -> Path:
    return put(root, {"train.ptb": trees, "train.conllu": dependencies})


def test_trees_that_disagree_are_counted(tmp_path: Path) -> None:
    tree = "(TOP (S (A a) (X (B b) (C c)) (D d)))\n"
    words = conllu("a b c d", heads={"a": 0, "b": 1, "c": 4, "d": 1})
    report = prepare("parallel", parallel(tmp_path / "in", tree, words), tmp_path / "out", options=TRAIN)
    split = report.splits["train"]
    assert (split.join.consistent, split.join.several_heads, split.tags_differ) == (0, 1, 4)
    assert split.join.moved > 0
    assert "the trees disagree in 1 sentences" in "\n".join(report.lines())


def test_sentences_that_do_not_line_up_are_an_error_with_both_places(tmp_path: Path) -> None:
    changed = [*TEXT[:2], "drei", *TEXT[3:]]
    source = parallel(tmp_path / "in", brackets(*TEXT), conllu(*changed))
    with pytest.raises(MismatchError, match=r"train\.ptb:3: word 1 is 'three', but 'drei' at .*train\.conllu:8$"):
        prepare("parallel", source, tmp_path / "out", options=TRAIN)
    assert not (tmp_path / "out").exists()
    report = prepare("parallel", source, tmp_path / "out", options=GOING)
    assert (report.problems, report.splits["train"].sentences) == (1, 4)
    assert report.splits["train"].findings[0].where == "train.ptb:3"
    assert "'drei' at train.conllu:8" in report.splits["train"].findings[0].why


@pytest.mark.parametrize("extra", [0, 2, 5])
@pytest.mark.parametrize("side", ["trees", "dependencies"])
def test_a_sentence_too_many_costs_that_sentence_alone(tmp_path: Path, extra: int, side: str) -> None:
    longer = [*TEXT[:extra], "nine to many", *TEXT[extra:]]
    trees, words = (longer, TEXT) if side == "trees" else (TEXT, longer)
    source = parallel(tmp_path / "in", brackets(*trees), conllu(*words))
    with pytest.raises(MismatchError):
        prepare("parallel", source, tmp_path / "out", options=TRAIN)
    report = prepare("parallel", source, tmp_path / "out", options=GOING)
    assert (report.problems, report.splits["train"].sentences) == (1, 5)
    assert [sentence.words for _, sentence in both(tmp_path / "out")] == [tuple(text.split()) for text in TEXT]


@pytest.mark.parametrize(
    ("heads", "message"),
    [
        ({"a": 2, "b": 1}, "in.conllu:.*root"),
        ({"a": 0, "b": 3, "c": 2}, "in.conllu:.*circle"),
        ({"a": 0, "b": 0}, "in.conllu:.*root"),
        ({"a": 0, "b": 9}, "in.conllu:.*9"),
    ],
)
def test_dependencies_that_are_no_tree(tmp_path: Path, heads: dict[str, int], message: str) -> None:
    file = tmp_path / "in.conllu"
    file.write_text(conllu("x y") + conllu("a b c", heads=heads) + conllu("z"), encoding="utf-8")
    with pytest.raises(FormatError, match=message):
        prepare("conllu", file, tmp_path / "out", options=TRAIN)
    report = prepare("conllu", file, tmp_path / "out", options=GOING)
    assert report.problems > 0
    assert report.splits["train"].sentences == 2
    assert report.splits["train"].findings[0].where.startswith("in.conllu:")


def test_a_sentence_without_heads(tmp_path: Path) -> None:
    file = tmp_path / "in.conllu"
    file.write_text(conllu("x y") + "1\ta\t_\t_\t_\t_\t_\t_\t_\t_\n\n", encoding="utf-8")
    with pytest.raises((FormatError, TreeError), match=r"in\.conllu:4: "):
        prepare("conllu", file, tmp_path / "out", options=TRAIN)
    assert prepare("conllu", file, tmp_path / "out", options=GOING).problems == 1


def test_trees_with_unknown_labels_one_word_and_none(tmp_path: Path) -> None:
    trees = "(ROOT (QQ (ZZ a) (YY (XX b) (WW c))))\n(ROOT (S (NP (NN word))))\n(ROOT (S (NP (-NONE- *))))\n"
    file = put(tmp_path / "in", {"t.ptb": trees}) / "t.ptb"
    report = prepare("brackets", file, tmp_path / "out", options=replace(TRAIN, scheme="sd"))
    split = report.splits["train"]
    assert split.sentences == 2
    assert split.unknown_labels["QQ"] == 1
    assert [finding.why for finding in split.findings] == ["left out: no words"]
    assert split.findings[0].where == "t.ptb:3"
    assert report.problems == 0


def test_a_tree_of_traces_stands_against_nothing(tmp_path: Path) -> None:
    trees = brackets("a b") + "(TOP (S (-NONE- *)))\n" + brackets("c")
    report = prepare("parallel", parallel(tmp_path / "in", trees, conllu("a b", "c")), tmp_path / "out", options=TRAIN)
    split = report.splits["train"]
    assert (split.sentences, report.problems) == (2, 0)
    assert [(finding.where, finding.why) for finding in split.findings] == [("train.ptb:2", "left out: no words")]


def test_an_empty_tree(tmp_path: Path) -> None:
    source = parallel(tmp_path / "in", brackets("a b") + "(())\n" + brackets("c"), conllu("a b", "c"))
    with pytest.raises(TreeError, match=r"train\.ptb:2: a tree without words"):
        prepare("parallel", source, tmp_path / "out", options=TRAIN)
    report = prepare("parallel", source, tmp_path / "out", options=GOING)
    assert (report.problems, report.splits["train"].sentences) == (1, 2)


def test_broken_brackets(tmp_path: Path) -> None:
    file = put(tmp_path / "in", {"t.ptb": "(S (A a))\n(S (A b)\n(S (A c))\n"}) / "t.ptb"
    with pytest.raises(FormatError, match=r"t\.ptb:2"):
        prepare("brackets", file, tmp_path / "out", options=replace(TRAIN, scheme="sd"))
    report = prepare("brackets", file, tmp_path / "out", options=replace(GOING, scheme="sd"))
    assert report.problems == 1


def test_nothing_is_left_behind_after_an_error(tmp_path: Path) -> None:
    put(tmp_path / "in", {"train.conllu": conllu("a b"), "dev.conllu": "broken\n", "test.conllu": conllu("a")})
    with pytest.raises(FormatError):
        prepare("conllu", tmp_path / "in", tmp_path / "out", options=Options())
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in"]


def test_a_folder_that_holds_something_is_not_touched(tmp_path: Path) -> None:
    source = put(tmp_path / "in", in_splits("{}.conllu", conllu("a b")))
    precious = put(tmp_path / "out", {"thesis.tex": "x"})
    for options in (Options(), Options(overwrite=True)):
        with pytest.raises(UsageError, match="exists and is not empty; expected a new or an empty folder"):
            prepare("conllu", source, precious, options=options)
    assert (precious / "thesis.tex").read_text(encoding="utf-8") == "x"
    with pytest.raises(UsageError, match=r"thesis\.tex: is not a folder; expected a new or an empty one"):
        prepare("conllu", source, precious / "thesis.tex", options=Options())
    prepare("conllu", source, tmp_path / "again", options=Options())
    with pytest.raises(UsageError, match="--overwrite replaces it"):
        prepare("conllu", source, tmp_path / "again", options=Options())
    put(source, {"dev.conllu": conllu("c d e")})
    prepare("conllu", source, tmp_path / "again", options=Options(overwrite=True))
    assert next(both(tmp_path / "again", "dev"))[1].words == ("c", "d", "e")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["again", "in", "out"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (Options(splits=("tset",)), "unknown split 'tset'; known: dev, test, train"),
        (Options(splits=()), "no split asked for"),
        (Options(divide=(0, 0, 0)), "divide 0/0/0; expected three shares"),
        (Options(scheme="stanford"), "unknown scheme 'stanford'"),
    ],
)
def test_wrong_options(tmp_path: Path, options: Options, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        prepare("conllu", tmp_path, tmp_path / "out", options=options)


def test_a_treebank_with_splits_is_not_divided(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="--divide: ptb has a split of its own"):
        prepare("ptb", tmp_path, tmp_path / "out", options=Options(divide=(8, 1, 1)))
