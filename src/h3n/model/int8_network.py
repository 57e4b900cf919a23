"""The scorers of a network on the words alone, without padding, in 8 bits.

Scorers that read the same vectors do so together: `Together` rounds each row once for all of them. What they give is
what the scorers give one by one, to the last bit.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from h3n.model.batch import Batch
from h3n.model.int8 import Int8Relations, Int8Spans, affine, use_int8
from h3n.model.native import Floats, Lengths, Together, require_native
from h3n.model.network import Network, Output
from h3n.model.scorers import Posts, WordScorer, bar_arcs, fenceposts
from h3n.model.spans import spans_of


@dataclass(frozen=True, slots=True)
class _Rows:
    """Where the rows of a batch lie: the words of all sentences, then their starts; and the fenceposts."""

    shape: tuple[int, int]  # sentences, and positions of each
    words: int
    places: Lengths  # (words + sentences,)
    posts: Lengths  # (words + sentences,)

    def room(self, width: int, *, less: int = 0) -> Floats:
        """Return room for a row at every position, zero where there is padding."""
        return np.zeros((self.shape[0] * (self.shape[1] - less), width), dtype=np.float32)

    def cube(self, rows: Floats) -> Tensor:
        return torch.from_numpy(rows).view(self.shape[0], -1, rows.shape[1])


def _rows_of(batch: Batch) -> _Rows:
    sentences, positions = batch.mask.shape
    lengths = np.array(batch.lengths)[:, None]
    columns = np.arange(positions)[None]
    words = np.flatnonzero((columns >= 1) & (columns <= lengths))
    starts = np.arange(sentences) * positions
    posts = np.flatnonzero(columns[:, :-1] <= lengths)
    return _Rows((sentences, positions), len(words), np.concatenate((words, starts)), posts)


class Int8Network(Network):
    """A trained network made fast; it can neither be trained nor saved."""

    def __init__(self, network: Network) -> None:
        require_native()
        nn.Module.__init__(self)
        arc, relation, span = network.arc, network.relation, network.span
        readers = [arc.governor, relation.governor, arc.dependent, relation.dependent]
        self.scorers = [scorer for scorer in (network.tag, network.order) if scorer is not None]
        self.together = Together(
            [*(reader.linear for reader in readers), *(scorer.first for scorer in self.scorers)],
            activations=["leaky"] * len(readers) + ["none"] * len(self.scorers),
        )
        self.looked_for = Together([affine(arc.weight)], activations=["none"])
        ends = [end.linear for end in (span.start, span.end) if end is not None]
        self.posts = Together([span.first, *ends], activations=["none", *("leaky" for _ in ends)])
        self.wanted = Together([affine(span.weight)], activations=["none"]) if span.weight is not None else None
        self.encoder, self.head, self.order, self.tag = network.encoder, network.head, network.order, network.tag
        self.words = network.words
        self.span, self.relation = Int8Spans(span), Int8Relations(relation)
        for part in (self.encoder, self.head):
            use_int8(part)

    def forward(self, batch: Batch) -> Output:
        words = self.encoder(batch).contiguous()  # (B, n + 2, d)
        rows = _rows_of(batch)
        arcs, governors, dependents, found = self._score_words(words, rows, batch)
        padded = [_padded(values, batch.mask[:, 2:]) for values in found]
        return Output(
            spans=spans_of(batch.lengths),
            mask=batch.mask,
            posts=self._posts(words, rows),
            arcs=arcs,
            governors=governors,
            dependents=dependents,
            make_levels=partial(self._levels, words),
            order=padded[2][..., 0] if self.order is not None else None,
            tags=padded[0],
            upos=padded[1],
            word_scores=self.words.read(batch, words[:, 1:-1], *padded[:2]) if self.words is not None else None,
        )

    @torch.inference_mode()
    def _levels(self, words: Tensor) -> Tensor:
        levels: Tensor = self.head(words[:, 1:-1])[0]
        return levels

    def _score_words(self, words: Tensor, rows: _Rows, batch: Batch) -> tuple[Tensor, Tensor, Tensor, list[Tensor]]:
        """Return arcs, the two roles for relations, and for the words in a row what each scorer of words says."""
        flat = words.flatten(0, 1).numpy()
        widths, count = self.together.outputs, rows.words
        roles = [rows.room(width) for width in widths[:4]]
        counts = [len(rows.places)] * 2 + [count] * (len(widths) - 2)
        governor, governors, dependent, dependents, *hidden = self.together(
            flat, rows.places, rows=counts, outs=[*roles, *(None for _ in self.scorers)]
        )
        (projected,) = self.looked_for(dependent, rows.places, rows=[count], outs=[rows.room(widths[2])])
        arcs = rows.cube(projected)[:, 1:-1] @ rows.cube(governor)[:, :-1].transpose(1, 2)
        found = [
            values
            for scorer, inside in zip(self.scorers, hidden, strict=True)
            for values in _classes(scorer, torch.from_numpy(inside))
        ]
        return bar_arcs(arcs, batch.mask), rows.cube(governors), rows.cube(dependents), found

    def _posts(self, words: Tensor, rows: _Rows) -> Posts:
        between = fenceposts(words).flatten(0, 1).numpy()
        hidden, *ends = (rows.room(width, less=1) for width in self.posts.outputs)
        pairs = None
        if self.wanted is not None:
            start, width = ends[0], ends[1].shape[1]
            end = rows.room(width + 1, less=1)
            end[:, -1] = 1.0
            ends = [start, end[:, :width]]
        counts = [len(rows.posts)] * (1 + len(ends))
        self.posts(between, rows.posts, rows=counts, outs=[hidden, *ends])
        if self.wanted is not None:
            (projected,) = self.wanted(start, rows.posts, rows=counts[:1], outs=[rows.room(width + 1, less=1)])
            pairs = rows.cube(projected) @ rows.cube(end).transpose(1, 2)
        return Posts(rows.cube(hidden), pairs, None)


def _classes(scorer: WordScorer, inside: Tensor) -> list[Tensor]:
    hidden = functional.relu(scorer.norm(inside))
    return [task(hidden) for task in scorer.classes]


def _padded(rows: Tensor, words: Tensor) -> Tensor:
    padded = rows.new_zeros(*words.shape, rows.shape[1])
    padded[words] = rows
    return padded
