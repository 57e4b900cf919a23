"""BERT and RoBERTa without the library they come from, whose import takes longer than parsing a page.

For saved parsers: weights have the names that transformers gives them, and vectors are the same. Other architectures,
and weights that are still to be fetched, go through transformers.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import cast

import torch
from torch import Tensor, nn
from torch.nn import functional

from h3n.engine.architectures import CONFIG, Architecture
from h3n.engine.tokenizer_file import OPTIONS, TOKENIZER

FILES = (CONFIG, TOKENIZER, OPTIONS)


@dataclass(frozen=True, slots=True)
class Hidden:
    """What the model returns, under the name that transformers has for it."""

    last_hidden_state: Tensor  # (B, pieces, d)


class BertConfig:
    """The options of a saved encoder, under the names that transformers has for them."""

    def __init__(self, folder: Path, known: Architecture) -> None:
        self.folder = folder
        self.model_type = known.kind
        self.vocab_size = known.vocab_size
        self.type_vocab_size = known.type_vocab_size
        self.hidden_size = known.hidden_size
        self.intermediate_size = known.intermediate_size
        self.num_hidden_layers = known.layers
        self.num_attention_heads = known.heads
        self.max_position_embeddings = known.max_positions
        self.pad_token_id = known.pad
        self.layer_norm_eps = known.epsilon
        self.dropout = known.dropout
        self.attention_dropout = known.attention_dropout
        self.buckets = known.buckets  # of distances, in MPNet
        self.counts_from_padding = bool(known.position_offset)

    def save_pretrained(self, folder: str | Path) -> None:
        """Write the options and the tokenizer as they were read."""
        _copy(self.folder, Path(folder), FILES)


def _copy(source: Path, target: Path, names: tuple[str, ...]) -> None:
    target.mkdir(parents=True, exist_ok=True)
    for name in names:
        if source.resolve() != target.resolve():
            shutil.copyfile(source / name, target / name)


@dataclass(frozen=True, slots=True)
class LayerParts:
    """What a layer is made of, whatever the architecture calls it."""

    roles: tuple[nn.Linear, nn.Linear, nn.Linear]  # query, key, value
    joined: nn.Linear
    inner: nn.Linear
    outer: nn.Linear
    norms: tuple[nn.LayerNorm, nn.LayerNorm]
    heads: int


def count_from(padding: int, ids: Tensor) -> Tensor:
    """Return the places of pieces counted from behind the padding piece's number; padding stays there."""
    inside = (ids != padding).long()
    return inside.cumsum(dim=1) * inside + padding


class Bert(nn.Module):
    """The encoder: embeddings and a stack of layers."""

    def __init__(self, config: BertConfig) -> None:
        super().__init__()
        self.config = config
        self.embeddings: nn.Module = _Embeddings(config)
        self.encoder = nn.ModuleDict({"layer": nn.ModuleList(_Layer(config) for _ in range(config.num_hidden_layers))})

    def forward(self, input_ids: Tensor, attention_mask: Tensor, token_type_ids: Tensor | None = None) -> Hidden:
        mask = attention_mask.bool()
        x = self.embeddings(input_ids, token_type_ids)
        allowed = None if bool(mask.all()) else mask[:, None, None, :]  # (B, 1, 1, pieces)
        for layer in self.layers:
            x = layer(x, allowed)
        return Hidden(x)

    @property
    def layers(self) -> list[EncoderLayer]:
        """Return the layers from the first to the last."""
        return [cast(EncoderLayer, layer) for layer in cast(nn.ModuleList, self.encoder["layer"])]


class _Embeddings(nn.Module):
    def __init__(self, config: BertConfig) -> None:
        super().__init__()
        size = config.hidden_size
        self.padding_idx = config.pad_token_id if config.counts_from_padding else None
        self.word_embeddings = nn.Embedding(config.vocab_size, size)
        self.position_embeddings = nn.Embedding(config.max_position_embeddings, size)
        self.token_type_embeddings = nn.Embedding(config.type_vocab_size, size)
        self.LayerNorm = nn.LayerNorm(size, eps=config.layer_norm_eps)
        self.dropout = nn.Dropout(config.dropout)

    def forward(self, ids: Tensor, types: Tensor | None) -> Tensor:
        places = torch.arange(ids.shape[1], device=ids.device)[None]
        if self.padding_idx is not None:
            places = count_from(self.padding_idx, ids)
        kinds = types if types is not None else torch.zeros_like(ids)
        total = self.word_embeddings(ids) + self.token_type_embeddings(kinds) + self.position_embeddings(places)
        states: Tensor = self.dropout(self.LayerNorm(total))
        return states


class EncoderLayer(nn.Module):
    """A layer of any architecture here; each has the parts under names of its own."""

    def __init__(self, config: BertConfig) -> None:
        super().__init__()
        self.heads = config.num_attention_heads
        self.rate = config.attention_dropout
        self.dropout = nn.Dropout(config.dropout)
        self.intermediate = nn.ModuleDict({"dense": nn.Linear(config.hidden_size, config.intermediate_size)})
        self.output = dense_and_norm(config.intermediate_size, config)

    def forward(self, x: Tensor, added: Tensor | None) -> Tensor:  # (B, pieces, d)
        """Return what follows; ``added`` to the scores of attention, or where it is false a piece is not seen."""
        parts = self.parts()
        norm, outer_norm = parts.norms
        query, key, value = (role(x).unflatten(-1, (parts.heads, -1)).transpose(1, 2) for role in parts.roles)
        rate = self.rate if self.training else 0.0
        seen = functional.scaled_dot_product_attention(query, key, value, attn_mask=added, dropout_p=rate)
        x = norm(self.dropout(parts.joined(seen.transpose(1, 2).flatten(2))) + x)
        states: Tensor = outer_norm(self.dropout(parts.outer(functional.gelu(parts.inner(x)))) + x)
        return states

    def parts(self) -> LayerParts:
        """Return what the layer is made of."""
        raise NotImplementedError

    def made_of(self, attention: Iterable[nn.Module], norm: nn.Module) -> LayerParts:
        """Return the parts: of attention query, key, value and what joins the heads, and the rest."""
        query, key, value, joined = (cast(nn.Linear, part) for part in attention)
        inner, outer = cast(nn.Linear, self.intermediate["dense"]), cast(nn.Linear, self.output["dense"])
        norms = (cast(nn.LayerNorm, norm), cast(nn.LayerNorm, self.output["LayerNorm"]))
        return LayerParts((query, key, value), joined, inner, outer, norms, self.heads)


def dense_and_norm(size: int, config: BertConfig) -> nn.ModuleDict:
    """Return a linear step to a piece's vector and the norm after it."""
    norm = nn.LayerNorm(config.hidden_size, eps=config.layer_norm_eps)
    return nn.ModuleDict({"dense": nn.Linear(size, config.hidden_size), "LayerNorm": norm})


class _Layer(EncoderLayer):
    def __init__(self, config: BertConfig) -> None:
        super().__init__(config)
        size = config.hidden_size
        roles = nn.ModuleDict({name: nn.Linear(size, size) for name in ("query", "key", "value")})
        self.attention = nn.ModuleDict({"self": roles, "output": dense_and_norm(size, config)})

    def parts(self) -> LayerParts:
        roles, output = (cast(nn.ModuleDict, self.attention[name]) for name in ("self", "output"))
        return self.made_of((*roles.values(), output["dense"]), output["LayerNorm"])
