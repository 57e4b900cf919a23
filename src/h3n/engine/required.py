"""Required spans get a label that is shown.

A decoder is content with any label of a required span, and the best may be that of a helper span, which is taken out of
the phrases: the user would look for the span in vain.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from h3n.decode import Constraints, Scores
from h3n.engine.output import Output


def show_required(
    output: Output, scores: Sequence[Scores], constraints: Sequence[Constraints | None], *, helper: int | None
) -> tuple[Scores, ...]:
    """Return the scores with the best other label wherever that of a required span is the helper label."""
    hidden = [
        (b, start, end)
        for b, (one, wanted) in enumerate(zip(scores, constraints, strict=True))
        for start, end, *label in (wanted.require_spans if wanted is not None else ())
        if not label and _has_label(one, start, end, helper)
    ]
    if not hidden or helper is None:
        return tuple(scores)
    labels = output.label_scores(*(np.array(column, dtype=np.int64) for column in zip(*hidden, strict=True)))
    labels[:, helper - 1] = -np.inf
    changed = list(scores)
    for (b, start, end), row in zip(hidden, labels, strict=True):
        best = int(row.argmax())
        changed[b] = _with_label(changed[b], start, end, float(row[best]), best + 1)  # label 0 is the empty one
    return tuple(changed)


def _has_label(scores: Scores, start: int, end: int, label: int | None) -> bool:
    # A span that the sentence does not have is refused when it is decoded.
    if scores.label is None or not 0 <= start < end <= len(scores):
        return False
    return bool(scores.label[start, end] == label)


def _with_label(scores: Scores, start: int, end: int, score: float, label: int) -> Scores:
    if scores.full is None or scores.open is None or scores.label is None:
        return scores
    full, open_, labels = scores.full.copy(), scores.open.copy(), scores.label.copy()
    full[start, end], open_[start, end], labels[start, end] = score, np.maximum(score, 0.0), label
    return replace(scores, full=full, open=open_, label=labels)
