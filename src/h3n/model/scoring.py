"""From the network's output to what decoders read, and from what they find to names."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

import numpy as np
import torch
from torch import Tensor

from h3n.decode import Scores
from h3n.engine.vocabulary import Vocabulary
from h3n.model.network import Network, Output
from h3n.trees import ROOT

T = TypeVar("T")


def scores_of(network: Network, output: Output, *, helper: int | None) -> list[Scores]:
    """Return the scores of each sentence; arcs as log-probabilities, spans as they are, the empty label at 0.

    Heads are ranked when a decoder asks for them; see `h3n.model.ranking`.
    """
    spans = output.spans
    full, label = network.span.best(output.posts, spans, helper=helper)
    full_chart = spans.square(full.float(), empty=0.0).cpu().numpy()
    open_chart = np.maximum(full_chart, 0.0)
    label_chart = spans.square(label.int(), empty=0).cpu().numpy()
    # Words in padding have no governor at all; any number will do for them.
    arcs = output.arcs.float().log_softmax(dim=-1).nan_to_num(nan=0.0).transpose(1, 2).contiguous().cpu().numpy()
    return [
        Scores(
            full=full_chart[b, : n + 1, : n + 1],
            open=open_chart[b, : n + 1, : n + 1],
            arc=arcs[b, 1 : n + 1, :n],
            root=np.ascontiguousarray(arcs[b, 0, :n]),
            label=label_chart[b, : n + 1, : n + 1],
        )
        for b, n in enumerate(spans.lengths)
    ]


def name_relations(
    network: Network, output: Output, governors: Sequence[Sequence[int]], *, vocabulary: Vocabulary
) -> list[tuple[str, ...] | None]:
    """Return the best relation of every word to its governor."""
    flat = [0 if governor == ROOT else governor + 1 for sentence in governors for governor in sentence]
    scores = network.relations(output, torch.tensor(flat, dtype=torch.int64, device=output.mask.device))
    return _names(scores.argmax(dim=-1).tolist(), vocabulary.relations, output.spans.lengths)


def name_tags(scores: Tensor, output: Output, *, names: Sequence[str]) -> list[tuple[str, ...] | None]:
    """Return the best tag of every word."""
    return _names(scores[output.words].argmax(dim=-1).tolist(), names, output.spans.lengths)


def level_classes(output: Output) -> list[tuple[int, ...]]:
    """Return the likeliest level of every word, counted from 1."""
    best = (output.levels[output.words].argmax(dim=-1) + 1).tolist()
    return _cut(best, output.spans.lengths)


def _names(ids: Sequence[int], names: Sequence[str], lengths: Sequence[int]) -> list[tuple[str, ...] | None]:
    return [*_cut(list(map(names.__getitem__, ids)), lengths)]


def _cut(row: Sequence[T], lengths: Sequence[int]) -> list[tuple[T, ...]]:
    """Return one row per sentence from the words of all sentences."""
    ends = np.cumsum(lengths).tolist()
    return [tuple(row[end - n : end]) for n, end in zip(lengths, ends, strict=True)]
