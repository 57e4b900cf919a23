"""A model with a segmenter of its own: wherever text comes in, it finds sentences and words."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest

import h3n
from h3n import formats
from h3n.engine.segmenter import name_segmenter
from h3n.errors import InputError
from h3n.model import build_network
from h3n.model.model import Model
from h3n.parser import Parser
from h3n.text import ENGLISH, offsets, written
from tests.engine.test_segmenter import by_chance
from tests.model.test_encoders import options, vocabulary

SEGMENTER = by_chance(1)
TEXT = "Ab cab. Bab 'a' abc, b!\nCab bac abba.\n\nThe dog c. " * 3


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    config = options(kind="attentive")
    path = tmp_path_factory.mktemp("own") / "model"
    Model(build_network(config, vocabulary()), vocabulary(), config, SEGMENTER).save(path)
    return path


@pytest.fixture(scope="module")
def parser(folder: Path) -> Parser:
    return h3n.load(folder)


def test_text_is_cut_by_the_segmenter_of_the_model(parser: Parser) -> None:
    results = list(parser.parse(TEXT))
    expected = list(parser.segmenter.segment(TEXT))
    assert [result.words for result in results] == [sentence.words for sentence in expected]
    assert [result.words for result in results] != [sentence.words for sentence in ENGLISH.segment(TEXT)]
    assert list(parser.segment(iter(TEXT), newlines="sentence")) == list(parser.segment(TEXT, newlines="sentence"))


def test_a_token_of_several_words_is_a_range_with_exact_offsets(parser: Parser) -> None:
    results = [result for result in parser.parse(TEXT) if result.sentence.inserts]
    assert results, "the segmenter expands nothing"
    for result in results:
        (again,) = formats.read(io.StringIO(result.conllu()), format="conllu")
        assert again.inserts == result.sentence.inserts
        assert written(again) == result.text
        for token in result.sentence.inserts:
            (start, _), (_, end) = offsets(result.sentence)[token.start], offsets(result.sentence)[token.end - 1]
            assert TEXT[start:end].replace("\n", " ") == token.form


def test_every_line_end_ends_a_sentence_where_that_is_asked_for(parser: Parser) -> None:
    for sentence in parser.segment(TEXT, newlines="sentence"):
        bounds = offsets(sentence)
        assert "\n" not in TEXT[bounds[0][0] : bounds[-1][1]]


def test_a_model_keeps_its_segmenter_when_it_is_saved_again(folder: Path, tmp_path: Path) -> None:
    Model.load(folder).save(tmp_path / "again", bits=8)
    assert list(h3n.load(tmp_path / "again").segment(TEXT)) == list(h3n.load(folder).segment(TEXT))


def test_a_model_is_given_another_segmenter(folder: Path, tmp_path: Path) -> None:
    Model.load(folder).save(tmp_path / "other")
    name_segmenter(ENGLISH, tmp_path / "other")
    assert h3n.load(tmp_path / "other").segmenter is ENGLISH
    name_segmenter(SEGMENTER, tmp_path / "other")
    assert h3n.load(tmp_path / "other").segmenter.name == "learned"


@pytest.mark.parametrize("file", ["segmenter.json", "segmenter.safetensors"])
def test_a_damaged_segmenter_is_refused_in_one_line(folder: Path, tmp_path: Path, file: str) -> None:
    Model.load(folder).save(tmp_path / "damaged")
    target = tmp_path / "damaged" / file
    target.write_bytes(target.read_bytes()[:-9])
    with pytest.raises(InputError, match=file) as caught:
        h3n.load(tmp_path / "damaged")
    assert "\n" not in str(caught.value)
    target.unlink()
    with pytest.raises(InputError, match=file):
        h3n.load(tmp_path / "damaged")


def test_a_segmenter_that_nobody_knows_is_refused(folder: Path, tmp_path: Path) -> None:
    Model.load(folder).save(tmp_path / "unknown")
    about = tmp_path / "unknown" / "parser.json"
    about.write_text(json.dumps(json.loads(about.read_text()) | {"segmenter": "klingon"}))
    with pytest.raises(InputError, match="accepted: english, learned"):
        h3n.load(tmp_path / "unknown")
