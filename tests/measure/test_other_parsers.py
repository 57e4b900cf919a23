"""Other people's parsers beside ours: that they are run, and that their absence is said. Nothing is timed here."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks._other_parsers import compare_with_spacy
from benchmarks.speed import report_spacy
from h3n.measure.parsing import SPACY_PARTS
from h3n.parser import load


def test_spacy_runs_whole_and_with_its_parser_alone(tiny_model: Path, tmp_path: Path) -> None:
    spacy = pytest.importorskip("spacy")
    spacy.blank("en").to_disk(tmp_path)
    times = compare_with_spacy(load(tiny_model), str(tmp_path), "A dog ran.\n\nOslo saw it.", repeat=1)
    assert list(times)[1:] == [f"spaCy ({part}), dependencies" for part in SPACY_PARTS]
    assert all(seconds > 0 for seconds in times.values())


def test_a_missing_pipeline_is_said(tiny_model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    report_spacy(tiny_model, str(tmp_path / "none"), repeat=1)
    assert capsys.readouterr().out.startswith("spaCy          not measured: ")
