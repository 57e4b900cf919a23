"""The table of promises: every test and program that it names is there."""

from __future__ import annotations

import re
from pathlib import Path

PROJECT = Path(__file__).parent.parent
PAGE = PROJECT / "docs" / "reliability.md"


def test_every_promise_names_tests_that_exist() -> None:
    lines = PAGE.read_text(encoding="utf-8").splitlines()
    rows = [line for line in lines if line.startswith("| ") and not line.startswith("| promise ")]
    assert len(rows) >= 20
    for row in rows:
        places = re.findall(r"`((?:tests|benchmarks|\.ci)/[\w./-]+)(?:::(\w+))?`", row)
        assert places, row
        for file, name in places:
            path = PROJECT / file
            assert path.exists(), file
            assert not name or f"def {name}(" in path.read_text(encoding="utf-8"), f"{file}::{name}"
