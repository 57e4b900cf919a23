"""Sentences and words without end: given out unparsed with a note, neighbours unharmed, memory bounded."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import h3n
from h3n.errors import UsageError
from h3n.model import build_network
from h3n.model.model import Model
from h3n.parser import Parser
from tests.model.test_encoders import options, vocabulary

SHORT = ["the", "parser", "saw", "it"]


@pytest.fixture(scope="module")
def limited(tiny_model: Path) -> Parser:
    return h3n.load(tiny_model, max_words=30)


def test_a_long_sentence_is_given_out_unparsed_and_its_neighbours_parsed(limited: Parser) -> None:
    results = list(limited.parse([SHORT, ["word"] * 31, ["word"] * 30]))
    assert [result.note for result in results] == [None, "not parsed: 31 words, the limit is 30 (max_words)", None]
    assert [result.joint is None for result in results] == [False, True, False]
    assert results[1].words == ("word",) * 31
    (alone,) = limited.parse([SHORT])
    assert results[0].joint == alone.joint


def test_every_form_of_a_sentence_that_was_not_parsed(limited: Parser) -> None:
    (result,) = limited.parse([["word"] * 31])
    assert result.brackets() == result.joint_brackets() == ""
    note, text, first = result.conllu().split("\n")[:3]
    assert {note, text} == {f"# note = {result.note}", "# text = " + " ".join(["word"] * 31)}
    assert first.startswith("1\tword\t")
    assert json.loads(result.json())["note"] == result.note
    assert result.pretty() == f"({result.note})\n"
    assert result.svg().startswith("<svg")


def test_a_word_of_many_pieces_is_given_out_unparsed(tiny_encoder: Callable[[str], Path], tmp_path: Path) -> None:
    config = options(kind="pretrained", name=str(tiny_encoder("roberta")))
    Model(build_network(config, vocabulary()), vocabulary(), config).save(tmp_path)
    parser = h3n.load(tmp_path, max_pieces=100)
    results = list(parser.parse([SHORT, ["the", "xq" * 200_000], SHORT]))
    assert results[1].note is not None
    assert results[1].note.startswith("not parsed: word 2 has ")
    assert results[1].note.endswith(" pieces, the limit is 100 (max_pieces)")
    assert results[0].words == results[2].words
    assert results[0].joint == results[2].joint
    assert results[0].joint is not None


def test_limits_are_whole_numbers_from_one_on(tiny_model: Path) -> None:
    with pytest.raises(UsageError, match="max_words is 0; 1 or more is accepted"):
        h3n.load(tiny_model, max_words=0)


def test_the_command_line_says_so_and_ends_with_one(tiny_model: Path, tmp_path: Path) -> None:
    file = tmp_path / "lines.txt"
    file.write_text("The dog sleeps .\n" + "word " * 31 + "\nThe dog sleeps .\n")
    options = ["--from", "words", "--to", "conllu", "--model", str(tiny_model), "--max-words", "30"]
    done = subprocess.run([sys.executable, "-m", "h3n", "parse", str(file), *options], capture_output=True, text=True)
    assert done.returncode == 1
    assert done.stderr == "h3n: sentence 2: not parsed: 31 words, the limit is 30 (--max-words)\n"
    assert done.stdout.count("# note = not parsed") == 1
    assert done.stdout.count("\tsleeps\t") == 2


PEAK = """
import resource, sys
import h3n
parser = h3n.load(sys.argv[1], threads=1, precision=sys.argv[2])
words = ["word"] * 1000
(result,) = parser.parse([words])
assert result.joint is not None
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024)
"""


@pytest.mark.parametrize("precision", ["float32", "int8"])
def test_a_thousand_words_take_less_than_two_gigabytes(precision: str) -> None:
    done = subprocess.run([sys.executable, "-c", PEAK, "en", precision], capture_output=True, text=True, check=True)
    assert int(done.stdout) < 2000
