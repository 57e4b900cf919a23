"""The whole path from treebanks of all kinds to a parser, and what is refused on it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch

from h3n.errors import MissingExtra, TrainingError, UsageError
from h3n.model import count_vocabulary
from h3n.model.model import Model
from h3n.parser import Parser
from h3n.training import Check, Note, Update, checkpoint, evaluate, train, with_tensorboard
from h3n.training.checkpoint import last_checkpoint
from h3n.training.data import Example, seen
from h3n.training.record import draw_curves, read_metrics
from h3n.trees import Dependencies, Sentence
from tests.parsing import parse
from tests.training.runs import SHORT, Options, Part, assert_same_weights, weights, write_config


def test_train_save_load_parse_evaluate(tmp_path: Path, treebank: Part, options: Options) -> None:
    events: list[Any] = []
    config = options(tmp_path / "run", "training.epochs=14")
    parser = train(config, treebank("train"), treebank("dev"), report=events.append)
    scores = evaluate(Parser(parser.engine), treebank("dev"))
    assert scores["LF1"] > 70
    assert scores["LAS"] > 70
    assert scores["tags"] > 85
    checks = [event.row for event in events if isinstance(event, Check)]
    assert checks[-1]["loss"] < checks[0]["loss"] / 2
    assert [row["LF1"] for row in read_metrics(tmp_path / "run")] == [row["LF1"] for row in checks]
    loaded = Model.load(tmp_path / "run" / "model")
    assert evaluate(Parser(loaded.engine), treebank("dev")) == scores
    assert loaded.config.decoding.weight == parser.config.decoding.weight
    words = ["the", "old", "dog", "saw", "Mary", "near", "a", "river", "."]
    (found,) = parse(loaded, [words])
    assert found.sentence.words == tuple(words)
    assert found.joint is not None
    assert found.sentence.dependencies is not None
    assert found.sentence.dependencies.governors.count(-1) == 1
    assert found.sentence.tree is not None
    assert found.sentence.tree.label == "ROOT"
    assert draw_curves(tmp_path / "run").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize("spans", ["hinge", "crf", "softmax"])
def test_a_model_learns_ten_sentences_by_heart(spans: str, tmp_path: Path, treebank: Part, options: Options) -> None:
    config = options(
        tmp_path,
        f"loss.spans={spans}",
        "training.epochs=1",
        "training.save_every=0",
        "optimiser.rate=3e-3",
        "encoder.word_dropout=0",
        "encoder.dropout=0",
        "scorers.dropout=0",
        "encoder.layers.dropout=0",
    )
    rounds = 300.0 if spans == "softmax" else 200.0  # most spans are empty, which a softmax per span learns first
    ten = treebank("train", 10)
    scores = evaluate(Parser(train(config, [replace(example, weight=rounds) for example in ten], []).engine), ten)
    assert scores["LF1"] > 95
    assert scores["LAS"] > 95


def test_the_same_seed_gives_the_same_weights_and_another_does_not(
    uninterrupted: Path, tmp_path: Path, treebank: Part, options: Options
) -> None:
    train(options(tmp_path / "a", *SHORT), treebank("train", 60), treebank("dev", 10))
    assert_same_weights(uninterrupted / "model", tmp_path / "a" / "model")
    train(options(tmp_path / "b", *SHORT, "training.seed=2"), treebank("train", 60), treebank("dev", 10))
    one, other = weights(uninterrupted / "model"), weights(tmp_path / "b" / "model")
    assert not torch.equal(one["span.first.weight"], other["span.first.weight"])


def test_two_processes_do_what_one_does_with_the_same_effective_batch(
    tmp_path: Path, treebank: Part, options: Options
) -> None:
    short = (*SHORT, "training.checks=2")
    alone = options(tmp_path / "alone", *short, "batches.accumulate=2")
    train(alone, treebank("train", 60), treebank("dev", 10))
    write_config(tmp_path / "c.toml", options(tmp_path / "both", *short), train_limit=60, dev_limit=10)
    torchrun = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2"]
    command = [*torchrun, "-m", "h3n", "train", str(tmp_path / "c.toml")]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    made = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=600)
    assert made.returncode == 0, made.stderr
    one, both = read_metrics(tmp_path / "alone"), read_metrics(tmp_path / "both")
    assert [row["step"] for row in one] == [row["step"] for row in both]
    assert [row["loss"] for row in both] == pytest.approx([row["loss"] for row in one], rel=1e-4)
    left, right = weights(tmp_path / "alone" / "model"), weights(tmp_path / "both" / "model")
    for name in left:
        torch.testing.assert_close(left[name], right[name], atol=2e-3, rtol=1e-2)


def test_a_loss_that_is_not_a_number_stops_the_run(tmp_path: Path, treebank: Part, options: Options) -> None:
    config = options(tmp_path, *SHORT, "training.save_every=1", "optimiser.rate=1e30", "optimiser.clip=0")
    with pytest.raises(TrainingError, match=r"is (nan|inf) at update \d+ .*last good checkpoint is .*checkpoint-0"):
        train(config, treebank("train", 60), [])
    found = last_checkpoint(tmp_path)
    assert found is not None
    assert weights(found)


def test_a_folder_with_a_run_is_not_overwritten(uninterrupted: Path, treebank: Part, options: Options) -> None:
    with pytest.raises(UsageError, match="holds a run already; --resume"):
        train(options(uninterrupted, *SHORT), treebank("train", 60), treebank("dev", 10))


def test_one_sentence_is_enough(tmp_path: Path, treebank: Part, options: Options) -> None:
    parser = train(options(tmp_path, *SHORT), treebank("train", 1), [])
    assert parse(parser, [["hello"]])[0].sentence.dependencies is not None


def test_no_sentence_is_an_error(tmp_path: Path, options: Options) -> None:
    with pytest.raises(UsageError, match="no sentence to learn from"):
        train(options(tmp_path, *SHORT), [], [])


def test_sentences_of_different_kinds_train_one_model(tmp_path: Path, treebank: Part, options: Options) -> None:
    """A third with both trees, a third with constituents only, a third with dependencies only."""
    mixed: list[Example] = []
    for at, example in enumerate(treebank("train", 60)):
        s = example.sentence
        if at % 3 == 1:
            bare = Sentence(words=s.words, tree=s.tree)
            mixed.append(Example(sentence=bare, spans=tuple(x for x in example.spans or () if x.label != "<H>")))
        elif at % 3 == 2:
            mixed.append(Example(sentence=Sentence(words=s.words, dependencies=s.dependencies)))
        else:
            mixed.append(example)
    config = options(tmp_path, "training.epochs=14", "training.checks=1", "training.tune=false")
    scores = evaluate(Parser(train(config, mixed, []).engine), treebank("dev", 20))
    assert scores["LF1"] > 25
    assert scores["UAS"] > 40


@pytest.mark.parametrize(("kind", "has", "lacks"), [("tree", "LF1", "LAS"), ("dependencies", "LAS", "LF1")])
def test_a_treebank_of_one_kind_is_enough(
    kind: str, has: str, lacks: str, tmp_path: Path, treebank: Part, options: Options
) -> None:
    examples = [
        Example(
            sentence=Sentence(words=e.sentence.words, **{kind: getattr(e.sentence, kind)}),
            spans=e.spans if kind == "tree" else None,
        )
        for e in treebank("train", 30)
    ]
    decoder = "cky" if kind == "tree" else "mst"
    notes: list[Any] = []
    config = options(tmp_path, *SHORT[:-1], f"decoding.decoder={decoder}")
    scores = evaluate(Parser(train(config, examples, examples[:5], report=notes.append).engine), examples)
    assert has in scores
    assert lacks not in scores
    assert not any("spans weigh" in note.text for note in notes if isinstance(note, Note))  # there is one kind alone


def test_what_dev_has_and_training_lacks_is_said(tmp_path: Path, treebank: Part, options: Options) -> None:
    (one,) = treebank("dev", 1)
    arcs = one.sentence.dependencies or Dependencies((), ())
    odd = replace(one, sentence=replace(one.sentence, dependencies=replace(arcs, relations=("odd",) * len(arcs))))
    odd = replace(odd, spans=tuple(replace(span, label=f"X{at}") for at, span in enumerate(one.spans or ())))
    notes: list[Any] = []
    config = options(tmp_path, "training.epochs=1", "training.checks=1")
    train(config, treebank("train", 10), [odd], resume=True, report=notes.append)
    said = [note.text for note in notes if isinstance(note, Note)]
    assert said[0] == f"nothing to go on from in {tmp_path}: starting anew"
    assert said[2].startswith("in dev but not in training, so never found: labels X0, X1")
    assert said[2].endswith("; relations odd")


def test_a_word_without_a_tag_teaches_none(treebank: Part) -> None:
    (one,) = treebank("train", 1)
    tags = ("_", "", *["NN"] * (len(one.sentence) - 2))
    vocabulary = count_vocabulary([seen(replace(one, sentence=replace(one.sentence, tags=tags)))], keep_words=False)
    assert vocabulary.tags == ("NN",)


def test_a_sentence_of_600_words_can_be_learned_and_parsed(tmp_path: Path, treebank: Part, options: Options) -> None:
    (example,) = treebank("train", 1)
    words = tuple(["dog"] * 600)
    long = Example(sentence=Sentence(words=words), spans=tuple(s for s in example.spans or () if s.end - s.start == 1))
    config = options(tmp_path, "training.epochs=1", "training.checks=1", "training.tune=false")
    parser = train(config, [example, long], [])
    (found,) = parse(parser, [words])
    assert found.sentence.dependencies is not None
    assert len(found.sentence.dependencies) == 600


def test_early_stopping_and_plateau(tmp_path: Path, treebank: Part, options: Options) -> None:
    config = options(
        tmp_path,
        "training.epochs=50",
        "training.checks=1",
        "training.patience=2",
        "training.tune=false",
        "optimiser.rate=0",
        "optimiser.schedule=plateau",
        "optimiser.patience=0",
    )
    events: list[Any] = []
    train(config, treebank("train", 10), treebank("dev", 3), report=events.append)
    assert sum(isinstance(event, Check) for event in events) == 3  # nothing learned: one best, two no better
    state = json.loads((last_checkpoint(tmp_path) / "state.json").read_text())  # type: ignore[operator]
    assert (state["finished"], state["halvings"], state["waited"]) == (True, 2, 2)


def test_a_checkpoint_of_another_model_is_refused(uninterrupted: Path, treebank: Part, options: Options) -> None:
    config = options(uninterrupted, *SHORT, "scorers.span=32")
    with pytest.raises(checkpoint.InputError, match="does not fit or cannot be read"):
        train(config, treebank("train", 60), [], resume=True, accept_changes=True)


def test_tensorboard_is_an_extra(tmp_path: Path, options: Options, monkeypatch: pytest.MonkeyPatch) -> None:
    config = options(tmp_path, "training.tensorboard=true")
    monkeypatch.setitem(sys.modules, "torch.utils.tensorboard", None)
    with pytest.raises(MissingExtra, match=r"curves for TensorBoard need the extra 'tensorboard'"):
        with_tensorboard(lambda _: None, config)


def test_tensorboard_gets_losses_and_checks(tmp_path: Path, options: Options, monkeypatch: pytest.MonkeyPatch) -> None:
    written: list[Any] = []

    class Writer:
        def __init__(self, folder: str) -> None:
            written.append(folder)

        def add_scalar(self, *figure: Any) -> None:
            written.append(figure)

        def flush(self) -> None:
            written.append("flush")

    monkeypatch.setitem(sys.modules, "torch.utils.tensorboard", SimpleNamespace(SummaryWriter=Writer))
    seen_events: list[Any] = []
    report = with_tensorboard(seen_events.append, options(tmp_path, "training.tensorboard=true"))
    events = [
        Update(step=3, total=9, epoch=1, loss=2.5, words=7, terms={"span": 1.5}),
        Check(row={"step": 4, "LAS": 70.5}, best=True),
    ]
    for event in events:
        report(event)
    assert seen_events == events
    assert written == [str(tmp_path / "tensorboard"), ("span", 1.5, 3), ("LAS", 70.5, 4), "flush"]
