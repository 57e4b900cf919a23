"""A small treebank and small options to train on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from h3n.config import Config, Treebank, load_config
from h3n.training import load_examples, train
from h3n.training.data import Example
from tests.training.runs import SHORT, Options, Part

TREEBANK = Path(__file__).parents[2] / "examples" / "treebank"
SETTINGS = [
    "preset=small",
    "encoder.layers.count=1",
    "encoder.layers.size=64",
    "encoder.layers.inner=64",
    "scorers.span=64",
    "scorers.arc=64",
    "scorers.relation=32",
    "scorers.head=32",
    "scorers.tag=32",
    "batches.words=150",
    "training.threads=1",
    "training.device=cpu",
]


@pytest.fixture(scope="session")
def treebank() -> Callable[[str, int], list[Example]]:
    """Return a function that gives the first sentences of a part of the example treebank."""

    def part(name: str, limit: int = 0) -> list[Example]:
        files = (str(TREEBANK / f"{name}.ptb"), str(TREEBANK / f"{name}.conllu"))
        return load_examples([Treebank(files=files, limit=limit)], data=load_config().data)

    return part


@pytest.fixture(scope="session")
def options() -> Callable[..., Config]:
    """Return a function that gives small options, changed by settings, for an output folder."""

    def made(output: Path, *settings: str) -> Config:
        return replace(load_config(settings=[*SETTINGS, *settings]), output=str(output))

    return made


@pytest.fixture(scope="session")
def uninterrupted(tmp_path_factory: pytest.TempPathFactory, treebank: Part, options: Options) -> Path:
    """Return the folder of a short run that nothing disturbed."""
    run = tmp_path_factory.mktemp("runs") / "whole"
    train(options(run, *SHORT), treebank("train", 60), treebank("dev", 10))
    return run
