"""The large English model as it is published: whole, small enough, and a parser."""

from __future__ import annotations

from pathlib import Path

import pytest

import h3n
from h3n import models

FOLDER = Path(__file__).parents[2] / "models" / "en-large" / "h3n_en_large"
pytestmark = pytest.mark.skipif(not FOLDER.is_dir(), reason="the folder models is not in every copy of the source")


def test_it_is_small_enough_for_a_package() -> None:
    assert sum(file.stat().st_size for file in FOLDER.rglob("*") if file.is_file()) <= 100e6


def test_nothing_is_left_out_of_the_wheel() -> None:
    packed = {file for pattern in models.FILES for file in FOLDER.glob(pattern)}
    assert packed == {file for file in FOLDER.rglob("*") if file.is_file()}


def test_its_card_is_written() -> None:
    card = (FOLDER / models.CARD).read_text(encoding="utf-8")
    assert models.UNKNOWN not in card
    assert models.language_of(FOLDER) == "en"


def test_it_parses_in_each_style() -> None:
    parser = h3n.load(FOLDER)
    for style in (None, "masc"):
        (result,) = parser.parse("Time flies like an arrow.", style=style)
        assert result.brackets().startswith("(ROOT (S (NP (NN Time)) (VP (VBZ flies)")
        assert result.words[result.root] == "flies"
