"""What a network finds likely, as soft labels: every governor, relation, tag and span with a share worth naming.

A tree says which choice is the best one, soft labels how close the others come. Shares of spans are those among all
trees, as the loss `crf` sums over them; those of arcs are divided by the model's temperature, as confidences are.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate, pairwise

import numpy as np
import torch

from h3n.decode import Scores
from h3n.engine.engine import governor_ids
from h3n.engine.output import Floats, Output
from h3n.engine.vocabulary import Vocabulary
from h3n.model.partition import span_marginals
from h3n.model.spans import spans_of
from h3n.trees import WHOLE, SoftLabels, Span

LEAST = 0.01  # a smaller share is not worth its place

Choices = list[tuple[tuple[int, int], ...]]


def soft_labels_of(
    output: Output,
    scores: Sequence[Scores],
    governors: Sequence[Sequence[int]],
    *,
    vocabulary: Vocabulary,
    temperature: float = 1.0,
) -> list[SoftLabels]:
    """Return the soft labels of each sentence; relations are those to the ``governors`` that were found."""
    ends = [0, *accumulate(output.lengths)]
    arcs = [word for one in scores for word in _governors(one, temperature)] if vocabulary.relations else []
    tags = _likely(_shares(output.tag_scores())) if vocabulary.tags else []
    upos = _likely(_shares(output.upos_scores())) if vocabulary.upos else []
    relations: Choices = []
    if vocabulary.relations and all(map(len, governors)):
        relations = _likely(_shares(output.relation_scores(governor_ids(governors))))
    spans = _spans(output, vocabulary)
    return [
        SoftLabels(
            governors=tuple(tuple((place - 1, share) for place, share in word) for word in arcs[start:end]),
            relations=_named(relations[start:end], vocabulary.relations),
            tags=_named(tags[start:end], vocabulary.tags),
            upos=_named(upos[start:end], vocabulary.upos),
            spans=found,
        )
        for (start, end), found in zip(pairwise(ends), spans, strict=True)
    ]


def _governors(scores: Scores, temperature: float) -> Choices:
    """Return the likely governors of every word of a sentence; 0 is the root."""
    if scores.arc is None or scores.root is None:
        return []
    table = np.concatenate([scores.root[None], scores.arc]).T.astype(np.float64) / temperature  # (n, 1 + n)
    return _likely(_shares(table.astype(np.float32)))


def _shares(scores: Floats) -> Floats:
    shares = np.exp(scores - scores.max(axis=1, keepdims=True))
    return np.asarray(shares / shares.sum(axis=1, keepdims=True), dtype=np.float32)


def _likely(shares: Floats) -> Choices:
    """Return for every row the columns whose share is worth naming, each with its thousandths."""
    rows, columns = (shares >= LEAST).nonzero()
    found: list[list[tuple[int, int]]] = [[] for _ in range(len(shares))]
    thousandths = np.rint(WHOLE * shares[rows, columns]).astype(int).tolist()
    for row, column, share in zip(rows.tolist(), columns.tolist(), thousandths, strict=True):
        found[row].append((column, share))
    return [tuple(word) for word in found]


def _named(words: Choices, names: Sequence[str]) -> tuple[tuple[tuple[str, int], ...], ...]:
    return tuple(tuple((names[choice], share) for choice, share in word) for word in words)


def _spans(output: Output, vocabulary: Vocabulary) -> list[tuple[tuple[Span, int], ...]]:
    """Return the likely spans of each sentence, in the order of their places."""
    found: list[list[tuple[Span, int]]] = [[] for _ in output.lengths]
    if len(vocabulary.labels) > 1:
        spans = spans_of(output.lengths)
        labels = output.label_scores(spans.sentence.numpy(), spans.start.numpy(), spans.end.numpy())
        scores = torch.from_numpy(labels)
        spans.bar_helper(scores, vocabulary.helper)
        shares = span_marginals(scores.logsumexp(dim=-1), spans)[:, None] * scores.softmax(dim=-1)
        rows, places = (shares >= LEAST).nonzero(as_tuple=True)
        # Rounded down: where spans exclude each other, a thousandth too much would be worth any score to a student.
        thousandths = (WHOLE * shares[rows, places]).int().clamp(max=WHOLE).tolist()
        columns = (spans.sentence[rows], spans.start[rows], spans.end[rows], places)
        for sentence, start, end, label, share in zip(*(c.tolist() for c in columns), thousandths, strict=True):
            found[sentence].append((Span(start, end, vocabulary.labels[label + 1]), share))
    return [tuple(sentence) for sentence in found]
