"""What a saved model must have, said without torch, beside what torch's networks have."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from h3n.config import Config, config_of
from h3n.engine import UnknownEncoder, read_saved
from h3n.engine.architectures import Architecture, read_architecture
from h3n.engine.saved import implied_shapes
from h3n.model import Network, Vocabulary, build_network
from h3n.model.model import Model
from h3n.models import bundled
from tests.model.test_encoders import options, vocabulary
from tests.parsing import parse

ENCODERS = ("bert", "roberta", "xlm-roberta", "mpnet")


def shapes(network: Network) -> dict[str, tuple[int, ...]]:
    return {name: tuple(value.shape) for name, value in network.state_dict().items()}


def with_scorers(config: Config, **scorers: int) -> Config:
    return replace(config, scorers=replace(config.scorers, **scorers))


def with_layers(config: Config, **layers: int) -> Config:
    return replace(config, encoder=replace(config.encoder, layers=replace(config.encoder.layers, **layers)))


def styled() -> Vocabulary:
    return replace(vocabulary(), styles=("", "b", "c"), upos=("NOUN", "VERB"))


KINDS = {
    "words": options(kind="attentive"),
    "cnn": options(kind="attentive", characters="cnn"),
    "lstm": options(kind="attentive", characters="lstm"),
    "no words": options(kind="attentive", characters="cnn", words=False),
    "shapes and tags": options(kind="attentive", shapes=True, tags=True),
    "pair": with_scorers(options(kind="attentive"), pair=6),
    "order": with_scorers(options(kind="attentive"), order=5),
    "no layers": with_layers(options(kind="attentive", characters="lstm"), count=0, size=15),
    "three layers": with_layers(options(kind="attentive"), count=3, heads=3, head_size=10, inner=22),
}


@pytest.mark.parametrize("known", [vocabulary(), styled(), Vocabulary()], ids=["usual", "styles", "empty"])
@pytest.mark.parametrize("kind", KINDS)
def test_shapes_of_attentive_models(kind: str, known: Vocabulary) -> None:
    assert implied_shapes(KINDS[kind], known, None) == shapes(build_network(KINDS[kind], known))


def test_shapes_with_static_vectors(tmp_path: Path) -> None:
    (tmp_path / "vectors").write_text("the 1 2 3\nriver 4 5 6\n")
    config = options(kind="attentive", vectors=str(tmp_path / "vectors"))
    network = build_network(config, vocabulary())
    assert implied_shapes(config, vocabulary(), None, vectors=3) == shapes(network)
    Model(network, vocabulary(), config).save(tmp_path / "saved")
    saved = read_saved(tmp_path / "saved")
    assert saved.weights["encoder.features.vectors.weight"].shape == (len(vocabulary().words) + 2, 3)


def camembert(folder: Path, target: Path) -> Path:
    """Return a RoBERTa under its other name."""
    target.mkdir()
    for file in folder.iterdir():
        (target / file.name).write_bytes(file.read_bytes())
    table = json.loads((target / "config.json").read_text())
    (target / "config.json").write_text(json.dumps(table | {"model_type": "camembert"}))
    return target


@pytest.mark.parametrize("kind", [*ENCODERS, "camembert"])
def test_shapes_and_weights_of_pretrained_models(
    kind: str, tiny_encoder: Callable[[str], Path], tmp_path: Path
) -> None:
    found = tiny_encoder("roberta" if kind == "camembert" else kind)
    folder = camembert(found, tmp_path / "camembert") if kind == "camembert" else found
    config = with_scorers(options(kind="pretrained", name=str(folder), characters="cnn", shapes=True), pair=4, order=3)
    network = build_network(config, styled())
    assert implied_shapes(config, styled(), read_architecture(folder)) == shapes(network)
    Model(network, styled(), config).save(tmp_path / "saved")
    saved = read_saved(tmp_path / "saved")
    state = network.state_dict()
    assert saved.weights.keys() == state.keys()
    assert all(np.array_equal(one.floats(), state[name].numpy()) for name, one in saved.weights.items())
    assert isinstance(saved.architecture, Architecture)
    assert saved.architecture.kind == kind
    assert saved.tokenizer is not None
    words = ["Mary", "saw", "unbelievable", "\u00e9\u00df", "trees"]
    expected = network.tokenizer.tokenize(words) if network.tokenizer is not None else None
    assert expected is not None
    assert saved.tokenizer.tokenize(words).ids.tolist() == expected.ids.tolist()
    assert saved.tokenizer.room == (network.tokenizer.room if network.tokenizer is not None else 0)
    assert all(f"{part}.weight" in state for layer in range(2) for part in _parts(saved.architecture, layer))


def _parts(architecture: Architecture, layer: int) -> list[str]:
    names = architecture.names.at(layer)
    return [getattr(names, part) for part in names.__slots__]


@pytest.mark.parametrize("name", sorted(bundled()))
def test_models_that_come_along_are_read(name: str) -> None:
    saved = read_saved(bundled()[name])
    network = Model.load(bundled()[name]).network
    for part, value in network.state_dict().items():
        assert torch.equal(torch.from_numpy(saved.weights[part].floats()), value)


def test_an_encoder_that_is_not_known_is_named_with_both_ways_out(
    tiny_encoder: Callable[[str], Path], tmp_path: Path
) -> None:
    config = options(kind="pretrained", name=str(tiny_encoder("xlnet")))
    Model(build_network(config, vocabulary()), vocabulary(), config).save(tmp_path)
    with pytest.raises(UnknownEncoder, match=r"'xlnet' is not known .* install h3n\[train\] .* or take") as error:
        read_saved(tmp_path)
    assert "\n" not in str(error.value)
    assert parse(Model.load(tmp_path), [["it", "works"]])  # through transformers


def test_other_options_ask_for_other_weights() -> None:
    one, other = (implied_shapes(config_of({"scorers": {"pair": pair}}), vocabulary(), None) for pair in (0, 4))
    assert other.keys() - one.keys() == {
        "span.weight",
        *(f"span.{end}.linear.{part}" for end in ("start", "end") for part in ("weight", "bias")),
    }
