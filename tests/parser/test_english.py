"""The English model in the box: that it is there, small, and right about sentences nobody could get wrong."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

import h3n
from h3n import models
from h3n.convert import split
from h3n.parser import Parser, Result

TEXT = "She is carefully making the cake. It doesn't smell of smoke, does it?"


@pytest.fixture(scope="module")
def english() -> Parser:
    return h3n.load("en")


@pytest.fixture(scope="module")
def results(english: Parser) -> list[Result]:
    return list(english.parse(TEXT))


def test_it_is_small_and_has_a_card() -> None:
    folder = models.locate("en")
    assert sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()) < 50e6
    card = (folder / models.CARD).read_text(encoding="utf-8")
    for heading in ("## Data", "## How good it is", "## Weaknesses"):
        assert heading in card


def test_both_trees_of_the_example(results: list[Result]) -> None:
    cake = results[0]
    assert cake.words == ("She", "is", "carefully", "making", "the", "cake", ".")
    spans = {(span.label, span.start, span.end) for span in cake.spans}
    assert {("S", 0, 7), ("NP", 0, 1), ("VP", 1, 6), ("NP", 4, 6)} <= spans
    assert cake.tags == ("PRP", "VBZ", "RB", "VBG", "DT", "NN", ".")
    assert cake.heads == (4, 4, 4, 0, 6, 4, 4)
    assert cake.relations == ("nsubj", "aux", "advmod", "root", "det", "obj", "punct")
    assert cake.upos == ("PRON", "AUX", "ADV", "VERB", "DET", "NOUN", "PUNCT")


def test_contractions_and_offsets(results: list[Result]) -> None:
    smoke = results[1]
    assert smoke.words == ("It", "does", "n't", "smell", "of", "smoke", ",", "does", "it", "?")
    assert smoke.relations[:6] == ("nsubj", "aux", "advmod", "root", "case", "obl")
    assert [TEXT[start:end] for start, end in smoke.offsets] == list(smoke.words)


def test_the_two_trees_agree(english: Parser) -> None:
    texts = [
        "The old man the boats that his sons, who had never rowed, refused to paint.",
        "What she said to whom, and when, nobody who was there would ever tell us.",
    ]
    for result in english.parse(iter(texts)):
        assert result.joint is not None
        _, dependencies = split(result.joint)
        assert dependencies.governors == result.governors


def test_a_cold_shell_needs_no_network(tmp_path: Path) -> None:
    # An address that nobody answers: whoever asked for a download would fail.
    nowhere = "http://127.0.0.1:9"
    environment = {"HOME": str(tmp_path), "HTTPS_PROXY": nowhere, "HTTP_PROXY": nowhere, "OMP_NUM_THREADS": "1"}
    command = [sys.executable, "-m", "h3n", "parse", "--text", "It smells good.", "--to", "jsonl"]
    made = subprocess.run(command, capture_output=True, text=True, env=environment, check=True)
    assert json.loads(made.stdout)["relations"] == ["nsubj", "root", "xcomp", "punct"]
