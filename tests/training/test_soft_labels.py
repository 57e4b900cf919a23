"""A student learns from what its teacher finds likely."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from h3n.parser import load
from h3n.training import train
from h3n.training.data import Example, make_example
from h3n.training.record import describe_part
from h3n.trees import SoftLabels, Span
from tests.training.runs import SHORT, Options, Part, assert_same_weights, weights


@pytest.fixture(scope="module")
def taught(
    tiny_model: Path, treebank: Part, options: Options, tmp_path_factory: pytest.TempPathFactory
) -> list[Example]:
    """Return sentences with the trees and the soft labels of a teacher."""
    data = options(tmp_path_factory.mktemp("unused")).data
    words = [list(example.sentence.words) for example in treebank("train", 40)]
    return [make_example(result.sentence, data=data) for result in load(tiny_model).parse(words, soft_labels=True)]


def test_the_same_from_memory_and_from_the_disk(
    taught: list[Example], treebank: Part, options: Options, tmp_path: Path
) -> None:
    crf = (*SHORT, "loss.spans=crf")
    for name, settings in {"memory": crf, "disk": (*crf, "data.stream=true")}.items():
        train(options(tmp_path / name, *settings), taught, treebank("dev", 3))
    assert_same_weights(tmp_path / "memory" / "model", tmp_path / "disk" / "model")
    hard = [replace(one, sentence=replace(one.sentence, soft_labels=None)) for one in taught]
    train(options(tmp_path / "hard", *crf), hard, treebank("dev", 3))
    soft, plain = weights(tmp_path / "memory" / "model"), weights(tmp_path / "hard" / "model")
    for name in ("arc.weight", "relation.weight", "span.bias"):
        assert not bool((soft[name] == plain[name]).all()), name


def test_they_belong_to_the_data_of_a_run(taught: list[Example]) -> None:
    hard = [replace(one, sentence=replace(one.sentence, soft_labels=None)) for one in taught]
    assert describe_part(taught, []).checksum != describe_part(hard, []).checksum


def test_relations_are_renamed_in_them_too(taught: list[Example], options: Options, tmp_path: Path) -> None:
    data = replace(options(tmp_path).data, renames={"nsubj": "subject"})
    labels = SoftLabels(relations=((("nsubj", 600), ("obj", 400)),), spans=((Span(0, 1, "NP"), 1000),))
    example = make_example(replace(taught[0].sentence, soft_labels=labels), data=data)
    expected = SoftLabels(relations=((("subject", 600), ("obj", 400)),), spans=labels.spans)
    assert example.sentence.soft_labels == expected
