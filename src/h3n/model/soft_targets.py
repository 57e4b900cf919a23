"""Soft labels as the loss reads them: rows of whole numbers, the last of each its share in thousandths."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate

import numpy as np
import torch
from torch import Tensor

from h3n.model.pieces import Numbers
from h3n.model.vocabulary import Vocabulary
from h3n.trees import WHOLE, SoftLabels


@dataclass(frozen=True, slots=True, kw_only=True)
class SoftTargets:
    """What a teacher finds likely in one sentence; None where it says nothing. Numbers are those of `Targets`."""

    spans: Numbers | None = None  # (rows, 4): start, end, label, share
    governors: Numbers | None = None  # (rows, 3): word, governor, share
    relations: Numbers | None = None  # (rows, 3): word, relation, share
    tags: Numbers | None = None  # (rows, 3)
    upos: Numbers | None = None  # (rows, 3)


def read_soft_targets(labels: SoftLabels, vocabulary: Vocabulary) -> SoftTargets:
    """Return soft labels as numbers; choices that the vocabulary does not know are left out."""
    known = vocabulary.label_index
    spans = [(s.start, s.end, known[s.label], share) for s, share in labels.spans if s.label in known]
    governors = [
        (word, governor + 1, share) for word, row in enumerate(labels.governors) for governor, share in row
    ]  # the root is -1
    return SoftTargets(
        spans=_table(spans, 4),
        governors=_table(governors, 3),
        relations=_named(labels.relations, vocabulary.relation_index),
        tags=_named(labels.tags, vocabulary.tag_index),
        upos=_named(labels.upos, vocabulary.upos_index),
    )


def _named(words: Iterable[Iterable[tuple[str, int]]], index: Mapping[str, int]) -> Numbers | None:
    rows = [(word, index[name], share) for word, row in enumerate(words) for name, share in row if name in index]
    return _table(rows, 3)


def _table(rows: Sequence[tuple[int, ...]], width: int) -> Numbers | None:
    return np.array(rows, dtype=np.int64).reshape(-1, width) if rows else None


def soft_cross_entropy(scores: Tensor, tables: Sequence[Numbers | None], lengths: Sequence[int]) -> Tensor:
    """Return the sum over words of minus the expected log-probability of what the teacher finds likely.

    ``scores`` is (words, choices) of all sentences in a row; ``tables`` are of each sentence. What the network cannot
    say at all, such as a relation that never stood at the root, is passed over.
    """
    starts = [0, *accumulate(lengths)]
    rows = [np.add(table, [start, 0, 0]) for table, start in zip(tables, starts, strict=False) if table is not None]
    if not rows:
        return scores.new_zeros(())
    word, choice, share = torch.from_numpy(np.concatenate(rows)).to(scores.device).unbind(dim=1)
    taught, at = torch.unique_consecutive(word, return_inverse=True)
    chosen = scores[taught].float().log_softmax(dim=-1)[at, choice]
    return -(chosen.masked_fill(chosen.isneginf(), 0.0) * (share / WHOLE)).sum()
