"""Small models to test with: nothing is downloaded."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.model.tiny import save_encoder


@pytest.fixture(scope="session")
def tiny_encoder(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """Return a function that gives the folder of a tiny, randomly initialised model of a kind."""
    made: dict[str, Path] = {}

    def folder(kind: str) -> Path:
        if kind not in made:
            made[kind] = tmp_path_factory.mktemp(kind)
            save_encoder(kind, made[kind])
        return made[kind]

    return folder
