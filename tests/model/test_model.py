"""The parser's front: what it keeps, what it refuses."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch

from h3n.config import config_of, table_of
from h3n.convert.joint import split
from h3n.engine.vocabulary import Seen
from h3n.errors import InputError, UnknownName, UsageError
from h3n.model import build_network, count_vocabulary
from h3n.model.model import Model
from h3n.trees import Dependencies, Sentence, Span, check_dependencies
from tests.parsing import parse

SEEN = Seen(
    words=("the", "old", "dog", "slept"),
    spans=(Span(0, 4, "S"), Span(0, 3, "NP"), Span(1, 3, "<H>"), Span(3, 4, "VP")),
    dependencies=Dependencies((2, 2, 3, -1), ("det", "amod", "nsubj", "root")),
    tags=("DT", "JJ", "NN", "VBD"),
    upos=("DET", "ADJ", "NOUN", "VERB"),
    top="ROOT",
)
DEPENDENCIES_ONLY = Seen(words=SEEN.words, dependencies=SEEN.dependencies)
PHRASES_ONLY = Seen(words=SEEN.words, spans=SEEN.spans)
SENTENCES = [["the", "dog"], [], ["it"], ["a", "very", "old", "dog", "slept", "near", "the", "river", "."]]


def make(seen: Seen = SEEN) -> Model:
    layers = {"count": 1, "size": 16, "heads": 2, "head_size": 8, "inner": 16}
    scorers = {"span": 8, "pair": 4, "arc": 8, "relation": 8, "head": 8, "tag": 8}
    config = config_of({"encoder": {"layers": layers}, "scorers": scorers, "batches": {"parse_words": 12}})
    vocabulary = count_vocabulary([seen], keep_words=True)
    torch.manual_seed(3)
    network = build_network(config, vocabulary).eval()
    for weight in (network.arc.weight, network.relation.weight):
        torch.nn.init.normal_(weight)
    return Model(network, vocabulary, config)


@pytest.mark.parametrize("decoder", ["h3n", "hpsg", "auto"])
def test_joint_decoders_give_two_trees_that_agree(decoder: str) -> None:
    parsed = parse(make(), SENTENCES, decoder=decoder)
    assert [list(found.sentence.words) for found in parsed] == SENTENCES
    assert parsed[1].sentence == Sentence(words=())
    for found in (parsed[0], parsed[2], parsed[3]):
        assert found.joint is not None
        tree, dependencies = split(found.joint)
        assert (tree, dependencies) == (found.sentence.tree, found.sentence.dependencies)
        check_dependencies(dependencies)
        roots = [r for g, r in zip(dependencies.governors, dependencies.relations, strict=True) if g == -1]
        assert roots == ["root"]
        assert dependencies.relations.count("root") == 1
        assert tree.label == "ROOT"


def test_single_decoders_give_one_tree() -> None:
    parser = make()
    (phrases,) = parse(parser, [["the", "dog"]], decoder="cky")
    assert (phrases.sentence.dependencies, phrases.joint) == (None, None)
    assert phrases.sentence.tree is not None
    (arcs,) = parse(parser, [["the", "dog"]], decoder="mst")
    assert (arcs.sentence.tree, arcs.joint) == (None, None)
    assert arcs.sentence.dependencies is not None


def test_given_tags_are_kept_and_others_predicted() -> None:
    given = Sentence(words=("the", "dog"), tags=("X", "Y"))
    (found,) = parse(make(), [given])
    assert found.sentence.tags == ("X", "Y")
    assert found.sentence.upos is not None
    assert set(found.sentence.upos) <= set(SEEN.upos)
    (free,) = parse(make(), [["the", "dog"]])
    assert free.sentence.tags is not None
    assert set(free.sentence.tags) <= set(SEEN.tags)


def test_the_weight_of_spans_matters() -> None:
    parser = make()
    sentence = SENTENCES[3]
    scores = {parse(parser, [sentence], decoder="hpsg", weight=weight)[0].score for weight in (0.1, 0.9)}
    assert len(scores) == 2


def test_a_parser_of_one_kind_falls_back_to_its_decoder() -> None:
    (arcs,) = parse(make(DEPENDENCIES_ONLY), [["the", "dog"]])
    assert arcs.sentence.tree is None
    assert arcs.sentence.dependencies is not None
    (phrases,) = parse(make(PHRASES_ONLY), [["the", "dog"]])
    assert phrases.sentence.dependencies is None
    assert phrases.sentence.tree is not None
    with pytest.raises(UsageError, match="trained without phrase structure; accepted: 'mst'"):
        parse(make(DEPENDENCIES_ONLY), [["the"]], decoder="h3n")
    with pytest.raises(UsageError, match="trained without dependencies; accepted: 'cky'"):
        parse(make(PHRASES_ONLY), [["the"]], decoder="mst")
    with pytest.raises(UnknownName, match="unknown decoder 'best'"):
        parse(make(), [["the"]], decoder="best")


def test_folders_that_hold_no_parser_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"no such folder; expected one that holds parser\.json"):
        Model.load(tmp_path / "none")
    with pytest.raises(InputError, match=r"is .* a saved parser"):
        Model.load(tmp_path)
    make().save(tmp_path / "p")
    about = tmp_path / "p" / "parser.json"
    text = about.read_text()
    about.write_text(text[:100])
    with pytest.raises(InputError, match="not JSON"):
        Model.load(tmp_path / "p")
    about.write_text(json.dumps({**json.loads(text), "version": 99}))
    with pytest.raises(InputError, match="another version of h3n; expected version 1"):
        Model.load(tmp_path / "p")
    about.write_text(text)
    weights = tmp_path / "p" / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:1000])
    with pytest.raises(InputError, match="the weights cannot be read"):
        Model.load(tmp_path / "p")
    weights.unlink()
    with pytest.raises(InputError, match=r"model\.safetensors: cannot be read: No such file"):
        Model.load(tmp_path / "p")


def test_a_saved_parser_brings_its_static_vectors_along(tmp_path: Path) -> None:
    path = tmp_path / "vectors.txt"
    path.write_text("the 1 2\ndog 3 4\n")
    config = config_of({"encoder": {"vectors": str(path), "layers": {"count": 0, "size": 8}}})
    vocabulary = count_vocabulary([SEEN], keep_words=True)
    parser = Model(build_network(config, vocabulary).eval(), vocabulary, config)
    parser.save(tmp_path / "p")
    path.unlink()
    words = ["the", "dog"]
    assert parse(Model.load(tmp_path / "p"), [words])[0].joint == parse(parser, [words])[0].joint


def test_a_saved_parser_does_not_tell_where_it_was_made(tmp_path: Path) -> None:
    parser = make()
    home = tmp_path / "somebody"
    data = {"train": [{"files": [str(home / "gum.ptb"), "$H3N_DATA/gum.conllu"], "style": "gum"}]}
    places = {"output": str(home / "runs" / "mine"), "start": str(home / "model"), "data": data}
    parser.config = config_of(table_of(parser.config) | places)
    parser.save(tmp_path / "saved")
    assert "somebody" not in (tmp_path / "saved" / "parser.json").read_text()
    config = Model.load(tmp_path / "saved").config
    assert (config.output, config.start) == ("mine", "model")
    assert config.data.train[0].files == ("gum.ptb", "$H3N_DATA/gum.conllu")
    assert config.data.train[0].style == "gum"
