"""Vectors to scores: spans, arcs, relations, levels, tags. Each scorer is one small module."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional
from torch.utils.checkpoint import checkpoint

from h3n.model.layers import SharedDropout
from h3n.model.spans import Spans

# Spans scored at once. A block is some 65 MB per layer at the paper's sizes, whatever the sentence's length.
BLOCK = 65_536


@dataclass(frozen=True, slots=True)
class Posts:
    """The fenceposts of a batch, ready for spans to be scored."""

    hidden: Tensor  # (B, n + 1, hidden), after the first layer
    pairs: Tensor | None  # (B, n + 1, n + 1): how well start and end fit, whatever the label
    kept: Tensor | None  # (B, hidden): the dropout of what comes out of the first layer, in training

    def select(self, sentences: Tensor, width: int) -> Posts:
        """Return those of some sentences, cut to the longest of them."""
        pairs = self.pairs[sentences, :width, :width] if self.pairs is not None else None
        kept = self.kept[sentences] if self.kept is not None else None
        return Posts(self.hidden[sentences, :width], pairs, kept)


class SpanScorer(nn.Module):
    """Scores of all non-empty labels for every span (paper, section III-B).

    A span's feature is the difference of its two fenceposts. The first layer is linear, so it is applied to the n + 1
    fenceposts and not to the n^2 spans. With ``pair`` a biaffine score of the two fenceposts is added to all labels:
    the paper's s_span beside its s_label, which a difference alone learns slowly.
    """

    def __init__(self, size: int, hidden: int, labels: int, *, dropout: float, pair: int = 0) -> None:
        super().__init__()
        self.first = nn.Linear(size, hidden, bias=False)
        self.dropout = SharedDropout(dropout)
        self.bias = nn.Parameter(torch.zeros(hidden))
        self.norm = nn.LayerNorm(hidden)
        self.second = nn.Linear(hidden, labels)
        self.start = Mlp(size, pair, dropout=dropout) if pair else None
        self.end = Mlp(size, pair, dropout=dropout) if pair else None
        self.weight = nn.Parameter(torch.zeros(pair + 1, pair + 1)) if pair else None

    def posts(self, words: Tensor) -> Posts:  # (B, n + 2, d)
        """Return the fenceposts between the words."""
        between = fenceposts(words)
        pairs = None
        if self.start is not None and self.end is not None:
            end = functional.pad(self.end(between), (0, 1), value=1.0)
            pairs = self.project(self.start(between)) @ end.transpose(1, 2)
        hidden = self.first(between)
        kept = self.dropout(torch.ones_like(hidden[:, :1]))[:, 0] if self.training else None
        return Posts(hidden, pairs, kept)

    def project(self, start: Tensor) -> Tensor:
        """Return what a fencepost as a start looks for in an end."""
        if self.weight is None:
            raise ValueError("the scorer has no weights for pairs")
        return start @ self.weight[:-1] + self.weight[-1]

    def forward(self, posts: Posts, spans: Spans) -> Tensor:  # (S, L)
        """Return the scores of all spans; beyond one block activations are computed anew on the way back."""
        if len(spans) <= BLOCK:
            return self._score(posts, spans, 0, len(spans))
        blocks = range(0, len(spans), BLOCK)
        if torch.is_grad_enabled():
            parts = [checkpoint(self._score, posts, spans, at, at + BLOCK, use_reentrant=False) for at in blocks]
        else:
            parts = [self._score(posts, spans, at, at + BLOCK) for at in blocks]
        return torch.cat(parts)

    def best(self, posts: Posts, spans: Spans, *, helper: int | None) -> tuple[Tensor, Tensor]:
        """Return each span's best score and its label's index (0 is the empty label, so never 0).

        ``helper`` is the index of the helper label, which is barred from one word and from the whole sentence.
        No more than one block of label scores exists at a time.
        """
        scores: list[Tensor] = []
        labels: list[Tensor] = []
        for at in range(0, len(spans), BLOCK):
            block = self._score(posts, spans, at, at + BLOCK)
            spans.bar_helper(block, helper, first=at)
            top = block.max(dim=-1)
            scores.append(top.values)
            labels.append(top.indices + 1)
        return torch.cat(scores), torch.cat(labels)

    def _score(self, posts: Posts, spans: Spans, first: int, last: int) -> Tensor:
        sentence, start, end = (column[first:last] for column in (spans.sentence, spans.start, spans.end))
        row = sentence * posts.hidden.shape[1]
        flat = posts.hidden.flatten(0, 1)
        feature = flat.index_select(0, row + end) - flat.index_select(0, row + start) + self.bias
        active = functional.relu(self.norm(feature))
        if posts.kept is not None:
            # Not before the norm: without dropout it would then let more through than it learned to expect, and the
            # parser would find too many spans.
            active = active * posts.kept.index_select(0, sentence)
        scores: Tensor = self.second(active)
        if posts.pairs is not None:
            scores = scores + posts.pairs.flatten().index_select(0, (row + start) * posts.pairs.shape[1] + end)[:, None]
        return scores


def fenceposts(words: Tensor) -> Tensor:  # (B, n + 2, d) -> (B, n + 1, d)
    """Return the vectors between the words: the forward half of the word before, the backward half of the one after.

    The feature of a span is the difference of two of them (paper, section III-B).
    Content and position (the two halves of a partitioned vector) are each cut in two, by even and odd places.
    """
    return torch.cat((words[:, :-1, 0::2], words[:, 1:, 1::2]), dim=-1)


class Mlp(nn.Module):
    """One layer that makes a word's vector fit a role."""

    def __init__(self, size: int, hidden: int, *, dropout: float) -> None:
        super().__init__()
        self.linear = nn.Linear(size, hidden)
        self.dropout = SharedDropout(dropout)

    def forward(self, x: Tensor) -> Tensor:
        features: Tensor = self.dropout(functional.leaky_relu(self.linear(x), negative_slope=0.1))
        return features


