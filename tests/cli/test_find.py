"""`h3n find` on treebank files of every format, beside `Result.find` on the same trees."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

import h3n
from h3n import formats
from h3n.cli import main
from h3n.errors import UsageError
from h3n.formats import pair
from h3n.parser import Phrase

TREEBANK = Path(__file__).parents[2] / "examples" / "treebank"
Run = Callable[..., tuple[int, str, str]]
PATTERNS = ["NP < PP", "NP @ nsubj", "NP @ nsubj !< PP", "VB* @< (* @ obj)", "PP <# IN|NP", "* @upos VERB > VP", "NN*"]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """Return a function that runs the command inside a folder of sample files: (exit code, stdout, stderr)."""
    monkeypatch.chdir(tmp_path)
    both = list(pair(formats.read(TREEBANK / "dev.ptb"), formats.read(TREEBANK / "dev.conllu")))
    formats.write(both, "both.jsonl")
    formats.write(both, "dev.ptb")
    formats.write(both, "dev.conllu.gz")
    Path("marked.mrg").write_text("( (S (NP-SBJ-1 (DT the) (NN dog)) (VP (VBZ barks) (NP (-NONE- *-1)))) )\n")
    rows = ["1\tdogs\tdog\tNOUN\t_\tNumber=Plur\t2\tnsubj\t_\t_", "2\tbark\tbark\tVERB\t_\t_\t0\troot\t_\t_"]
    Path("ud.conllu").write_text("\n".join(["# sent_id = a-7", *rows, "", ""]))

    def start(*arguments: object) -> tuple[int, str, str]:
        monkeypatch.setattr("sys.argv", ["h3n", "find", *map(str, arguments)])
        capsys.readouterr()
        with pytest.raises(SystemExit) as left:
            main()
        return (int(left.value.code or 0), *capsys.readouterr())

    return start


@pytest.mark.parametrize("pattern", PATTERNS)
def test_files_and_results_give_the_same(run: Run, pattern: str) -> None:
    expected = []
    for number, result in enumerate(h3n.read("both.jsonl"), start=1):
        for part in result.find(pattern):
            label = part.label if isinstance(part, Phrase) else part.tag
            expected.append((result.sentence.sent_id or number, label, part.first, part.last + 1))
    assert expected, "a pattern that finds nothing proves nothing"
    for files in (["both.jsonl"], ["dev.ptb", "--dependencies", "dev.conllu.gz"]):
        code, shown, _ = run(pattern, *files, "--to", "jsonl", "--limit", 0)
        found = [json.loads(line) for line in shown.splitlines()]
        assert code == 0
        assert [(one["sentence"], one["label"], one["start"], one["end"]) for one in found] == expected


def test_phrases_alone_have_no_heads(run: Run) -> None:
    assert run("NP < PP", "dev.ptb")[:2] == run("NP < PP", "dev.ptb", "--dependencies", "dev.conllu.gz")[:2]
    assert run("NP @ nsubj", "dev.ptb")[:2] == (1, "")


def test_a_table_names_file_and_sentence(run: Run) -> None:
    assert run("* @lemma dog @feature Number=Plur", "ud.conllu") == (0, "ud.conllu\ta-7\tNOUN\tdogs\tdogs bark\n", "")
    assert run("NOUN", "ud.conllu", "ud.conllu")[1].count("\n") == 2
    code, shown, said = run("NP", "dev.ptb", "--limit", 1)
    assert (code, shown.count("\n")) == (0, 1)
    assert said == "h3n: the first 1; --limit 0 shows all\n"


def test_traces_and_function_tags(run: Run) -> None:
    assert run("NP", "marked.mrg")[:2] == (1, "")
    assert run("NP*", "marked.mrg")[1] == "marked.mrg\t1\tNP-SBJ-1\tthe dog\tthe dog barks\n"
    assert run("NP", "marked.mrg", "--strip-functions")[1] == "marked.mrg\t1\tNP\tthe dog\tthe dog barks\n"


def test_a_page_of_pictures(run: Run) -> None:
    assert run("NP < PP", "both.jsonl", "-o", "page.html")[0] == 0
    sentences = sum(bool(result.find("NP < PP")) for result in h3n.read("both.jsonl"))
    assert Path("page.html").read_text(encoding="utf-8").count("<figure>") == sentences


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("NP <", "dev.ptb"), "the end in the pattern"),
        (("NP", "dev.ptb", "dev.ptb", "--dependencies", "dev.conllu.gz"), "--dependencies is for one file"),
        (("NP", "gone.ptb"), "gone.ptb"),
    ],
)
def test_what_cannot_be_done_is_one_line(run: Run, arguments: tuple[str, ...], message: str) -> None:
    code, _, said = run(*arguments)
    assert (code, said.count("\n")) == (2, 1)
    assert message in said


def test_a_bad_pattern_for_a_result() -> None:
    (result, *_) = h3n.read(TREEBANK / "dev.ptb")
    with pytest.raises(UsageError, match="expected"):
        result.find("NP @@")
