"""The spans (start < end) of a sentence in a row, by start, then by end: half a square."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from h3n.decode import bars_helper

Floats = NDArray[np.float32]
Numbers = NDArray[np.int64]


def spans_of(n: int) -> tuple[Numbers, Numbers]:
    """Return starts and ends of all spans of n words."""
    # Long sentences are rare and their triangles large: not worth keeping.
    return _kept(n) if n <= 128 else _kept.__wrapped__(n)


@lru_cache(maxsize=128)
def _kept(n: int) -> tuple[Numbers, Numbers]:
    start, end = np.triu_indices(n + 1, k=1)
    return start.astype(np.int64), end.astype(np.int64)


def bar_helper(scores: Floats, start: Numbers, end: Numbers, words: int | Numbers, *, helper: int | None) -> None:
    """Forbid the helper label where it may not stand, in place.

    ``scores`` has a column for each label but the empty one, label 0; ``helper`` is an index among all labels.
    """
    if helper is not None:
        scores[bars_helper(start, end, words), helper - 1] = -np.inf


def charts(scores: Floats, start: Numbers, end: Numbers, n: int) -> tuple[Floats, NDArray[np.int32]]:
    """Return (n + 1, n + 1) charts of each span's best score and of its label, 0 where there is no span."""
    full = np.zeros((n + 1, n + 1), dtype=np.float32)
    label = np.zeros((n + 1, n + 1), dtype=np.int32)
    best = scores.argmax(axis=1)
    full[start, end] = scores[np.arange(len(scores)), best]
    label[start, end] = best + 1
    return full, label
