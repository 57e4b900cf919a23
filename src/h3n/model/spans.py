"""The spans (start < end) of a batch in a row: sentence after sentence, by start, then by end.

Half a square, and no padding. `Spans` says where each one lies.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from h3n.decode import bars_helper


@dataclass(frozen=True, slots=True)
class Spans:
    """Where the spans of a batch lie. ``offsets[b]`` is the first span of sentence b; the last entry is their count."""

    lengths: tuple[int, ...]
    offsets: tuple[int, ...]
    sentence: Tensor  # (S,)
    start: Tensor  # (S,) fencepost
    end: Tensor  # (S,) fencepost

    def __len__(self) -> int:
        return self.offsets[-1]

    def index(self, sentence: NDArray[np.int64], start: NDArray[np.int64], end: NDArray[np.int64]) -> Tensor:
        """Return the place of each span in the row."""
        n = np.array(self.lengths, dtype=np.int64)[sentence]
        before = start * n - start * (start - 1) // 2  # spans of all smaller starts
        return torch.from_numpy(np.array(self.offsets, dtype=np.int64)[sentence] + before + end - start - 1)

    def bar_helper(self, scores: Tensor, helper: int | None, *, first: int = 0) -> None:
        """Forbid the helper label where it may not stand, in place.

        ``scores`` are those of the spans from ``first`` on, with a column for each label but the empty one, label 0;
        ``helper`` is an index among all labels.
        """
        if helper is None:
            return
        part = slice(first, first + len(scores))
        words = torch.tensor(self.lengths, device=scores.device)[self.sentence[part]]
        scores[bars_helper(self.start[part], self.end[part], words), helper - 1] = -torch.inf

    def square(self, values: Tensor, *, empty: float) -> Tensor:
        """Return the values as (B, n + 1, n + 1) charts, ``empty`` where there is no span."""
        width = max(self.lengths) + 1
        chart = values.new_full((len(self.lengths), width, width), empty)
        chart[self.sentence, self.start, self.end] = values
        return chart


def _triangle(n: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    # Long sentences are rare and their triangles large: not worth keeping.
    return _kept_triangle(n) if n <= 128 else _kept_triangle.__wrapped__(n)


@lru_cache(maxsize=128)
def _kept_triangle(n: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    start, end = np.triu_indices(n + 1, k=1)
    return start.astype(np.int64), end.astype(np.int64)


def spans_of(lengths: tuple[int, ...], *, device: torch.device | None = None) -> Spans:
    """Return the spans of sentences of these lengths."""
    counts = [n * (n + 1) // 2 for n in lengths]
    sentence = np.repeat(np.arange(len(lengths)), counts)
    start = np.concatenate([_triangle(n)[0] for n in lengths])
    end = np.concatenate([_triangle(n)[1] for n in lengths])
    columns = [torch.from_numpy(column).to(device) for column in (sentence, start, end)]
    return Spans(lengths, (0, *np.cumsum(counts).tolist()), *columns)
