"""The pretrained encoders that are known here: their options, checked, and what they call their weights."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from h3n.config.building import show
from h3n.errors import InputError
from h3n.files import read_json

CONFIG = "config.json"
LARGEST_CONFIG = 1 << 20  # bytes
MODEL = "encoder.model."  # how names of an encoder's weights begin
EMBEDDINGS = f"{MODEL}embeddings."
DISTANCES = f"{MODEL}encoder.relative_attention_bias.weight"
ACTIVATION = "gelu"
# The one way of several that is computed here; another one is left to transformers.
PLAIN = {
    "hidden_act": ACTIVATION,
    "position_embedding_type": "absolute",
    "is_decoder": False,
    "add_cross_attention": False,
}


class UnknownEncoder(InputError):
    """A pretrained encoder that the engine does not know."""

    def __init__(self, file: Path, found: str) -> None:
        known = ", ".join(ARCHITECTURES)
        super().__init__(
            f"{file}: {found} is not known to the engine; install h3n[train] (torch and transformers) to use it, or "
            f"take a model with one of the encoders {known}"
        )


@dataclass(frozen=True, slots=True)
class LayerNames:
    """What the parts of a layer are called; each has a weight and a bias."""

    query: str
    key: str
    value: str
    joined: str
    joined_norm: str
    inner: str
    outer: str
    outer_norm: str

    def at(self, layer: int) -> LayerNames:
        """Return the whole names of a layer's parts in the file."""
        return LayerNames(*(f"{MODEL}encoder.layer.{layer}.{getattr(self, part.name)}" for part in fields(self)))


BERT = LayerNames(
    query="attention.self.query",
    key="attention.self.key",
    value="attention.self.value",
    joined="attention.output.dense",
    joined_norm="attention.output.LayerNorm",
    inner="intermediate.dense",
    outer="output.dense",
    outer_norm="output.LayerNorm",
)
MPNET = LayerNames(
    query="attention.attn.q",
    key="attention.attn.k",
    value="attention.attn.v",
    joined="attention.attn.o",
    joined_norm="attention.LayerNorm",
    inner="intermediate.dense",
    outer="output.dense",
    outer_norm="output.LayerNorm",
)


@dataclass(frozen=True, slots=True)
class Kind:
    """What all encoders of one model type have in common."""

    names: LayerNames
    counts_from_padding: bool  # positions are counted from behind the padding piece's number
    distances: bool = False  # attention heeds how far apart two pieces are, and there are no types


