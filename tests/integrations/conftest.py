"""A parser every test here may use."""

from __future__ import annotations

from pathlib import Path

import pytest

import h3n
from h3n.parser import Parser


@pytest.fixture(scope="session")
def parser(tiny_model: Path) -> Parser:
    """Return a small parser that knows the example treebank: houses, dogs, teachers and telescopes."""
    return h3n.load(tiny_model)
