"""The share of the damaged folders of models that every run of the tests tries; see model_folders.py."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest


@pytest.mark.skipif(sys.platform != "linux", reason="looks at what a process takes as Linux tells it")
def test_every_folder_is_parsed_with_or_refused_in_one_line() -> None:
    command = [sys.executable, "-m", "tests.fuzz.model_folders", "--seed", "0", "--count", "33"]
    run = subprocess.run(command, capture_output=True, text=True, check=False, cwd=Path(__file__).parents[2])
    assert run.returncode == 0, run.stdout + run.stderr