ARCHITECTURES: dict[str, Kind] = {
    "bert": Kind(BERT, counts_from_padding=False),
    "roberta": Kind(BERT, counts_from_padding=True),
    "xlm-roberta": Kind(BERT, counts_from_padding=True),
    "camembert": Kind(BERT, counts_from_padding=True),
    "mpnet": Kind(MPNET, counts_from_padding=True, distances=True),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Architecture:
    """The options of a pretrained encoder."""

    kind: str
    vocab_size: int
    type_vocab_size: int  # 0 where pieces have no types
    hidden_size: int
    intermediate_size: int
    layers: int
    heads: int
    max_positions: int
    pad: int
    epsilon: float
    activation: str
    buckets: int  # of distances; 0 where they do not count
    dropout: float  # both for training alone
    attention_dropout: float

    @property
    def names(self) -> LayerNames:
        return ARCHITECTURES[self.kind].names

    @property
    def position_offset(self) -> int:
        """Return the row of the first piece in the table of positions."""
        return self.pad + 1 if ARCHITECTURES[self.kind].counts_from_padding else 0

    @property
    def longest(self) -> int:
        """Return how many pieces can be read at once, marks included."""
        return self.max_positions - self.position_offset

    def shapes(self) -> dict[str, tuple[int, ...]]:
        """Return the names of the weights in the file and their shapes."""
        size, inner = self.hidden_size, self.intermediate_size
        tables = {"word": self.vocab_size, "position": self.max_positions, "token_type": self.type_vocab_size}
        found: dict[str, tuple[int, ...]] = {
            f"{EMBEDDINGS}{name}_embeddings.weight": (rows, size) for name, rows in tables.items() if rows
        }
        found |= norm(f"{EMBEDDINGS}LayerNorm", size)
        for layer in range(self.layers):
            names = self.names.at(layer)
            for name in (names.query, names.key, names.value, names.joined):
                found |= linear(name, size, size)
            found |= norm(names.joined_norm, size) | norm(names.outer_norm, size)
            found |= linear(names.inner, size, inner) | linear(names.outer, inner, size)
        if self.buckets:
            found[DISTANCES] = (self.buckets, self.heads)
        return found


def linear(name: str, size_in: int, size_out: int) -> dict[str, tuple[int, ...]]:
    """Return the shapes of a linear step's weights."""
    return {f"{name}.weight": (size_out, size_in), f"{name}.bias": (size_out,)}


def norm(name: str, size: int) -> dict[str, tuple[int, ...]]:
    """Return the shapes of the weights of a layer normalisation."""
    return {f"{name}.weight": (size,), f"{name}.bias": (size,)}


def read_architecture(folder: Path) -> Architecture:
    """Return the options of the encoder in a folder; `UnknownEncoder` if it is none of `ARCHITECTURES`."""
    file = folder / CONFIG
    table = read_json(file, largest=LARGEST_CONFIG)
    if not isinstance(table, dict):
        raise InputError(f"{file}: {show(table)} is not a table of options")
    name = table.get("model_type")
    if not isinstance(name, str):
        raise InputError(f"{file}: model_type is {show(name)}; expected a name, such as {', '.join(ARCHITECTURES)}")
    if name not in ARCHITECTURES:
        raise UnknownEncoder(file, f"model_type {show(name)}")
    for option, usual in PLAIN.items():
        given = table.get(option, usual)
        if type(given) is not type(usual):
            raise InputError(f"{file}: {option} is {show(given)}; expected something like {usual!r}")
        if given != usual:
            raise UnknownEncoder(file, f"{option} {show(given)}")
    return _checked(file, name, table)


def _checked(file: Path, name: str, table: Mapping[str, Any]) -> Architecture:
    kind = ARCHITECTURES[name]

    def whole(option: str, low: int, high: int, *, usual: int | None = None) -> int:
        given = table.get(option)
        given = usual if given is None else given
        if type(given) is not int or not low <= given <= high:
            raise InputError(f"{file}: {option} is {show(given)}; accepted: whole numbers from {low} to {high}")
        return given

    def number(option: str, low: float, high: float, *, usual: float | None = None) -> float:
        given = table.get(option)
        given = usual if given is None else given
        if not isinstance(given, int | float) or isinstance(given, bool) or not low <= given <= high:
            raise InputError(f"{file}: {option} is {show(given)}; accepted: numbers from {low:g} to {high:g}")
        return float(given)

    found = Architecture(
        kind=name,
        vocab_size=whole("vocab_size", 1, 10_000_000),
        type_vocab_size=0 if kind.distances else whole("type_vocab_size", 1, 1000, usual=2),
        hidden_size=whole("hidden_size", 1, 16_384),
        intermediate_size=whole("intermediate_size", 1, 65_536),
        layers=whole("num_hidden_layers", 0, 1000),
        heads=whole("num_attention_heads", 1, 1024),
        max_positions=whole("max_position_embeddings", 8, 1_000_000),
        pad=whole("pad_token_id", 0, 10_000_000, usual=0),
        epsilon=number("layer_norm_eps", 1e-20, 1.0),
        activation=ACTIVATION,
        # A quarter of them are single distances; farther ones are classes up to 128, by their logarithm.
        buckets=whole("relative_attention_num_buckets", 4, 511) if kind.distances else 0,
        dropout=number("hidden_dropout_prob", 0.0, 1.0, usual=0.1),
        attention_dropout=number("attention_probs_dropout_prob", 0.0, 1.0, usual=0.1),
    )
    if found.hidden_size % found.heads:
        raise InputError(
            f"{file}: hidden_size {found.hidden_size} is not divisible by num_attention_heads {found.heads}"
        )
    if found.pad >= found.vocab_size:
        raise InputError(f"{file}: pad_token_id is {found.pad}; accepted: less than vocab_size, {found.vocab_size}")
    if found.longest < 4:
        raise InputError(f"{file}: max_position_embeddings {found.max_positions} leaves {found.longest} pieces to read")
    return found
