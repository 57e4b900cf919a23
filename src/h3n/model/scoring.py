"""From the network's output to what decoders read, and from what they find to names."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
import torch
from torch import Tensor

from h3n.decode import Scores, decode_batch
from h3n.errors import UsageError
from h3n.model.network import Network, Output
from h3n.model.vocabulary import Vocabulary
from h3n.trees import ROOT, depths_of


def scores_of(network: Network, output: Output, *, helper: int | None, head_score: str) -> list[Scores]:
    """Return the scores of each sentence; arcs as log-probabilities, spans as they are, the empty label at 0."""
    spans = output.spans
    full, label = network.span.best(output.posts, spans, helper=helper)
    full_chart = spans.square(full.float(), empty=0.0).cpu().numpy()
    open_chart = np.maximum(full_chart, 0.0)
    label_chart = spans.square(label.int(), empty=0).cpu().numpy()
    # Words in padding have no governor at all; any number will do for them.
    arcs = output.arcs.float().log_softmax(dim=-1).nan_to_num(nan=0.0).transpose(1, 2).contiguous().cpu().numpy()
    heads = HEAD_SCORES[head_score](output).float().cpu().numpy()
    return [
        Scores(
            full=full_chart[b, : n + 1, : n + 1],
            open=open_chart[b, : n + 1, : n + 1],
            arc=arcs[b, 1 : n + 1, :n],
            root=np.ascontiguousarray(arcs[b, 0, :n]),
            head=np.ascontiguousarray(heads[b, :n]),
            label=label_chart[b, : n + 1, : n + 1],
        )
        for b, n in enumerate(spans.lengths)
    ]


def soft_head_score(levels: Tensor) -> Tensor:
    """Return minus the expected level: words whose likeliest levels are equal still differ."""
    places = torch.arange(levels.shape[-1], dtype=levels.dtype, device=levels.device)
    return -(levels.softmax(dim=-1) @ places)


def paper_head_score(levels: Tensor) -> Tensor:
    """Return one over the likeliest level, counted from 1 (paper, section III-E)."""
    return 1.0 / (levels.argmax(dim=-1) + 1.0)


def order_head_score(output: Output) -> Tensor:
    """Return the score that was learned by order; see `h3n.model.loss.order_loss`."""
    if output.order is None:
        raise UsageError("head score 'order': the parser was trained without it; accepted: 'arg-max', 'soft', 'tree'")
    return output.order


HEAD_SCORES: dict[str, Callable[[Output], Tensor]] = {
    "soft": lambda output: soft_head_score(output.levels.float()),
    "arg-max": lambda output: paper_head_score(output.levels),
    "order": order_head_score,
    "tree": lambda output: soft_head_score(output.levels.float()),  # what breaks ties
    "tree-order": order_head_score,
}


def tree_head_scores(scores: Sequence[Scores], *, beyond: int = 0) -> tuple[Scores, ...]:
    """Return the scores with heads ranked by their depth in the best dependency tree, ties by the old head scores.

    In a span that agrees with that tree the shallowest word is its head for sure, where predicted levels only guess.
    The tree takes O(n^2), so that `h3n` stays at O(n^3). Sentences of up to ``beyond`` words stay as they are.
    """
    longer = [at for at, one in enumerate(scores) if len(one) > beyond]
    if not longer:
        return tuple(scores)
    made = list(scores)
    for at, parse in zip(longer, decode_batch([scores[at] for at in longer], decoder="mst"), strict=True):
        one = scores[at]
        if one.head is None:
            raise ValueError("the scores have no head scores to break ties with")
        finer = 1.0 / (2.0 + np.abs(one.head))  # between 0 and 1/2, in the order of the old scores
        finer = np.where(one.head < 0, finer, 0.5 + one.head / (2.0 + 2.0 * np.abs(one.head)))
        made[at] = replace(one, head=(finer - np.array(depths_of(parse.governors))).astype(np.float32))
    return tuple(made)


def name_relations(
    network: Network, output: Output, governors: Sequence[Sequence[int]], *, vocabulary: Vocabulary
) -> list[tuple[str, ...]]:
    """Return the best relation of every word to its governor."""
    flat = [0 if governor == ROOT else governor + 1 for sentence in governors for governor in sentence]
    scores = network.relations(output, torch.tensor(flat, dtype=torch.int64, device=output.mask.device))
    return _names(scores.argmax(dim=-1).tolist(), vocabulary.relations, output.spans.lengths)


def name_tags(scores: Tensor, output: Output, *, names: Sequence[str]) -> list[tuple[str, ...]]:
    """Return the best tag of every word."""
    return _names(scores[output.words].argmax(dim=-1).tolist(), names, output.spans.lengths)


def level_classes(output: Output) -> list[tuple[int, ...]]:
    """Return the likeliest level of every word, counted from 1."""
    best = (output.levels[output.words].argmax(dim=-1) + 1).tolist()
    return _cut(best, output.spans.lengths)


def _names(ids: Sequence[int], names: Sequence[str], lengths: Sequence[int]) -> list[tuple[str, ...]]:
    return [tuple(names[at] for at in row) for row in _cut(ids, lengths)]


def _cut(row: Sequence[int], lengths: Sequence[int]) -> list[tuple[int, ...]]:
    """Return one row per sentence from the words of all sentences."""
    ends = np.cumsum(lengths).tolist()
    return [tuple(row[end - n : end]) for n, end in zip(lengths, ends, strict=True)]
