"""A saved model checked against one description, what its options and vocabulary imply, before memory is spent on it.

Whatever is wrong with a folder, and however it came about, is one `InputError` that names the file.
"""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

from safetensors import SafetensorError, safe_open
from safetensors.torch import load_file

from h3n.config import Config, config_of
from h3n.errors import H3nError, InputError
from h3n.files import checksum
from h3n.model.network import Network, fill_network, restore_network, unfilled_network
from h3n.model.storage import SCALE, shape_once_unpacked, unpack
from h3n.model.vocabulary import EMPTY, Vocabulary
from h3n.models import ABOUT, ENCODER, SHA256, WEIGHTS, read_about

FLOATS = {"F64", "F32", "F16", "BF16"}
VECTORS = "encoder.features.vectors.weight"
# How configurations of encoders call the number of their layers.
LAYERS = ("num_hidden_layers", "n_layer", "n_layers", "num_layers")

Shapes = dict[str, tuple[int, ...]]


def load_saved(folder: Path) -> tuple[Network, Vocabulary, Config]:
    """Return the network, vocabulary and options of a saved model."""
    about = read_about(folder)
    config, vocabulary = _read_options(folder / ABOUT, about)
    encoder = folder / ENCODER if config.encoder.kind == "pretrained" else None
    found = _read_shapes(folder / WEIGHTS)
    _check_counts(folder, config, encoder, tensors=len(found))
    network = _unfilled(folder, config, vocabulary, encoder, found)
    _compare(folder / WEIGHTS, found, {name: tuple(value.shape) for name, value in network.state_dict().items()})
    _check_sum(folder, about)
    try:
        state = unpack(load_file(folder / WEIGHTS))
        if not fill_network(network, state):
            network = restore_network(config, vocabulary, state, folder=encoder)
    except (OSError, SafetensorError, RuntimeError) as error:
        raise InputError(f"{folder / WEIGHTS}: the weights cannot be read: {_first_line(error)}") from None
    return network, vocabulary, config


def _read_options(file: Path, about: dict[str, Any]) -> tuple[Config, Vocabulary]:
    try:
        config = config_of(about["config"])
        vocabulary = Vocabulary.from_json(about["vocabulary"])
    except H3nError as error:
        raise InputError(f"{file}: {error}") from None
    for name, names in {"at_root": "relations", "elsewhere": "relations", "word_counts": "words"}.items():
        one, other = len(getattr(vocabulary, name)), len(getattr(vocabulary, names))
        if one != other:
            raise InputError(f"{file}: vocabulary.{name} has {one} entries; expected {other}, as {names} has")
    if vocabulary.labels[:1] != (EMPTY,):
        raise InputError(f"{file}: vocabulary.labels does not start with the empty label, which is label 0")
    for name in ("labels", "relations", "tags", "upos", "words", "characters", "styles"):
        for entry, count in Counter(getattr(vocabulary, name)).most_common(1):
            if count > 1:
                raise InputError(f"{file}: vocabulary.{name} holds {entry!r} {count} times; expected once")
    return config, vocabulary


def _read_shapes(file: Path) -> Shapes:
    """Return the shapes of the weights as they are once unpacked, from the file's header alone."""
    shapes: Shapes = {}
    try:
        with safe_open(file, framework="pt") as weights:
            names = set(weights.keys())
            for name in names:
                part = weights.get_slice(name)
                shape = tuple(part.get_shape())
                if name.endswith(SCALE) and name.removesuffix(SCALE) in names:
                    continue
                if part.get_dtype() not in FLOATS and name + SCALE not in names:
                    raise InputError(f"{file}: {name} holds {part.get_dtype()}; expected floating-point numbers")
                scale = weights.get_slice(name + SCALE) if name + SCALE in names else None
                if scale is not None and scale.get_dtype() not in FLOATS:
                    raise InputError(
                        f"{file}: {name}{SCALE} holds {scale.get_dtype()}; expected floating-point numbers"
                    )
                scales = tuple(scale.get_shape()) if scale is not None else None
                whole = shape_once_unpacked(part.get_dtype(), shape, scales)
                if whole is None:
                    raise InputError(
                        f"{file}: {name}{SCALE} does not fit {name}, whose shape is {shape} ({part.get_dtype()})"
                    )
                shapes[name] = whole
    except (OSError, SafetensorError) as error:
        raise InputError(f"{file}: the weights cannot be read: {_first_line(error)}") from None
    return shapes


def _check_counts(folder: Path, config: Config, encoder: Path | None, *, tensors: int) -> None:
    """Refuse numbers of layers that the weights cannot have: to build so many would take for ever."""
    counts: dict[str, Any] = {f"{folder / ABOUT}: encoder.layers.count": config.encoder.layers.count}
    if encoder is not None and (encoder / "config.json").is_file():
        try:
            table = json.loads((encoder / "config.json").read_text(encoding="utf-8"))
        except (OSError, ValueError, RecursionError) as error:
            raise InputError(f"{encoder / 'config.json'}: cannot be read: {_first_line(error)}") from None
        if not isinstance(table, dict):
            raise InputError(f"{encoder / 'config.json'}: not a table of options")
        counts |= {f"{encoder / 'config.json'}: {name}": table[name] for name in LAYERS if name in table}
    for name, count in counts.items():
        if type(count) is not int or not 0 <= count <= tensors:
            raise InputError(f"{name} is {str(count)[:40]}; the weights are {tensors} tensors, so it is from 0 to that")


def _unfilled(folder: Path, config: Config, vocabulary: Vocabulary, encoder: Path | None, found: Shapes) -> Network:
    """Return the network that options and vocabulary ask for; its weights take no memory yet."""
    vectors = found.get(VECTORS)
    if vectors is not None and len(vectors) != 2:
        raise InputError(f"{folder / WEIGHTS}: {VECTORS} has {len(vectors)} axes; expected 2")
    if config.encoder.vectors and config.encoder.words and config.encoder.kind == "attentive" and vectors is None:
        raise InputError(f"{folder / WEIGHTS}: {VECTORS} is missing; encoder.vectors asks for it")
    try:
        return unfilled_network(config, vocabulary, folder=encoder, vector_size=vectors[1] if vectors else 0)
    except InputError:
        raise
    except Exception as error:  # sizes that contradict each other: torch raises whatever comes
        raise InputError(f"{folder / ABOUT}: no network can be made of these options: {_first_line(error)}") from None


def _compare(file: Path, found: Shapes, implied: Shapes) -> None:
    for name, shape in implied.items():
        if name not in found:
            raise InputError(f"{file}: {name} is missing; expected weights of shape {shape}")
        if found[name] != shape:
            raise InputError(f"{file}: {name} has shape {found[name]}; the model's options ask for {shape}")
    for name in found:
        if name not in implied:
            raise InputError(f"{file}: {name} is not known; the model's options ask for no such weights")


def _check_sum(folder: Path, about: dict[str, Any]) -> None:
    """Raise unless the weights are those that were saved; models that were saved without a checksum have none."""
    expected = about.get(SHA256)
    if expected is not None and checksum(folder / WEIGHTS) != expected:
        raise InputError(f"{folder / WEIGHTS}: not the weights that were saved: the checksum differs from {ABOUT}'s")


def _first_line(error: BaseException) -> str:
    lines = str(error).strip().splitlines()
    return lines[0] if lines else type(error).__name__
