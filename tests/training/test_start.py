"""A run that learns on from a saved model: its weights and names are taken over."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
import torch

from h3n.errors import UsageError
from h3n.model.model import Model
from h3n.training import Event, Note, train
from h3n.trees import Dependencies
from tests.training.runs import SHORT, Options, Part, assert_same_weights, weights

STILL = ("optimiser.rate=0", "training.epochs=1", "training.checks=1", "training.tune=false")


def test_it_begins_with_the_weights_and_learns(
    uninterrupted: Path, tmp_path: Path, treebank: Part, options: Options
) -> None:
    """With a rate of 0 the weights stay; with another, all parts move. Other sizes that are asked for do not count."""
    start = f"start={uninterrupted}"
    train(options(tmp_path / "still", start, "scorers.arc=16", *STILL), treebank("train", 20), treebank("dev", 5))
    assert_same_weights(tmp_path / "still" / "model", uninterrupted / "model")
    train(options(tmp_path / "on", start, *SHORT), treebank("train", 20), treebank("dev", 5))
    before, after = weights(uninterrupted / "model"), weights(tmp_path / "on" / "model")
    moved = {name for name, tensor in before.items() if not torch.equal(tensor, after[name])}
    assert {name.split(".")[0] for name in moved} == {name.split(".")[0] for name in before}


def test_it_goes_on_after_a_stop(uninterrupted: Path, tmp_path: Path, treebank: Part, options: Options) -> None:
    class Stopped(Exception):
        pass

    def stop(event: Event) -> None:
        if getattr(event, "step", 0) == 4:
            raise Stopped

    config = options(tmp_path / "run", f"start={uninterrupted}", *SHORT)
    data = treebank("train", 40), treebank("dev", 5)
    with pytest.raises(Stopped):
        train(config, *data, report=stop)
    train(config, *data, resume=True)
    train(replace(config, output=str(tmp_path / "whole")), *data)
    assert_same_weights(tmp_path / "run" / "model", tmp_path / "whole" / "model")


def test_names_are_the_models_own(uninterrupted: Path, tmp_path: Path, treebank: Part, options: Options) -> None:
    examples = treebank("train", 10)
    arcs = examples[0].sentence.dependencies
    assert arcs is not None
    renamed = Dependencies(arcs.governors, ("strange", *arcs.relations[1:]))
    examples[0] = replace(examples[0], sentence=replace(examples[0].sentence, dependencies=renamed))
    said: list[str] = []

    def listen(event: Event) -> None:
        if isinstance(event, Note):
            said.append(event.text)

    model = train(
        options(tmp_path / "run", f"start={uninterrupted}", *STILL), examples, treebank("dev", 5), report=listen
    )
    assert "not known to the model to start from, so left out: relations strange" in said
    assert model.vocabulary == Model.load(uninterrupted / "model").vocabulary


@pytest.mark.parametrize(
    ("start", "style", "message"),
    [
        ("no-such-model", "", "option start: no model 'no-such-model'"),
        (
            "",
            "own",
            "option start: the model knows no style 'own'; expected for each treebank one of none, or no style",
        ),
    ],
)
def test_what_cannot_be_started_from_is_said(
    uninterrupted: Path, tmp_path: Path, treebank: Part, options: Options, start: str, style: str, message: str
) -> None:
    examples = [replace(example, style=style) for example in treebank("train", 5)]
    with pytest.raises(UsageError, match=message):
        train(options(tmp_path / "run", f"start={start or uninterrupted}"), examples, treebank("dev", 5))
