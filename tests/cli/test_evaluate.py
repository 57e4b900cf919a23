"""`h3n evaluate` as a user meets it: through the installed command's entry point, with files of its own."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from h3n import formats
from h3n.cli import main
from h3n.trees import Constituent, Dependencies, Leaf, Sentence

GOLD = "(TOP (S (NP (DT the) (NN dog)) (VP (VBZ barks)) (. .)))\n(TOP (S (NP (NN it)) (VP (VBZ is))))\n"
PREDICTED = "(TOP (S (NP (DT the) (NN dog)) (NP (VBZ barks)) (. .)))\n()\n"
ROWS = (
    "1\tthe\t_\tDET\tDT\t_\t2\tdet\t_\t_\n"
    "2\tdog\t_\tNOUN\tNN\t_\t{}\t{}\t_\t_\n"
    "3\t.\t_\tPUNCT\t.\t_\t2\tpunct\t_\t_\n\n"
)
TALL = "( (S\n    (NP (DT the) (NN dog))\n    (VP (VBZ barks)) (. .)))\n( (S\n    (NP (NN it))\n    (VP (VBZ is))))\n"


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Any:
    """Return a function that runs the command inside a folder of sample files: (exit code, stdout, stderr)."""
    monkeypatch.chdir(tmp_path)
    files = {
        "gold.ptb": GOLD,
        "pred.ptb": PREDICTED,
        "other.ptb": GOLD.replace("dog", "cat"),
        "short.ptb": GOLD.splitlines()[0] + "\n",
        "tall.ptb": TALL,
        "empty.ptb": "",
        "broken.ptb": GOLD.replace("(. .)", "(. ."),
        "gold.conllu": ROWS.format(0, "root"),
        "pred.conllu": ROWS.format(0, "root").replace("2\tdet", "3\tdet"),
        "cut.conllu": "1\tthedog\t_\tNOUN\tNN\t_\t0\troot\t_\t_\n2\t.\t_\tPUNCT\t.\t_\t1\tpunct\t_\t_\n\n",
        "own.prm": "DELETE_LABEL TOP\nLABELED 1\nCUTOFF_LEN 3\n",
    }
    for name, text in files.items():
        (tmp_path / name).write_text(text, encoding="utf-8")

    def command(*arguments: str) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["h3n", "evaluate", *arguments])
        with pytest.raises(SystemExit) as left:
            main()
        printed = capsys.readouterr()
        return int(left.value.code or 0), printed.out, printed.err

    return command


def numbers(run: Any, *arguments: str) -> dict[str, Any]:
    code, out, err = run(*arguments, "--json")
    assert (code, err) == (0, "")
    found: dict[str, Any] = json.loads(out)
    return found


def test_brackets_as_json(run: Any) -> None:
    found = numbers(run, "gold.ptb", "pred.ptb")
    assert (found["LP"], found["LR"], found["LF1"], found["exact"]) == (66.6667, 66.6667, 66.6667, 0.0)
    assert (found["sentences"], found["skipped"], found["errors"]) == (2, 1, 0)
    assert found["parameters"] == "collins, no top, punctuation by gold tags, as EVALB"
    assert numbers(run, "gold.ptb", "pred.ptb", "-p", "collins")["parameters"] == "collins, as EVALB"


def test_a_top_bracket_and_a_wrong_tag_count_for_evalb_alone(run: Any) -> None:
    Path("root.ptb").write_text(GOLD.replace("TOP", "ROOT"), encoding="utf-8")
    wrong = GOLD.replace("TOP", "ROOT").replace("(. .)", "(NN .)").replace("(NP (NN it))", "(VP (NN it))")
    Path("wrong.ptb").write_text(wrong, encoding="utf-8")
    found = numbers(run, "root.ptb", "wrong.ptb")
    assert (found["matched"], found["gold"], found["errors"], found["tagging"]) == (5, 6, 0, 100.0)
    assert numbers(run, "root.ptb", "root.ptb")["gold"] == 6
    assert numbers(run, "root.ptb", "root.ptb", "-p", "collins")["gold"] == 8
    code, _, err = run("root.ptb", "wrong.ptb", "-p", "collins")
    assert code == 2
    assert "other words are deleted by their tags" in err


def test_breakdowns_of_dependencies_and_of_json_lines(run: Any) -> None:
    found = numbers(run, "gold.conllu", "pred.conllu", "--by-length", "--by-label")
    assert found["attachment_by_length"] == {"1-10": {"UAS": 50.0, "LAS": 50.0, "words": 2}}
    assert found["by_relation"]["det"] == {"LP": 0.0, "LR": 0.0, "LF1": 0.0, "gold": 1, "predicted": 1}
    assert found["by_relation"]["root"]["LF1"] == 100.0
    _, out, _ = run("gold.conllu", "pred.conllu", "--by-length", "--by-label")
    assert ["length", "UAS", "LAS", "words"] in [line.split() for line in out.splitlines()]
    for side in ("gold", "short"):
        formats.write(formats.read(f"{side}.ptb"), f"{side}.jsonl")
    found = numbers(run, "short.jsonl", "short.jsonl", "--by-label", "--by-length")
    assert found["by_label"]["NP"]["LF1"] == 100.0
    assert found["by_length"]["1-10"]["gold"] == 3


def test_brackets_as_a_table_that_names_the_parameters(run: Any) -> None:
    code, out, err = run("gold.ptb", "pred.ptb", "--parameters", "own.prm")
    assert (code, err) == (0, "")
    assert out.startswith("brackets: own.prm, as EVALB\n")
    assert "<= 3 words" in out
    assert any(line.split() == ["LF1", "66.67", "0.00"] for line in out.splitlines())


def test_brackets_over_several_lines(run: Any) -> None:
    assert numbers(run, "tall.ptb", "tall.ptb")["LF1"] == 100.0
    assert numbers(run, "tall.ptb", "gold.ptb", "--no-top")["LF1"] == 100.0


def test_options_change_what_counts(run: Any) -> None:
    assert numbers(run, "gold.ptb", "pred.ptb", "--unlabelled")["LF1"] == 100.0
    assert numbers(run, "gold.ptb", "pred.ptb", "--unparsed", "miss")["LR"] == 33.3333
    assert numbers(run, "gold.ptb", "pred.ptb", "--spmrl")["tagging"] == 100.0
    assert numbers(run, "gold.ptb", "pred.ptb", "--spmrl", "-X")["gold"] == 3 + 3 * 6 + 5
    assert numbers(run, "gold.ptb", "pred.ptb", "-K", "1")["sentences"] == 1
    found = numbers(run, "gold.ptb", "pred.ptb", "--by-label", "--by-length", "--leaf-ancestor")
    assert found["by_label"]["VP"] == {"LP": 0.0, "LR": 0.0, "LF1": 0.0, "gold": 1, "predicted": 0}
    assert found["by_length"]["1-10"]["LF1"] == 66.6667
    assert 0 < found["leaf_ancestor"] < 100


def test_the_spmrl_dialect_is_scored_by_its_own_program(run: Any) -> None:
    Path("a.spmrl").write_text("(ROOT (NP##h=1## (N##lem=chat## chats) (, ,)))\n", encoding="utf-8")
    Path("b.spmrl").write_text("( (NP\n    (N chats)\n    (, ,)))\n", encoding="utf-8")
    for predicted in ("a.spmrl", "b.spmrl"):
        found = numbers(run, "a.spmrl", predicted)
        assert (found["LF1"], found["gold"], found["tagging"]) == (100.0, 1, 100.0)
        assert found["parameters"] == "spmrl, as EVALB_SPMRL"


def test_the_reports_of_the_c_programs(run: Any) -> None:
    code, out, _ = run("gold.ptb", "pred.ptb", "--report", "evalb")
    assert code == 0
    assert out.splitlines()[3:5] == [
        "   1    4    0   66.67  66.67     2      3    3      0      3     3   100.00",
        "   2    2    2    0.00   0.00     0      0    0      0      0     0     0.00",
    ]
    code, out, _ = run("gold.ptb", "pred.ptb", "--spmrl", "-L")
    assert (code, out.split("\t")[0]) == (0, "F1:  66.67 %")


def test_other_words_are_an_error_that_says_where(run: Any) -> None:
    code, out, err = run("gold.ptb", "other.ptb")
    assert (code, out) == (2, "")
    assert err == "h3n: sentence 1 (gold gold.ptb:1, predicted other.ptb:1): word 2 is 'dog' in gold, 'cat' predicted\n"


@pytest.mark.parametrize("option", [("--keep-going",), ("--report", "evalb"), ("-p", "own.prm")])
def test_other_words_are_left_out_if_asked(run: Any, option: tuple[str, ...]) -> None:
    code, out, err = run("gold.ptb", "other.ptb", *option)
    assert code == 0
    assert out
    assert err.startswith("h3n: left out: sentence 1 (gold gold.ptb:1, predicted other.ptb:1): word 2 is")


def test_dependencies(run: Any) -> None:
    found = numbers(run, "gold.conllu", "pred.conllu")
    assert (found["UAS"], found["LAS"], found["UAS_all"], found["LAS_all"]) == (50.0, 50.0, 66.6667, 66.6667)
    assert (found["UAS_tag"], found["words_tag"], found["XPOS"]) == (50.0, 2, 100.0)
    assert numbers(run, "gold.conllu", "pred.conllu", "--punctuation", "all")["UAS"] == 66.6667
    assert (
        numbers(run, "gold.conllu", "pred.conllu", "--punctuation", "tag", "--punctuation-tags", "DT")["UAS"] == 100.0
    )
    code, out, _ = run("gold.conllu", "pred.conllu")
    assert code == 0
    assert out.splitlines()[1].split() == ["no", "punctuation", "(unicode)", "50.00", "50.00", "2"]


def test_words_cut_differently(run: Any) -> None:
    code, _, err = run("gold.conllu", "cut.conllu")
    assert code == 2
    assert "word 1 is 'the' in gold, 'thedog' predicted (--metrics conll18 aligns" in err
    found = numbers(run, "gold.conllu", "cut.conllu", "--metrics", "conll18")
    assert (found["Words"], found["Sentences"]) == (40.0, 100.0)
    code, out, _ = run("gold.conllu", "cut.conllu", "--metrics", "conll18")
    assert (code, out.splitlines()[0]) == (0, "Metric     | Precision |    Recall |  F1 Score | AligndAcc")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("gold.ptb", "gone.ptb"), "gone.ptb"),
        (("empty.ptb", "empty.ptb"), "empty.ptb: no sentence to score"),
        (("gold.ptb", "empty.ptb"), "predicted ends after 0 sentences"),
        (("gold.ptb", "short.ptb"), "predicted ends after 1 sentences, gold goes on at gold.ptb:2"),
        (("short.ptb", "gold.ptb"), "gold ends after 1 sentences, predicted goes on at gold.ptb:2"),
        (("gold.ptb", "broken.ptb"), "broken.ptb:1"),
        (("gold.ptb", "own.prm"), "own.prm"),
        (("gold.ptb", "gold.conllu"), "no kind of tree in common"),
        (("gold.ptb", "pred.ptb", "-p", "colins"), "known: collins, new, spmrl, spmrl-hebrew"),
        (("gold.ptb", "pred.ptb", "--from", "xml"), "brackets"),
        (("gold.ptb", "nix"), "nix: cannot be opened: No such file or directory"),
        (("gold.ptb", "own.prm"), "own.prm: the ending stands for no known format"),
        (("gold.ptb", "pred.ptb", "--metrics", "conll18"), "--metrics conll18 is for dependencies"),
        (("gold.conllu", "pred.conllu", "--report", "evalb"), "these are conllu and conllu"),
        (("-", "-"), "standard input"),
        (("gold.ptb",), "PRED"),
        (("gold.ptb", "pred.ptb", "--nonsense"), "--nonsense"),
    ],
)
def test_bad_input_is_one_line(run: Any, arguments: tuple[str, ...], message: str) -> None:
    code, out, err = run(*arguments)
    assert (code, out) == (2, "")
    assert message in err
    assert err.count("\n") == 1


def test_a_multiword_range_that_goes_backwards_ends_with_an_error(run: Any) -> None:
    line = {"version": 1, "words": ["a", "b", "c"], "heads": [0, 1, 1], "relations": ["root", "dep", "dep"]}
    Path("gold.jsonl").write_text(json.dumps(line) + "\n", encoding="utf-8")
    inserts = [[2, "3-1\tab" + "\t_" * 8]]
    Path("damaged.jsonl").write_text(json.dumps(line | {"inserts": inserts}) + "\n", encoding="utf-8")
    code, out, err = run("gold.jsonl", "damaged.jsonl", "--metrics", "conll18")
    assert (code, out) == (2, "")
    assert "damaged.jsonl:1" in err


def test_given_tags_are_said(run: Any) -> None:
    text = Path("pred.conllu").read_text(encoding="utf-8")
    Path("given.conllu").write_text("# tags = given\n" + text, encoding="utf-8")
    formats.write(formats.read("given.conllu"), "given.jsonl")
    for predicted in ("given.conllu", "given.jsonl"):
        assert numbers(run, "gold.conllu", predicted)["sentences_with_given_tags"] == 1
        for option in ((), ("--metrics", "conll18")):
            _, out, _ = run("gold.conllu", predicted, *option)
            assert "The tags of 1 of 1 sentences were given to the parser" in out
    assert "given to the parser" not in run("gold.conllu", "pred.conllu")[1]
    Path("many.ptb").write_text(GOLD * 40, encoding="utf-8")
    assert "All 200 tags are right; perhaps the parser was given them" in run("many.ptb", "many.ptb")[1]
    assert "perhaps" not in run("gold.ptb", "gold.ptb")[1]


def test_help_has_examples(run: Any) -> None:
    code, out, _ = run("--help")
    assert code == 0
    assert "h3n evaluate gold.ptb pred.ptb --report evalb" in out


@pytest.mark.parametrize("parameters", ["COLLINS", "new", "nk"])
def test_the_whole_report_equals_the_c_programs(run: Any, data: Path, parameters: str) -> None:
    folder = data / "evalb"
    gold, predicted = folder / "masc-dev.gold.ptb", folder / "masc-dev.perturbed.ptb"
    _, out, _ = run(str(gold), str(predicted), "--report", "evalb", "-p", str(folder / f"{parameters}.prm"))
    assert out == (folder / f"masc-dev.expected.{parameters}.txt").read_text()


def test_the_sample_report_equals_the_c_programs(run: Any, data: Path) -> None:
    folder = data / "evalb"
    files = [str(folder / f"sample.{ending}") for ending in ("gld", "tst")]
    code, out, err = run(*files, "--report", "evalb", "-p", str(folder / "sample.prm"))
    assert (code, out) == (0, (folder / "sample.actual-output.txt").read_text())
    assert err.count("left out") == 5


def test_files_that_carry_both_trees_get_every_score(run: Any) -> None:
    words, tags = ("the", "dog", "barks"), ("DT", "NN", "VBZ")
    noun = Constituent("NP", (Leaf("DT", "the"), Leaf("NN", "dog")))
    tree = Constituent("TOP", (Constituent("S", (noun, Constituent("VP", (Leaf("VBZ", "barks"),)))),))
    flat = Constituent("TOP", (Constituent("S", (noun, Leaf("VBZ", "barks"))),))
    gold = Sentence(words=words, tags=tags, tree=tree, dependencies=Dependencies((1, 2, -1), ("det", "nsubj", "root")))
    wrong = Sentence(words=words, tags=tags, tree=flat, dependencies=Dependencies((1, -1, 1), ("det", "root", "dep")))

    formats.write([gold], "gold.jsonl")
    formats.write([wrong], "pred.jsonl")
    found = numbers(run, "gold.jsonl", "pred.jsonl")
    assert (found["LP"], found["LR"], found["UAS"], found["LAS"], found["XPOS"]) == (
        100.0,
        66.6667,
        33.3333,
        33.3333,
        100.0,
    )
    # Gold levels: barks 1, dog 2, the none; predicted: dog 1, barks and the none.
    assert found["head_accuracy"] == 33.3333
    code, out, _ = run("gold.jsonl", "pred.jsonl")
    assert code == 0
    assert [line.split()[0] for line in out.splitlines() if line][0:1] == ["brackets:"]
    assert "head accuracy                33.33" in out


def test_two_predictions_are_compared(run: Any) -> None:
    found = numbers(run, "gold.ptb", "gold.ptb", "--against", "pred.ptb", "--unparsed", "miss", "--samples", "200")
    assert found["against"]["LF1"]["other"] == 44.4444
    assert found["against"]["LF1"]["difference"] == 55.5556
    assert found["against"]["LF1"]["low"] > 0
    found = numbers(run, "gold.conllu", "gold.conllu", "--against", "pred.conllu", "--samples", "50")["against"]
    assert (found["LAS"]["difference"], found["UPOS"]["difference"]) == (50.0, 0.0)
    assert "LF1" not in found
    code, out, _ = run("gold.conllu", "gold.conllu", "--against", "pred.conllu", "--seed", "5")
    assert code == 0
    assert "paired bootstrap over 1 sentences, 10000 samples, seed 5" in out
    code, _, err = run("gold.ptb", "pred.ptb", "--against", "short.ptb")
    assert code == 2
    assert "predicted ends after 1 sentences" in err
    code, _, err = run("gold.ptb", "pred.ptb", "--against", "-")
    assert (code, err) == (2, "h3n: --against takes files alone, and neither --metrics conll18 nor --report\n")
