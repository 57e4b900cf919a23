"""Fixtures every test may use."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def data() -> Path:
    """Return the folder of real treebanks, or skip: a stranger's clone has none."""
    folder = os.environ.get("H3N_DATA")
    if not folder:
        pytest.skip("H3N_DATA names no folder of treebanks")
    path = Path(folder)
    if not path.is_dir():
        pytest.fail(f"H3N_DATA names {folder}, which is no folder")
    return path


@pytest.fixture(scope="session")
def tiny_model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of a parser that learned the example treebank for a few seconds, both trees and tags."""
    from h3n.config import Treebank, load_config
    from h3n.training import load_examples, train

    settings = ["preset=small", "encoder.layers.count=1", "encoder.layers.size=64", "encoder.layers.inner=64"]
    settings += [f"scorers.{name}=32" for name in ("relation", "head", "tag")]
    settings += ["scorers.span=64", "scorers.arc=64", "batches.words=150", "training.epochs=12", "training.checks=1"]
    settings += ["training.tune=false", "training.threads=1", "training.device=cpu"]
    treebank = Path(__file__).parents[1] / "examples" / "treebank"
    files = (str(treebank / "train.ptb"), str(treebank / "train.conllu"))
    run = tmp_path_factory.mktemp("tiny")
    config = replace(load_config(settings=settings), output=str(run))
    examples = load_examples([Treebank(files=files)], data=config.data)
    train(config, examples, examples[:5])
    return run / "model"


@pytest.fixture(scope="session")
def tiny_encoder(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """Return a function that gives the folder of a tiny, randomly initialised model of a kind."""
    from tests.model.tiny import save_encoder

    made: dict[str, Path] = {}

    def folder(kind: str) -> Path:
        if kind not in made:
            made[kind] = tmp_path_factory.mktemp(kind)
            save_encoder(kind, made[kind])
        return made[kind]

    return folder
