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
from h3n.corpus.tables import row_of
from h3n.engine import native
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


LEMMAS = ("she", "be", "carefully", "make", "the", "cake", ".")
FEATURES = (
    "Case=Nom|Gender=Fem|Number=Sing|Person=3|PronType=Prs",
    "Mood=Ind|Number=Sing|Person=3|Tense=Pres|VerbForm=Fin",
    "Degree=Pos",
    "Tense=Pres|VerbForm=Part",
    "Definite=Def|PronType=Art",
    "Number=Sing",
    "_",
)


def test_lemmas_and_features_are_found_and_in_every_output(results: list[Result]) -> None:
    cake, smoke = results
    assert (cake.lemmas, cake.features) == (LEMMAS, FEATURES)
    assert [word.lemma for word in cake] == list(LEMMAS)
    assert cake[1].features["Tense"] == "Pres"
    assert smoke.lemmas[1:3] == ("do", "not")
    rows = [line.split("\t") for line in cake.conllu().splitlines() if line[:1].isdigit()]
    assert [(row[2], row[5]) for row in rows] == list(zip(LEMMAS, FEATURES, strict=True))
    table = json.loads(cake.json())
    assert (tuple(table["lemmas"]), tuple(table["features"])) == (LEMMAS, FEATURES)
    row = row_of("a", 0, cake)
    assert (tuple(row["lemmas"]), tuple(row["features"])) == (LEMMAS, FEATURES)


@pytest.mark.parametrize("precision", ["float32", "int8"])
def test_lemmas_do_not_depend_on_what_computes(precision: str) -> None:
    if precision == "int8" and not native.is_built():
        pytest.skip("the native networks are not built")
    (cake, _) = h3n.load("en", precision=precision).parse(TEXT)
    assert (cake.lemmas, cake.features) == (LEMMAS, FEATURES)


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
