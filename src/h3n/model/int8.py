"""A trained network made fast for a processor: linear layers in 8 bits, attention without padding.

Every part is replaced by one that reads and gives the same, made from its weights, so that the rest of the network
need not know. See `h3n.model.native` for how numbers are rounded.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from h3n.model.bert import Bert, Hidden
from h3n.model.cells import Cells
from h3n.model.layers import Layer, PartitionedLinear, Stack
from h3n.model.native import Columns, Floats, Lengths, Linear, Norm, Spans, attend, require_native
from h3n.model.scorers import Mlp, Posts, RelationScorer, SpanScorer

SMALLEST = 64  # inputs and outputs: smaller layers take no time worth saving


def use_int8(network: nn.Module) -> None:
    """Make a network fast, in place; it can neither be trained nor saved any more."""
    require_native()
    for name, child in list(network.named_children()):
        made = _made(child)
        if made is not None:
            setattr(network, name, made)
        else:
            use_int8(child)


def _made(module: nn.Module) -> nn.Module | None:
    """Return the fast one of a module, or None if there is none."""
    if isinstance(module, Bert):
        return Int8Bert(module)
    if isinstance(module, Stack) and module.layers:
        return Int8Stack(module)
    if isinstance(module, SpanScorer):
        return Int8Spans(module)
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
        self.layers = [_BertLayer(layer) for layer in bert.layers]

    def forward(self, input_ids: Tensor, attention_mask: Tensor, token_type_ids: Tensor | None = None) -> Hidden:
        mask = attention_mask.bool()
        embedded = self.embeddings(input_ids, token_type_ids)
        x, lengths = _packed(embedded, mask)
        for layer in self.layers:
            x = layer(x, lengths)
        return Hidden(_padded(x, mask))


class _BertLayer:
    def __init__(self, layer: Any) -> None:  # a layer of `Bert`, whose parts have names but no types
        attention, output = layer.attention, layer.output
        self.heads = layer.heads
        self.roles = Linear([attention["self"][name] for name in ("query", "key", "value")])
        self.joined = Linear([attention["output"].dense])
        self.norm = Norm(attention["output"].LayerNorm)
        self.inner = Linear([layer.intermediate["dense"]], activation="gelu")
        self.outer = Linear([output.dense])
        self.outer_norm = Norm(output.LayerNorm)

    def __call__(self, x: Floats, lengths: Lengths) -> Floats:
        query, key, value = np.split(self.roles(x), 3, axis=1)
        seen = attend(query, key, value, lengths=lengths, heads=self.heads)
        x = self.norm(self.joined(seen), x)
        return self.outer_norm(self.outer(self.inner(x)), x)


class Int8Stack(nn.Module):
    """Partitioned attention on the words of all sentences in a row."""

    def __init__(self, stack: Stack) -> None:
        super().__init__()
        self.size, self.content_size = stack.size, stack.content_size
        self.positions = stack.positions
        self.layers = [_StackLayer(layer) for layer in stack.layers if isinstance(layer, Layer)]

    def forward(self, content: Tensor, mask: Tensor) -> Tensor:
        places = torch.arange(content.shape[1]).clamp_(max=len(self.positions) - 1)
        position = self.positions[places].expand(len(content), -1, -1)
        x, lengths = _packed(torch.cat((content, position), dim=-1), mask)
        for layer in self.layers:
            x = layer(x, lengths)
        return _padded(x, mask)


class _StackLayer:
    def __init__(self, layer: Layer) -> None:
        attention = layer.attention
        self.heads = attention.heads
        self.roles = [_Partitioned(part) for part in (attention.query, attention.key, attention.value)]
        self.joined = _Partitioned(attention.out)
        self.norm = Norm(layer.attention_norm)
        self.inner = _Partitioned(layer.inner, activation="relu")
        self.outer = _Partitioned(layer.outer)
        self.outer_norm = Norm(layer.outer_norm)

    def __call__(self, x: Floats, lengths: Lengths) -> Floats:
        query, key, value = (role(x) for role in self.roles)
        seen = attend(query, key, value, lengths=lengths, heads=self.heads, parts=2)
        x = self.norm(self.joined(seen), x)
        return self.outer_norm(self.outer(self.inner(x)), x)


class _Partitioned:
    """Content to content, position to position: the halves of a row."""

    def __init__(self, linear: PartitionedLinear, *, activation: str = "none") -> None:
        self.content = Linear([linear.content], activation=activation)
        self.position = Linear([linear.position], activation=activation)

    def __call__(self, x: Floats) -> Floats:
        half, made = x.shape[1] // 2, np.empty((len(x), 2 * self.content.outputs), dtype=np.float32)
        self.content(x[:, :half], out=made[:, : self.content.outputs])
        self.position(x[:, half:], out=made[:, self.content.outputs :])
        return made


class Int8Spans(nn.Module):
    """`SpanScorer`, whose methods it has."""

    def __init__(self, scorer: SpanScorer) -> None:
        super().__init__()
        self.scorer, self.bias = scorer, scorer.bias
        self.spans = Spans(scorer.bias, scorer.norm, scorer.second)
        use_int8(scorer)

    def posts(self, words: Tensor) -> Posts:
        return self.scorer.posts(words)

    def forward(self, posts: Posts, cells: Cells) -> Tensor:
        return torch.from_numpy(self.spans.score(*_arrays(posts), _columns(cells)))

    def best(self, posts: Posts, cells: Cells, *, helper: int | None) -> tuple[Tensor, Tensor]:
        scores, places = self.spans.best(
            *_arrays(posts),
            _columns(cells),
            lengths=np.array(cells.lengths, dtype=np.int64),
            helper=helper - 1 if helper is not None else None,
        )
        return torch.from_numpy(scores), torch.from_numpy(places) + 1


def _arrays(posts: Posts) -> tuple[Floats, Floats | None]:
    return posts.hidden.numpy(), posts.pairs.contiguous().numpy() if posts.pairs is not None else None


def _columns(cells: Cells) -> Columns:
    return cells.sentence.contiguous().numpy(), cells.start.contiguous().numpy(), cells.end.contiguous().numpy()


class Int8Relations(nn.Module):
    """`RelationScorer`, whose methods it has."""

    AT_ONCE = 64  # arcs: what is computed for them stays in a processor's cache

    def __init__(self, scorer: RelationScorer) -> None:
        super().__init__()
        self.barred = scorer.barred
        self.governor, self.dependent = (
            Int8Linear(role.linear, activation="leaky") for role in (scorer.governor, scorer.dependent)
        )
        weight = scorer.weight.detach().transpose(1, 2).flatten(0, 1)  # (relations x governor, dependent)
        self.shape = (len(scorer.weight), scorer.weight.shape[2])
        pull = nn.Linear(weight.shape[1] - 1, len(weight))
        pull.weight, pull.bias = nn.Parameter(weight[:, :-1]), nn.Parameter(weight[:, -1])
        self.pull = Linear([pull])

    def roles(self, words: Tensor) -> tuple[Tensor, Tensor]:
        return self.governor(words), self.dependent(words)

    def forward(self, governor: Tensor, dependent: Tensor, *, root: Tensor) -> Tensor:
        right = functional.pad(governor, (0, 1), value=1.0)
        scores = torch.empty(len(right), self.shape[0])
        for at in range(0, len(right), self.AT_ONCE):
            some = slice(at, at + self.AT_ONCE)
            pulled = torch.from_numpy(self.pull(dependent[some].numpy())).view(-1, *self.shape)
            scores[some] = (pulled @ right[some, :, None])[..., 0]
        return scores.masked_fill(self.barred[torch.where(root, 0, 1)], -torch.inf)


def _packed(x: Tensor, mask: Tensor) -> tuple[Floats, Lengths]:
    """Return the rows where the mask is true, sentence after sentence, and how many each sentence has."""
    rows: Floats = x.contiguous().numpy()
    kept = mask.numpy()
    return rows[kept], kept.sum(axis=1, dtype=np.int64)


def _padded(rows: Floats, mask: Tensor) -> Tensor:
    made = np.zeros((*mask.shape, rows.shape[1]), dtype=np.float32)
    made[mask.numpy()] = rows
    return torch.from_numpy(made)
