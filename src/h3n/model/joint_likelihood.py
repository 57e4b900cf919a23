"""The sum over all joint trees of a sentence: the normaliser of a conditional random field over spans, heads and arcs.

The native decoders find it by the recurrence of the search, over sums; its gradient is the marginal probabilities, from
the same call. Every tree counts once; see `h3n.decode.forest`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor

from h3n.decode import Scores, distributions
from h3n.model.spans import Spans


def joint_log_partition(weights: Tensor, arcs: Tensor, spans: Spans, *, order: Tensor | None = None) -> Tensor:
    """Return (B,): the log of the sum over all joint trees of exp(the sum of their spans' and arcs' weights).

    ``weights`` is (S,): for each span the log of its labels' summed exponentials; no label weighs 0. ``arcs`` is
    (B, n, n + 1): word and governor, with 0 for the root. With ``order`` (B, n) the trees are those of `h3n`, in which
    the head of a span is its highest word, in O(n^3); without, all of them as for `hpsg`, in O(n^4).
    """
    square = spans.square(weights, empty=0.0)
    total: Tensor = _JointLogPartition.apply(square, arcs, spans.lengths, order)  # type: ignore[no-untyped-call]
    return total


class _JointLogPartition(torch.autograd.Function):
    """One call gives the sums and the marginals; the backward pass only multiplies."""

    @staticmethod
    def forward(ctx: Any, square: Tensor, arcs: Tensor, lengths: tuple[int, ...], order: Tensor | None) -> Tensor:
        full = square.detach().float().cpu().numpy()
        # Governors first, as decoders read them; padding has no numbers to speak of.
        arc = arcs.detach().float().nan_to_num(nan=0.0, neginf=float("-inf")).transpose(1, 2).contiguous().cpu().numpy()
        head = None if order is None else order.detach().float().cpu().numpy()
        sentences = [
            Scores(
                full=full[b, : n + 1, : n + 1],
                open=np.maximum(full[b, : n + 1, : n + 1], np.float32(0.0)),
                arc=arc[b, 1 : n + 1, :n],
                root=np.ascontiguousarray(arc[b, 0, :n]),
                head=None if head is None else np.ascontiguousarray(head[b, :n]),
            )
            for b, n in enumerate(lengths)
        ]
        found = distributions(sentences, "hpsg" if order is None else "h3n")
        of_spans, of_arcs = np.zeros_like(full), np.zeros_like(arc)
        for b, (n, one) in enumerate(zip(lengths, found, strict=True)):
            of_spans[b, : n + 1, : n + 1], of_arcs[b, 1 : n + 1, :n], of_arcs[b, 0, :n] = one.spans, one.arcs, one.roots
        ctx.save_for_backward(torch.from_numpy(of_spans).to(square), torch.from_numpy(of_arcs).transpose(1, 2).to(arcs))
        return square.new_tensor([one.log_partition for one in found])

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor, Tensor, None, None]:
        of_spans, of_arcs = ctx.saved_tensors
        return grads[0][:, None, None] * of_spans, grads[0][:, None, None] * of_arcs, None, None
