"""What a network finds likely, as soft labels: every governor, relation, tag and span with a share worth naming.

A tree says which choice is the best one, soft labels how close the others come. Shares of spans are those among all
trees, as the loss `crf` sums over them; those of arcs are divided by the model's temperature, as confidences are.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate, pairwise

import torch
from torch import Tensor

from h3n.engine.vocabulary import Vocabulary
from h3n.model.network import Network, Output
from h3n.model.partition import span_marginals
from h3n.trees import ROOT, WHOLE, SoftLabels, Span

LEAST = 0.01  # a smaller share is not worth its place

Choices = list[tuple[tuple[int, int], ...]]


@torch.inference_mode()
def soft_labels_of(
    network: Network,
    output: Output,
    governors: Sequence[Sequence[int]],
    *,
    vocabulary: Vocabulary,
    temperature: float = 1.0,
) -> list[SoftLabels]:
    """Return the soft labels of each sentence; relations are those to the ``governors`` that were found."""
    inside, lengths = output.words, output.spans.lengths
    ends = [0, *accumulate(lengths)]
    arcs = _likely((output.arcs[inside].float() / temperature).softmax(dim=-1)) if vocabulary.relations else []
    tags = _likely(output.tags[inside].float().softmax(dim=-1)) if vocabulary.tags else []
    upos = _likely(output.upos[inside].float().softmax(dim=-1)) if vocabulary.upos else []
    relations: Choices = []
    if vocabulary.relations and all(map(len, governors)):
        flat = [0 if governor == ROOT else governor + 1 for sentence in governors for governor in sentence]
        above = torch.tensor(flat, dtype=torch.int64, device=output.mask.device)
        relations = _likely(network.relations(output, above).float().softmax(dim=-1))
    spans = _spans(network, output, vocabulary)
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


def _likely(shares: Tensor) -> Choices:
    """Return for every row the columns whose share is worth naming, each with its thousandths."""
    rows, columns = (shares >= LEAST).nonzero(as_tuple=True)
    found: list[list[tuple[int, int]]] = [[] for _ in range(len(shares))]
    thousandths = (WHOLE * shares[rows, columns]).round().int().tolist()
    for row, column, share in zip(rows.tolist(), columns.tolist(), thousandths, strict=True):
        found[row].append((column, share))
    return [tuple(word) for word in found]


def _named(words: Choices, names: Sequence[str]) -> tuple[tuple[tuple[str, int], ...], ...]:
    return tuple(tuple((names[choice], share) for choice, share in word) for word in words)


def _spans(network: Network, output: Output, vocabulary: Vocabulary) -> list[tuple[tuple[Span, int], ...]]:
    """Return the likely spans of each sentence, in the order of their places."""
    found: list[list[tuple[Span, int]]] = [[] for _ in output.spans.lengths]
    if len(vocabulary.labels) > 1:
        spans = output.spans
        scores = network.span(output.posts, spans).float()
        spans.bar_helper(scores, vocabulary.helper)
        shares = span_marginals(scores.logsumexp(dim=-1), spans)[:, None] * scores.softmax(dim=-1)
        rows, labels = (shares >= LEAST).nonzero(as_tuple=True)
        # Rounded down: where spans exclude each other, a thousandth too much would be worth any score to a student.
        thousandths = (WHOLE * shares[rows, labels]).int().clamp(max=WHOLE).tolist()
        columns = (spans.sentence[rows], spans.start[rows], spans.end[rows], labels)
        for sentence, start, end, label, share in zip(*(c.tolist() for c in columns), thousandths, strict=True):
            found[sentence].append((Span(start, end, vocabulary.labels[label + 1]), share))
    return [tuple(sentence) for sentence in found]
