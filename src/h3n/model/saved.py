"""A saved model as a network of torch: what `h3n.engine.saved` reads, or the same with an encoder of transformers."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from h3n.config import Config
from h3n.config.building import show
from h3n.engine.architectures import CONFIG, LARGEST_CONFIG, UnknownEncoder
from h3n.engine.inputs import read_inputs
from h3n.engine.saved import VECTORS, Saved, check_sum, read_options, read_saved, segmenter_of
from h3n.engine.storage import Stored
from h3n.engine.tokenizer_file import TOKENIZER, check_numbers, check_tokenizer
from h3n.engine.vocabulary import Vocabulary
from h3n.engine.weights import compare, read_shapes, read_weights
from h3n.errors import H3nError, InputError, first_line
from h3n.files import check_regular, read_json
from h3n.model.batch import collate
from h3n.model.network import Network, fill_network, restore_network, unfilled_network
from h3n.models import ABOUT, ENCODER, WEIGHTS
from h3n.text import Segmenter

TRIED = 200  # words of a sentence that an encoder is tried with
# How configurations of encoders call the number of their layers.
LAYERS = ("num_hidden_layers", "n_layer", "n_layers", "num_layers")


def load_saved(folder: Path) -> tuple[Network, Vocabulary, Config, Segmenter]:
    """Return the network, vocabulary and options of a saved model, and its segmenter."""
    try:
        saved = read_saved(folder)
    except UnknownEncoder:
        return _load_with_library(folder)
    return network_of(saved), saved.vocabulary, saved.config, saved.segmenter


def network_of(saved: Saved) -> Network:
    """Return a network with the weights of a saved model."""
    folder = saved.folder / ENCODER if saved.architecture is not None else None
    vectors = saved.weights[VECTORS].shape[1] if VECTORS in saved.weights else 0
    network = unfilled_network(saved.config, saved.vocabulary, folder=folder, vector_size=vectors)
    fill_network(network, _tensors(saved.weights))
    return network


def _tensors(weights: Mapping[str, Stored]) -> dict[str, Tensor]:
    return {name: torch.from_numpy(one.floats()) for name, one in weights.items()}


def _load_with_library(folder: Path) -> tuple[Network, Vocabulary, Config, Segmenter]:
    """Return a model whose encoder transformers has to build: what implies the shapes is the network itself."""
    about, config, vocabulary = read_options(folder)
    encoder = folder / ENCODER
    found = read_shapes(folder / WEIGHTS)
    for file in sorted(encoder.iterdir()):
        check_regular(file)
    table = check_tokenizer(encoder / TOKENIZER)
    _check_counts(folder, config, encoder, tensors=len(found))
    network = _unfilled(folder, config, vocabulary, encoder)
    compare(folder / WEIGHTS, found, {name: tuple(value.shape) for name, value in network.state_dict().items()})
    check_sum(folder, about)
    state = _tensors(read_weights(folder / WEIGHTS))
    try:
        if not fill_network(network, state):
            network = restore_network(config, vocabulary, state, folder=encoder)
    except RuntimeError as error:
        raise InputError(f"{folder / WEIGHTS}: the weights cannot be read: {first_line(error)}") from None
    model: Any = network.encoder.model
    if network.tokenizer is not None:
        rows = len(model.get_input_embeddings().weight)
        check_numbers(encoder / TOKENIZER, table, network.tokenizer, rows=rows)
    _try(folder, network.eval(), vocabulary)
    return network, vocabulary, config, segmenter_of(folder, about)


@torch.inference_mode()
def _try(folder: Path, network: Network, vocabulary: Vocabulary) -> None:
    """Raise if the network cannot read a sentence: an encoder of the library is checked by nobody else."""
    words, characters = ["a"] * TRIED, bool(vocabulary.characters)
    try:
        inputs = read_inputs(words, vocabulary, tokenizer=network.tokenizer, characters=characters)
        network(collate([inputs], tokenizer=network.tokenizer))
    except H3nError:
        raise
    except Exception as error:
        raise InputError(f"{folder / ENCODER}: the encoder cannot read a sentence: {first_line(error)}") from None


def _check_counts(folder: Path, config: Config, encoder: Path, *, tensors: int) -> None:
    """Refuse numbers of layers that the weights cannot have: to build so many would take for ever."""
    counts: dict[str, Any] = {f"{folder / ABOUT}: encoder.layers.count": config.encoder.layers.count}
    table = read_json(encoder / CONFIG, largest=LARGEST_CONFIG)
    counts |= {f"{encoder / CONFIG}: {name}": table[name] for name in LAYERS if name in table}
    for name, count in counts.items():
        if type(count) is not int or not 0 <= count <= tensors:
            raise InputError(f"{name} is {show(count)}; the weights are {tensors} tensors, so it is from 0 to that")


def _unfilled(folder: Path, config: Config, vocabulary: Vocabulary, encoder: Path) -> Network:
    """Return the network that options and vocabulary ask for; its weights take no memory yet."""
    try:
        return unfilled_network(config, vocabulary, folder=encoder)
    except InputError:
        raise
    except Exception as error:  # sizes that contradict each other: torch raises whatever comes
        raise InputError(f"{folder / ABOUT}: no network can be made of these options: {first_line(error)}") from None
