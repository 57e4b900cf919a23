"""MPNet without the library it comes from: a BERT whose attention also heeds how far apart two pieces are."""

from __future__ import annotations

import math
from typing import cast

import torch
from torch import Tensor, nn

from h3n.model.bert import Bert, BertConfig, EncoderLayer, Hidden, LayerParts, count_from

FAR = 128  # pieces that are further apart than this are all alike


class Mpnet(Bert):
    """The encoder: embeddings, a stack of layers, and what distances count in all of them."""

    def __init__(self, config: BertConfig) -> None:
        nn.Module.__init__(self)
        self.config = config
        self.embeddings = _Embeddings(config)
        self.encoder = nn.ModuleDict(
            {
                "layer": nn.ModuleList(_Layer(config) for _ in range(config.num_hidden_layers)),
                "relative_attention_bias": nn.Embedding(config.buckets, config.num_attention_heads),
            }
        )

    def forward(self, input_ids: Tensor, attention_mask: Tensor, token_type_ids: Tensor | None = None) -> Hidden:
        del token_type_ids  # this architecture has none
        x = self.embeddings(input_ids)
        count = x.shape[1]
        places = torch.arange(count, device=x.device)
        added = self.by_distance(count)[:, places[:, None] - places + count]  # (heads, query, key)
        shut = (~attention_mask.bool())[:, None, None, :]
        added = added.expand(len(x), -1, -1, -1).masked_fill(shut, -torch.inf)
        for layer in self.layers:
            x = layer(x, added)
        return Hidden(x)

    def by_distance(self, reach: int) -> Tensor:
        """Return what is added to a score: (heads, 2 reach + 1), by how far the query stands behind the key.

        From -reach to reach. Near distances count one by one, farther ones in classes that grow.
        """
        table = cast(nn.Embedding, self.encoder["relative_attention_bias"]).weight
        distance = torch.arange(-reach, reach + 1, device=table.device)
        half = len(table) // 2
        near = half // 2
        apart = distance.abs()
        growth = torch.log(apart.clamp(min=1).float() / near) / math.log(FAR / near)
        far = (near + (growth * (half - near)).long()).clamp(max=half - 1)
        classes = torch.where(apart < near, apart, far) + half * (distance < 0)
        return table[classes].T


class _Embeddings(nn.Module):
    def __init__(self, config: BertConfig) -> None:
        super().__init__()
        size = config.hidden_size
        self.padding_idx = config.pad_token_id
        self.word_embeddings = nn.Embedding(config.vocab_size, size)
        self.position_embeddings = nn.Embedding(config.max_position_embeddings, size)
        self.LayerNorm = nn.LayerNorm(size, eps=config.layer_norm_eps)
        self.dropout = nn.Dropout(config.dropout)

    def forward(self, ids: Tensor, types: Tensor | None = None) -> Tensor:
        del types
        total = self.word_embeddings(ids) + self.position_embeddings(count_from(self.padding_idx, ids))
        states: Tensor = self.dropout(self.LayerNorm(total))
        return states


class _Layer(EncoderLayer):
    def __init__(self, config: BertConfig) -> None:
        super().__init__(config)
        size = config.hidden_size
        roles = nn.ModuleDict({name: nn.Linear(size, size) for name in "qkvo"})
        self.attention = nn.ModuleDict({"attn": roles, "LayerNorm": nn.LayerNorm(size, eps=config.layer_norm_eps)})

    def parts(self) -> LayerParts:
        return self.made_of(cast(nn.ModuleDict, self.attention["attn"]).values(), self.attention["LayerNorm"])
