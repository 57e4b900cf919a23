"""A model with a segmenter of its own: wherever text comes in, it finds sentences and words."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path

import pytest

import h3n
from h3n import formats
from h3n.cli import main
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


@pytest.mark.parametrize("newlines", ["paragraph", "sentence"])
def test_the_command_uses_it(
    folder: Path, parser: Parser, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, newlines: str
) -> None:
    (tmp_path / "a.txt").write_text(TEXT, encoding="utf-8")
    arguments = ["--model", str(folder), "--newlines", newlines, "-o", str(tmp_path / "a.conllu")]
    assert _parse(monkeypatch, str(tmp_path / "a.txt"), *arguments) == 0
    found = [sentence.words for sentence in formats.read(tmp_path / "a.conllu")]
    assert found == [sentence.words for sentence in parser.segment(TEXT, newlines=newlines)]


def test_the_command_uses_it_for_lines(
    folder: Path, parser: Parser, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a.txt").write_text(TEXT, encoding="utf-8")
    arguments = ["--from", "lines", "--model", str(folder), "-o", str(tmp_path / "a.conllu")]
    assert _parse(monkeypatch, str(tmp_path / "a.txt"), *arguments) == 0
    found = [sentence.words for sentence in formats.read(tmp_path / "a.conllu")]
    assert found == [sentence.words for sentence in parser.segmenter.lines(TEXT)]


def _parse(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> object:
    monkeypatch.setattr(sys, "argv", ["h3n", "parse", *arguments])
    with pytest.raises(SystemExit) as end:
        main()
    return end.value.code or 0


def test_a_corpus_uses_it(folder: Path, parser: Parser, tmp_path: Path) -> None:
    pytest.importorskip("pyarrow", reason="the extra corpus is not installed")
    from h3n import corpus

    (tmp_path / "a.txt").write_text(TEXT, encoding="utf-8")
    corpus.parse_corpus([str(tmp_path / "a.txt")], tmp_path / "out", model=str(folder), workers=1)
    found = [one.result.words for one in corpus.read(tmp_path / "out")]
    assert found == [sentence.words for sentence in parser.segment(TEXT)]


def test_spacy_takes_its_sentences(folder: Path, parser: Parser) -> None:
    spacy = pytest.importorskip("spacy", reason="the extra spacy is not installed")
    nlp = spacy.blank("xx")
    nlp.add_pipe("h3n", config={"model": str(folder)})
    doc = nlp(TEXT)
    starts = [tokens[0].start for tokens in parser.segmenter.split(TEXT)]
    expected = {min(token.idx for token in doc if token.idx >= start) for start in starts if start <= doc[-1].idx}
    assert {sentence.start_char for sentence in doc.sents} == expected


def test_the_service_uses_it(parser: Parser) -> None:
    pytest.importorskip("starlette", reason="the extra serve is not installed")
    from h3n.serve.corenlp import Properties, sentences_of

    found = sentences_of(TEXT, Properties(frozenset(), "json", {}), parser.segmenter)
    assert list(found) == list(parser.segment(TEXT))
    by_line = sentences_of(TEXT, Properties(frozenset(), "json", {"ssplit.eolonly": "true"}), parser.segmenter)
    assert list(by_line) == [sentence for sentence in parser.segmenter.lines(TEXT) if sentence.words]
