"""Required spans get a label that is shown.

A decoder is content with any label of a required span, and the best may be that of a helper span, which is taken out of
the phrases: the user would look for the span in vain.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import torch
from torch import Tensor

from h3n.decode import Constraints, Scores
from h3n.model.model import Scored
from h3n.model.network import Network
from h3n.model.spans import Spans


@torch.inference_mode()
def show_required(
    network: Network, scored: Scored, constraints: Sequence[Constraints | None], *, helper: int | None
) -> Scored:
    """Return the scores with the best other label wherever that of a required span is the helper label."""
    hidden = [
        (b, start, end)
        for b, (scores, wanted) in enumerate(zip(scored.scores, constraints, strict=True))
        for start, end, *label in (wanted.require_spans if wanted is not None else ())
        if not label and _has_label(scores, start, end, helper)
    ]
    if not hidden or helper is None:
        return scored
    best, label_ids = _shown_labels(network, scored, hidden, helper).max(dim=1)
    changed = list(scored.scores)
    for (b, start, end), score, label in zip(hidden, best.tolist(), label_ids.tolist(), strict=True):
        changed[b] = _with_label(changed[b], start, end, score, label + 1)  # label 0 is the empty one
    return replace(scored, scores=tuple(changed))


def _has_label(scores: Scores, start: int, end: int, label: int | None) -> bool:
    # A span that the sentence does not have is refused when it is decoded.
    if scores.label is None or not 0 <= start < end <= len(scores):
        return False
    return bool(scores.label[start, end] == label)


def _shown_labels(network: Network, scored: Scored, rows: Sequence[tuple[int, int, int]], helper: int) -> Tensor:
    sentence, start, end = torch.tensor(rows, dtype=torch.int64, device=network.device).unbind(dim=1)
    spans = Spans(scored.output.spans.lengths, (0, len(rows)), sentence, start, end)
    labels: Tensor = network.span(scored.output.posts, spans).float()
    labels[:, helper - 1] = -torch.inf
    return labels


def _with_label(scores: Scores, start: int, end: int, score: float, label: int) -> Scores:
    if scores.full is None or scores.open is None or scores.label is None:
        return scores
    full, open_, labels = scores.full.copy(), scores.open.copy(), scores.label.copy()
    full[start, end], open_[start, end], labels[start, end] = score, np.maximum(score, 0.0), label
    return replace(scores, full=full, open=open_, label=labels)
