"""The figures of a training log are those of `h3n evaluate`."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from typer.testing import CliRunner

from h3n import formats
from h3n.cli.commands import app
from h3n.model.model import Model
from h3n.parser import Parser
from h3n.training.data import Example
from h3n.training.evaluation import compare, parse_examples
from h3n.trees import Constituent, Leaf, Sentence, rebuild

TREEBANK = Path(__file__).parents[2] / "examples" / "treebank"


def worse(sentence: Sentence) -> Sentence:
    """Return a parse with punctuation tagged as words: EVALB would leave it out, as other words count on both sides."""
    assert sentence.tree is not None
    assert sentence.tags is not None
    tree = rebuild(
        sentence.tree,
        lambda leaf: Leaf("NN", leaf.word) if leaf.tag == "." else leaf,
        lambda node, children: Constituent(node.label, children),
    )
    assert isinstance(tree, Constituent)
    return replace(sentence, tags=tuple("NN" if tag == "." else tag for tag in sentence.tags), tree=tree)


def evaluated(gold: Path, predicted: Path) -> dict[str, float]:
    result = CliRunner().invoke(app, ["evaluate", str(gold), str(predicted), "--json"])
    assert result.exit_code == 0, result.output
    numbers: dict[str, float] = json.loads(result.output)
    return numbers


@pytest.mark.parametrize("top", ["ROOT", "TOP"])
def test_a_logs_scores_equal_those_of_the_command(
    tmp_path: Path, tiny_model: Path, treebank: Callable[..., list[Example]], top: str
) -> None:
    examples = treebank("dev", 30)
    parsed = parse_examples(Parser(Model.load(tiny_model).engine), examples)
    parsed = [replace(one, sentence=worse(one.sentence)) if at % 2 else one for at, one in enumerate(parsed)]
    log = compare(examples, parsed)
    assert 10 < log["LF1"] < 99.9
    gold = [example.sentence for example in examples]
    predicted = [one.sentence for one in parsed]
    for ending in ("ptb", "conllu", "jsonl"):
        for name, side in (("gold", gold), ("predicted", predicted)):
            formats.write(side, str(tmp_path / f"{name}.{ending}"))
    for name in ("gold.ptb", "predicted.ptb"):
        text = (tmp_path / name).read_text(encoding="utf-8")
        (tmp_path / name).write_text(text.replace("(ROOT ", f"({top} "), encoding="utf-8")
    phrases, arcs, both = (
        evaluated(tmp_path / f"gold.{ending}", tmp_path / f"predicted.{ending}")
        for ending in ("ptb", "conllu", "jsonl")
    )
    for numbers in (phrases, both):
        assert {name: numbers[name] for name in ("LP", "LR", "LF1", "exact")} == pytest.approx(
            {name: log[name] for name in ("LP", "LR", "LF1", "exact")}, abs=1e-4
        )
    for numbers in (arcs, both):
        assert {"UAS": numbers["UAS"], "LAS": numbers["LAS"], "tags": numbers["XPOS"]} == pytest.approx(
            {name: log[name] for name in ("UAS", "LAS", "tags")}, abs=1e-4
        )
    assert phrases["errors"] == 0
    assert phrases["tagging"] < 100
