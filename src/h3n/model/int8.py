"""A trained network made fast for a processor: linear layers in 8 bits, attention without padding.

Every part is replaced by one that reads and gives the same, made from its weights, so that the rest of the network
need not know. See `h3n.model.native` for how numbers are rounded.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from h3n.model.bert import Bert, EncoderLayer, Hidden
from h3n.model.layers import Layer, Stack
from h3n.model.mpnet import Mpnet
from h3n.model.native import (
    Bilinear,
    Columns,
    Floats,
    Lengths,
    Linear,
    Part,
    SpanLayer,
    Transformer,
    array_of,
    is_fast,
    require_native,
)
from h3n.model.scorers import ArcScorer, Mlp, Posts, RelationScorer, SpanScorer
from h3n.model.spans import Spans

SMALLEST = 64  # inputs and outputs: smaller layers take no time worth saving


def use_int8(network: nn.Module) -> None:
    """Make a network fast, in place; it can neither be trained nor saved any more."""
    require_native()
    for name, child in list(network.named_children()):
        part = _in_8_bits(child)
        if part is not None:
            setattr(network, name, part.eval())
        else:
            use_int8(child)


def pays_off(network: nn.Module) -> bool:
    """Return whether 8 bits are known to be faster here and as accurate: BERTs on processors with wide products."""
    return is_fast() and any(isinstance(module, Bert) for module in network.modules())


def _in_8_bits(module: nn.Module) -> nn.Module | None:
    """Return the fast one of a module, or None if there is none."""
    if isinstance(module, Bert):
        return Int8Bert(module)
    if isinstance(module, Stack) and module.layers:
        return Int8Stack(module)
    if isinstance(module, SpanScorer):
        return Int8Spans(module)
    if isinstance(module, ArcScorer):
        return Int8Arcs(module)
    if isinstance(module, RelationScorer):
        return Int8Relations(module)
    if isinstance(module, Mlp):
        return Int8Linear(module.linear, activation="leaky")
    if type(module) is nn.Linear and min(module.weight.shape) >= SMALLEST:
        return Int8Linear(module)
    return None


class Int8Linear(nn.Module):
    """A linear layer for tensors of any shape."""

    def __init__(self, linear: nn.Linear, *, activation: str = "none") -> None:
        super().__init__()
        self.run = Linear([linear], activation=activation)

    def forward(self, x: Tensor) -> Tensor:
        rows = x.reshape(-1, x.shape[-1]).numpy()
        return torch.from_numpy(self.run(rows)).view(*x.shape[:-1], -1)


class Int8Bert(nn.Module):
    """BERT on the pieces of all sentences in a row."""

    def __init__(self, bert: Bert) -> None:
        super().__init__()
        self.config = bert.config
        self.embeddings = bert.embeddings
        added = array_of(bert.by_distance(bert.config.max_position_embeddings)) if isinstance(bert, Mpnet) else None
        self.layers = [_bert_layer(layer, added) for layer in bert.layers]

    def forward(self, input_ids: Tensor, attention_mask: Tensor, token_type_ids: Tensor | None = None) -> Hidden:
        mask = attention_mask.bool()
        embedded = self.embeddings(input_ids, token_type_ids)
        x, lengths = _packed(embedded, mask)
        for layer in self.layers:
            layer(x, lengths)
        return Hidden(_padded(x, mask))


def _bert_layer(layer: EncoderLayer, added: Floats | None) -> Transformer:
    parts = layer.parts()
    return Transformer([parts.linear], parts.norms, heads=parts.heads, activation="gelu", by_distance=added)


class Int8Stack(nn.Module):
    """Partitioned attention on the words of all sentences in a row."""

    def __init__(self, stack: Stack) -> None:
        super().__init__()
        self.size, self.content_size = stack.size, stack.content_size
        self.positions = stack.positions
        self.layers = [_stack_layer(layer) for layer in stack.layers if isinstance(layer, Layer)]

    def forward(self, content: Tensor, mask: Tensor) -> Tensor:
        places = torch.arange(content.shape[1]).clamp_(max=len(self.positions) - 1)
        position = self.positions[places].expand(len(content), -1, -1)
        x, lengths = _packed(torch.cat((content, position), dim=-1), mask)
        for layer in self.layers:
            layer(x, lengths)
        return _padded(x, mask)


def _stack_layer(layer: Layer) -> Transformer:
    seen = layer.attention
    roles = (seen.query, seen.key, seen.value)
    content = Part(_three(role.content for role in roles), seen.out.content, layer.inner.content, layer.outer.content)
    position = Part(
        _three(role.position for role in roles), seen.out.position, layer.inner.position, layer.outer.position
    )
    norms = (layer.attention_norm, layer.outer_norm)
    return Transformer([content, position], norms, heads=seen.heads, activation="relu")


def _three(layers: Iterable[nn.Linear]) -> tuple[nn.Linear, nn.Linear, nn.Linear]:
    query, key, value = layers
    return query, key, value


class Int8Spans(SpanScorer):
    """The scorer of spans."""

    def __init__(self, scorer: SpanScorer) -> None:
        nn.Module.__init__(self)
        self.bias = scorer.bias
        self.first = scorer.first
        self.start, self.end = scorer.start, scorer.end
        self.projected = Int8Linear(affine(scorer.weight)) if scorer.weight is not None else None
        self.spans = SpanLayer(scorer.bias, scorer.norm, scorer.second)
        use_int8(self)

    def project(self, start: Tensor) -> Tensor:
        if self.projected is None:
            raise ValueError("the scorer has no weights for pairs")
        rows: Tensor = self.projected(start)
        return rows

    def forward(self, posts: Posts, spans: Spans) -> Tensor:
        return torch.from_numpy(self.spans.score(*_arrays(posts), _columns(spans)))

    def best(self, posts: Posts, spans: Spans, *, helper: int | None) -> tuple[Tensor, Tensor]:
        scores, places = self.spans.best(
            *_arrays(posts),
            _columns(spans),
            lengths=np.array(spans.lengths, dtype=np.int64),
            helper=helper - 1 if helper is not None else None,
        )
        return torch.from_numpy(scores), torch.from_numpy(places) + 1


class Int8Arcs(ArcScorer):
    """The scorer of arcs."""

    def __init__(self, scorer: ArcScorer) -> None:
        nn.Module.__init__(self)
        self.governor, self.dependent = scorer.governor, scorer.dependent
        self.projected = Int8Linear(affine(scorer.weight))
        use_int8(self)

    def project(self, dependent: Tensor) -> Tensor:
        rows: Tensor = self.projected(dependent)
        return rows


def affine(weight: Tensor) -> nn.Linear:
    """Return the layer that multiplies with a matrix whose last row is a bias."""
    layer = nn.Linear(len(weight) - 1, weight.shape[1])
    layer.weight, layer.bias = nn.Parameter(weight[:-1].T), nn.Parameter(weight[-1])
    return layer


def _arrays(posts: Posts) -> tuple[Floats, Floats | None]:
    return posts.hidden.numpy(), posts.pairs.contiguous().numpy() if posts.pairs is not None else None


def _columns(spans: Spans) -> Columns:
    return spans.sentence.contiguous().numpy(), spans.start.contiguous().numpy(), spans.end.contiguous().numpy()


class Int8Relations(RelationScorer):
    """The scorer of relations."""

    def __init__(self, scorer: RelationScorer) -> None:
        nn.Module.__init__(self)
        self.register_buffer("barred", scorer.barred, persistent=False)
        self.governor, self.dependent = scorer.governor, scorer.dependent
        self.bilinear = Bilinear(scorer.weight)
        use_int8(self)

    def forward(self, governor: Tensor, dependent: Tensor, *, root: Tensor) -> Tensor:
        right = functional.pad(governor, (0, 1), value=1.0)
        scores = torch.from_numpy(self.bilinear(dependent.numpy(), right.numpy()))
        return scores.masked_fill(self.barred[torch.where(root, 0, 1)], -torch.inf)


def _packed(x: Tensor, mask: Tensor) -> tuple[Floats, Lengths]:
    """Return the rows where the mask is true, sentence after sentence, and how many each sentence has."""
    rows: Floats = x.contiguous().numpy()
    kept = mask.numpy()
    return rows[kept], kept.sum(axis=1, dtype=np.int64)


def _padded(rows: Floats, mask: Tensor) -> Tensor:
    padded = np.zeros((*mask.shape, rows.shape[1]), dtype=np.float32)
    padded[mask.numpy()] = rows
    return torch.from_numpy(padded)
