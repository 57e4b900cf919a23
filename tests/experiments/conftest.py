"""A small experiment with its treebank, and torch as it was before."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch

from h3n.experiments.grammar import write_treebank
from tests.experiments.small import SMALL


@pytest.fixture(autouse=True)
def threads() -> Any:
    """Give torch its threads back."""
    before = torch.get_num_threads()
    yield
    torch.set_num_threads(before)


@pytest.fixture
def small(tmp_path: Path) -> str:
    """Return the text of a data file, and write the treebank it names."""
    write_treebank(tmp_path / "data", sentences={"train": 40, "dev": 10}, seed=3)
    return SMALL.replace("FOLDER", str(tmp_path / "data"))
