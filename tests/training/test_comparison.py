"""Decoders and head scores of one model, compared."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from h3n.cli.commands import app
from h3n.config import Config
from h3n.decode import DECODERS, Scores
from h3n.engine.engine import Engine
from h3n.errors import UnknownName, UsageError
from h3n.evaluate import ClassCounts
from h3n.parser import Parser, load
from h3n.training import evaluate, train
from h3n.training.comparison import compare_ways, count_right_heads, head_scores_of, ways_of
from h3n.training.data import Example
from h3n.training.evaluation import compare, decode_examples, evaluate_each, score_examples
from h3n.training.record import read_metrics
from h3n.trees import HeadedSpan

TREEBANK = Path(__file__).parents[2] / "examples" / "treebank"
Part = Callable[..., list[Example]]


@pytest.fixture(scope="module")
def parser(tiny_model: Path) -> Parser:
    return load(tiny_model, precision="float32")


def test_every_way_scores_as_when_it_is_run_alone(parser: Parser, treebank: Part) -> None:
    examples = treebank("dev", 20)
    outcomes = compare_ways(parser, examples, ways_of(parser, ["all"]))
    ways = [(outcome.way.decoder, outcome.way.head_score) for outcome in outcomes]
    assert [head for decoder, head in ways if decoder == "h3n"] == head_scores_of(parser)
    assert {decoder for decoder, _ in ways} == set(DECODERS) - {"auto"}
    for outcome in outcomes:
        options = parser.options(decoder=outcome.way.decoder, head_score=outcome.way.head_score or None)
        scores = compare(examples, decode_examples(parser, score_examples(parser, examples), options))
        for name in ("LF1", "UAS", "LAS"):
            assert outcome.scores().get(name) == pytest.approx(scores.get(name)), outcome.way
        assert ("right_heads" in outcome.scores()) == bool(outcome.way.head_score)


def test_the_network_runs_once(parser: Parser, treebank: Part, monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[int] = []
    score_batch = Engine.score_batch

    def counted(self: Engine, sentences: Any, inputs: Any) -> Any:
        calls.append(len(sentences))
        return score_batch(self, sentences, inputs)

    monkeypatch.setattr(Engine, "score_batch", counted)
    compare_ways(parser, treebank("dev", 5), ways_of(parser, ["all"]))
    assert sum(calls) == 5


def test_names_of_ways(parser: Parser) -> None:
    own = parser.engine.config.decoding.head_score
    assert [(way.decoder, way.head_score) for way in ways_of(parser, ["h3n/soft", "cky", "h3n"])] == [
        ("h3n", "soft"),
        ("cky", ""),
        ("h3n", own),
    ]
    with pytest.raises(UnknownName, match="unknown decoder 'viterbi'"):
        ways_of(parser, ["viterbi"])
    with pytest.raises(UnknownName, match="unknown head score of h3n 'loud'"):
        ways_of(parser, ["h3n/loud"])


def test_right_heads_are_counted_in_spans_of_several_words() -> None:
    head = np.array([3, 1, 3, 2], dtype=np.float32)
    zeros = np.zeros((5, 5), dtype=np.float32)
    scores = Scores(full=zeros, open=zeros, arc=zeros[:4, :4], root=head, head=head, label=zeros.astype(np.int32))
    spans = [HeadedSpan(0, 4, "S", 2), HeadedSpan(0, 2, "NP", 1), HeadedSpan(2, 4, "VP", 2), HeadedSpan(3, 4, "X", 3)]
    # On a tie the last word is the head, and a span of one word is not counted.
    assert count_right_heads(scores, spans) == ClassCounts(3, 2)


def run(*arguments: str) -> tuple[int, str]:
    result = CliRunner().invoke(app, ["evaluate", *arguments])
    if isinstance(result.exception, UsageError):
        return 2, str(result.exception)
    return result.exit_code, result.output


def test_the_command_scores_treebanks_apart(tiny_model: Path, parser: Parser, treebank: Part, tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    other = tmp_path / "other" / "dev.conllu"
    other.write_text((TREEBANK / "dev.conllu").read_text(encoding="utf-8"), encoding="utf-8")
    files = [str(TREEBANK / "dev.ptb"), str(TREEBANK / "dev.conllu"), str(other)]
    code, out = run("--model", str(tiny_model), *files, "--limit", "15", "--decoders", "h3n,mst", "--json")
    assert code == 0, out
    treebanks = json.loads(out)["treebanks"]
    assert list(treebanks) == ["treebank/dev", "other/dev"]
    joint, arcs = treebanks["treebank/dev"]["rows"]
    log = evaluate(parser, treebank("dev", 15), decoder="h3n")
    assert joint["LF1"] == pytest.approx(log["LF1"], abs=1e-4)
    assert joint["XPOS"] == pytest.approx(log["tags"], abs=1e-4)
    assert "LF1" not in arcs
    assert treebanks["other/dev"]["rows"][1]["LAS"] == pytest.approx(arcs["LAS"])
    code, out = run("--model", str(tiny_model), *files[:2], "--limit", "3")
    assert code == 0
    assert "treebank/dev: 3 sentences" in out
    assert "tags: the model's own" in out


def test_bad_usage(tiny_model: Path) -> None:
    assert run("a.ptb", "b.ptb", "--decoders", "all") == (2, "--decoders is for --model")
    assert "standard input is not accepted" in run("--model", str(tiny_model), "-")[1]
    assert "expected two files, GOLD and PRED" in run("a.ptb", "b.ptb", "c.ptb")[1]


def test_dev_scores_of_each_treebank(parser: Parser, treebank: Part) -> None:
    examples = treebank("dev", 20)
    split = [replace(example, treebank="one" if at < 5 else "two") for at, example in enumerate(examples)]
    total, each = evaluate_each(parser, split)
    assert total == evaluate(parser, examples)
    assert each == {"one": evaluate(parser, examples[:5]), "two": evaluate(parser, examples[5:])}
    assert evaluate_each(parser, examples)[1] == {}


def test_a_run_records_each_dev_treebank(tmp_path: Path, treebank: Part, options: Callable[..., Config]) -> None:
    dev = [replace(example, treebank=name) for name in ("one", "two") for example in treebank("dev", 4)]
    config = options(tmp_path / "run", "training.epochs=1", "training.checks=1", "training.tune=false")
    train(config, treebank("train", 20), dev)
    (row,) = read_metrics(tmp_path / "run")
    assert list(row["treebanks"]) == ["one", "two"]
    assert row["treebanks"]["one"]["LAS"] == pytest.approx(row["LAS"])
