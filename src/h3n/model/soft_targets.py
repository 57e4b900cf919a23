"""Soft labels as the loss reads them: rows of whole numbers, the last of each its share in thousandths."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from operator import itemgetter

import numpy as np
import torch
from torch import Tensor

from h3n.engine.pieces import Numbers
from h3n.engine.vocabulary import Vocabulary
from h3n.trees import WHOLE, SoftLabels, Span


@dataclass(frozen=True, slots=True, kw_only=True)
class SoftTargets:
    """What a teacher finds likely in one sentence; None where it says nothing. Numbers are those of `Targets`."""

    spans: Numbers | None = None  # (rows, 4): start, end, label, share
    governors: Numbers | None = None  # (rows, 3): word, governor, share
    relations: Numbers | None = None  # (rows, 3): word, relation, share
    tags: Numbers | None = None  # (rows, 3)
    upos: Numbers | None = None  # (rows, 3)


def read_soft_targets(labels: SoftLabels, vocabulary: Vocabulary, *, length: int) -> SoftTargets:
    """Return the soft labels of so many words as numbers; choices that the vocabulary does not know are left out."""
    governors = [
        (word, governor + 1, share) for word, row in enumerate(labels.governors) for governor, share in row
    ]  # the root is -1
    return SoftTargets(
        spans=_spans(labels.spans, vocabulary.label_index, length),
        governors=_table(governors, 3),
        relations=_named(labels.relations, vocabulary.relation_index),
        tags=_named(labels.tags, vocabulary.tag_index),
        upos=_named(labels.upos, vocabulary.upos_index),
    )


def _spans(spans: Sequence[tuple[Span, int]], index: Mapping[str, int], length: int) -> Numbers | None:
    """Return the rows of spans, or None where no label of the whole sentence is known.

    The whole sentence always has a label, so the shares of its labels have to be all: were a thousandth missing or too
    much, a student would gain without end by lowering or raising the scores of all of them.
    """
    rows = [[span.start, span.end, index[span.label], share] for span, share in spans if span.label in index]
    whole = [row for row in rows if (row[0], row[1]) == (0, length)]
    if not whole:
        return None
    total = sum(row[3] for row in whole)
    for row in whole:
        row[3] = row[3] * WHOLE // total
    max(whole, key=itemgetter(3))[3] += WHOLE - sum(row[3] for row in whole)
    return np.array(rows, dtype=np.int64)


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