class ArcScorer(nn.Module):
    """Biaffine scores of every governor for every word (paper, section III-C)."""

    def __init__(self, size: int, hidden: int, *, dropout: float) -> None:
        super().__init__()
        self.governor = Mlp(size, hidden, dropout=dropout)
        self.dependent = Mlp(size, hidden, dropout=dropout)
        self.weight = nn.Parameter(torch.zeros(hidden + 1, hidden))

    def forward(self, words: Tensor, mask: Tensor) -> Tensor:  # (B, n + 2, d), (B, n + 2) -> (B, n, n + 1)
        """Return scores[b, m, h]: of word m hanging on h, where 0 is the root and h + 1 a word; self-loops barred."""
        governor = self.governor(words[:, :-1])
        dependent = self.dependent(words[:, 1:-1])
        return bar_arcs(self.project(dependent) @ governor.transpose(1, 2), mask)

    def project(self, dependent: Tensor) -> Tensor:
        """Return what a word as a dependent looks for in a governor."""
        return dependent @ self.weight[:-1] + self.weight[-1]  # (B, n, hidden)


def bar_arcs(scores: Tensor, mask: Tensor) -> Tensor:
    """Return the scores (B, n, n + 1) with arcs from a word to itself and from padding forbidden."""
    loops = torch.eye(scores.shape[1], dtype=torch.bool, device=scores.device)
    barred = functional.pad(loops, (1, 0))[None] | ~_governors(mask)[:, None, :]
    return scores.masked_fill(barred, -torch.inf)


def _governors(mask: Tensor) -> Tensor:
    """Return (B, n + 1), true at the root and at real words: the mask without every sentence's stop position."""
    return mask[:, 1:] & mask[:, :-1]


class RelationScorer(nn.Module):
    """Biaffine scores of every relation for given arcs (paper, section III-C)."""

    barred: Tensor

    def __init__(
        self, size: int, hidden: int, *, at_root: tuple[bool, ...], elsewhere: tuple[bool, ...], dropout: float
    ) -> None:
        super().__init__()
        self.governor = Mlp(size, hidden, dropout=dropout)
        self.dependent = Mlp(size, hidden, dropout=dropout)
        self.weight = nn.Parameter(torch.zeros(len(at_root), hidden + 1, hidden + 1))
        # Relation `root` if and only if the governor is the root: a row for the root, a row for every other governor.
        allowed = torch.tensor([at_root, elsewhere], dtype=torch.bool, device="cpu").view(2, len(at_root))
        allowed |= ~allowed.any(dim=1, keepdim=True)
        self.register_buffer("barred", ~allowed, persistent=False)

    def roles(self, words: Tensor) -> tuple[Tensor, Tensor]:
        """Return every word's vector as a governor and as a dependent, each (B, n + 2, hidden)."""
        return self.governor(words), self.dependent(words)

    def forward(self, governor: Tensor, dependent: Tensor, *, root: Tensor) -> Tensor:
        """Return (arcs, relations) for pairs of role vectors (arcs, hidden); ``root``: is the governor the root?"""
        one = governor.new_ones(len(governor), 1)
        left = torch.cat((dependent, one), dim=-1)
        right = torch.cat((governor, one), dim=-1)
        # (arcs, R, hidden + 1): one large product, then one sum per arc.
        projected = (left @ self.weight.transpose(0, 1).flatten(1)).view(len(left), *self.weight.shape[::2])
        scores = torch.einsum("ard,ad->ar", projected, right)
        return scores.masked_fill(self.barred[torch.where(root, 0, 1)], -torch.inf)


class WordScorer(nn.Module):
    """A feed-forward step and one classifier per task: levels (paper, section III-E), tags, or one number for order."""

    def __init__(self, size: int, hidden: int, classes: tuple[int, ...], *, dropout: float) -> None:
        super().__init__()
        self.first = nn.Linear(size, hidden)
        self.norm = nn.LayerNorm(hidden)
        self.dropout = SharedDropout(dropout)
        self.classes = nn.ModuleList(nn.Linear(hidden, max(count, 1)) for count in classes)

    def forward(self, words: Tensor) -> tuple[Tensor, ...]:  # (B, n, d) -> one (B, n, classes) per task
        hidden = self.dropout(functional.relu(self.norm(self.first(words))))
        return tuple(task(hidden) for task in self.classes)
