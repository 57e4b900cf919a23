"""Fixtures every test may use."""

from __future__ import annotations

import os
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
