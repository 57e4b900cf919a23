"""One network, several styles of annotation: it follows the one it is asked for."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks.english import measure_treebanks
from h3n.config import Treebank, load_config
from h3n.errors import UnknownName
from h3n.parser import Parser
from h3n.training import load_examples, train
from h3n.trees import Dependencies, Sentence

EXAMPLES = Path(__file__).parents[2] / "examples" / "treebank"


@pytest.fixture(scope="module")
def parser(tmp_path_factory: pytest.TempPathFactory) -> Parser:
    """Return a parser that saw each sentence twice: in style ``ud``, and with another name for subjects in ``own``."""
    sizes = ["span=32", "pair=32", "arc=32", "relation=32", "head=32", "order=32", "tag=32"]
    settings = ["preset=small", "encoder.layers.count=1", "encoder.layers.size=64", "encoder.layers.inner=64"]
    settings += [f"scorers.{size}" for size in sizes]
    settings += ["batches.words=200", "training.epochs=8", "training.checks=1", "training.tune=false"]
    settings += ["training.threads=1", "training.device=cpu"]
    config = replace(load_config(settings=settings), output=str(tmp_path_factory.mktemp("styles")))
    files = (str(EXAMPLES / "train.ptb"), str(EXAMPLES / "train.conllu"))
    ud = load_examples([Treebank(files=files, style="ud", limit=120)], data=config.data)
    own = []
    for example in ud:
        arcs = example.sentence.dependencies
        assert arcs is not None
        relations = tuple("subject" if name == "nsubj" else name for name in arcs.relations)
        renamed = replace(example.sentence, dependencies=Dependencies(arcs.governors, relations))
        own.append(replace(example, sentence=renamed, style="own"))
    return Parser(train(config, [*ud, *own], ud[:3]).engine)


def subjects(parser: Parser, style: str | None) -> set[str]:
    (result,) = parser.parse([["The", "dog", "sees", "a", "cat", "."]], style=style)
    return {relation for relation in result.relations or () if relation in ("nsubj", "subject")}


def test_the_style_asked_for_is_followed(parser: Parser) -> None:
    assert subjects(parser, "own") == {"subject"}
    assert subjects(parser, "ud") == {"nsubj"}
    assert subjects(parser, None) == {"nsubj"}


def test_an_unknown_style_is_refused_at_once(parser: Parser) -> None:
    with pytest.raises(UnknownName, match="known: own, ud"):
        parser.parse("The dog sleeps.", style="ptb")


def test_the_score_learned_by_order_picks_the_heads(parser: Parser) -> None:
    sentence = Sentence(words=("The", "dog", "sees", "a", "cat", "."))
    (_, scored), *_ = parser.engine.score([sentence])
    order = scored.output.order()
    assert order is not None
    (parsed,) = parser.decode(scored, parser.options(decoder="h3n", head_score="order"))
    assert any(end - start > 1 for start, end, _, _ in parsed.parse.spans)
    for start, end, _, head in parsed.parse.spans:
        assert head == start + int(order[start:end].argmax())


def test_a_treebank_is_measured_in_its_own_style_too(parser: Parser) -> None:
    files = [str(EXAMPLES / "dev.ptb"), str(EXAMPLES / "dev.conllu")]
    usual, own = measure_treebanks(parser, {"dev": files}, limit=20, styles={"dev": "own"})
    assert (usual.name, own.name) == ("dev", "dev, --style own")
    assert usual.scores["LAS"] > own.scores["LAS"]  # whose subjects have another name
    assert len(measure_treebanks(parser, {"dev": files}, limit=2, styles={"dev": "no such style"})) == 1
