"""The sum over all labelled trees of a sentence: the normaliser of a conditional random field over spans.

A tree with many-branching nodes has many binary derivations. To count each tree once, an unlabelled stretch may only
be a left child: then the derivation is unique, and the best tree of `cky` is the likeliest tree of this distribution.
Charts are indexed by start (or end) and width, so that both sides of all splits are plain slices.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.nn import functional

from h3n.model.spans import Spans


def log_partition(weights: Tensor, spans: Spans) -> Tensor:
    """Return (B,): the log of the sum over all trees of exp(the sum of their spans' weights).

    ``weights`` is (S,): for each span the log of its labels' summed exponentials; no label at all weighs 0. The span of
    the whole sentence is always labelled. O(n^3) time, O(n^2) memory; gradients are the spans' marginal probabilities.
    """
    lengths = torch.tensor(spans.lengths, device=weights.device)
    total: Tensor = _LogPartition.apply(_by_width(weights, spans), lengths)  # type: ignore[no-untyped-call]
    return total


def span_marginals(weights: Tensor, spans: Spans) -> Tensor:
    """Return (S,): the probability of each span being labelled, in a tree drawn by its weight."""
    chart = _by_width(weights, spans)
    lengths = torch.tensor(spans.lengths, device=weights.device)
    sentences = torch.arange(len(lengths), device=weights.device)
    marginals = _marginals(chart, *_inside(chart), (sentences, torch.zeros_like(lengths), lengths))
    return marginals[spans.sentence, spans.start, spans.end - spans.start]


def _by_width(weights: Tensor, spans: Spans) -> Tensor:
    """Return the weights as charts by start and width, 0 where there is no span."""
    n = max(spans.lengths)
    chart = weights.new_zeros(len(spans.lengths), n + 1, n + 1).float()
    return chart.index_put((spans.sentence, spans.start, spans.end - spans.start), weights.float())


class _LogPartition(torch.autograd.Function):
    """Inside and outside pass at once: the outside pass is the gradient, and needs no memory for steps in between."""

    @staticmethod
    def forward(ctx: Any, chart: Tensor, lengths: Tensor) -> Tensor:
        inner, left, right = _inside(chart)
        sentences = torch.arange(len(lengths), device=chart.device)
        whole = (sentences, torch.zeros_like(lengths), lengths)
        if ctx.needs_input_grad[0]:
            ctx.save_for_backward(_marginals(chart, inner, left, right, whole))
        return inner[whole] + chart[whole]

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor, None]:
        (marginals,) = ctx.saved_tensors
        return grads[0][:, None, None] * marginals, None


def _inside(chart: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Return three charts: below a span, by start; a span as a left child, by start; as a right child, by end.

    Widths run upwards in the first two and downwards in the third, so that a split's two halves stand side by side.
    """
    n = chart.shape[1] - 1
    either = functional.softplus(chart)  # labelled or not
    inner, left, right = (torch.zeros_like(chart) for _ in range(3))
    for w in range(1, n + 1):
        starts = n - w + 1
        if w > 1:
            pairs = left[:, :starts, 1:w] + right[:, w:, starts:n]
            inner[:, :starts, w] = pairs.logsumexp(dim=-1)
        below = inner[:, :starts, w]
        left[:, :starts, w] = below + either[:, :starts, w]
        right[:, w:, n - w] = below + (either if w == 1 else chart)[:, :starts, w]
    return inner, left, right


def _marginals(chart: Tensor, inner: Tensor, left: Tensor, right: Tensor, whole: tuple[Tensor, ...]) -> Tensor:
    """Return the probability of each span being labelled, by start and width."""
    n = chart.shape[1] - 1
    share = torch.sigmoid(chart)  # of the labelled among labelled and unlabelled
    at_left, at_right, roots = (torch.zeros_like(chart) for _ in range(3))
    roots[whole] = 1.0
    labelled_at = torch.zeros_like(chart)
    for w in range(n, 0, -1):
        starts = n - w + 1
        as_left, as_right, root = at_left[:, :starts, w], at_right[:, w:, n - w], roots[:, :starts, w]
        labelled = share[:, :starts, w]
        labelled_at[:, :starts, w] = as_left * labelled + as_right * (labelled if w == 1 else 1.0) + root
        if w > 1:
            pairs = left[:, :starts, 1:w] + right[:, w:, starts:n] - inner[:, :starts, w, None]
            flow = pairs.exp_() * (as_left + as_right + root)[..., None]
            at_left[:, :starts, 1:w] += flow
            at_right[:, w:, starts:n] += flow
    return labelled_at
