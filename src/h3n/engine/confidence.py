"""How sure the model is of each span and each arc of a parse.

Both are probabilities the network gives by itself, before a decoder makes a tree of them: of an arc, that its governor
is the word's among all words and the root; of a span, that its label is the right one among all labels and none. The
scores are divided by a temperature first, and that of no span is raised or lowered, so that a probability can be made
to say how often the choice is right (`h3n.measure.calibration` fits both; the model's options keep them).
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate, chain
from typing import Protocol, runtime_checkable

import numpy as np

from h3n.decode import Parse, Scores
from h3n.engine.engine import governor_ids
from h3n.engine.output import Floats, Numbers, Output
from h3n.engine.spans import bar_helper
from h3n.trees import ROOT


def arc_confidences(scores: Scores, parse: Parse, *, temperature: float = 1.0) -> tuple[float, ...]:
    """Return the probability of every word's governor; nothing where the parse has none."""
    if not parse.governors or scores.arc is None or scores.root is None:
        return ()
    governors = np.array(parse.governors)
    words = np.arange(len(governors))
    chosen = np.where(governors == ROOT, scores.root, scores.arc[governors, words])
    if temperature != 1.0:  # otherwise they are logarithms of probabilities already
        # Barred arcs have the least number there is in 32 bits: divided by less than 1 it needs more of them.
        table = np.concatenate([scores.root[None], scores.arc]).astype(np.float64) / temperature  # (1 + n, n)
        chosen = chosen.astype(np.float64) / temperature - np.logaddexp.reduce(table, axis=0)
    return tuple(np.exp(chosen).tolist())


@runtime_checkable
class Sharing(Protocol):
    """An output that computes the shares by itself, in less time."""

    def governor_shares(self, governors: Numbers, *, temperature: float) -> Floats:
        """Return (W,), how likely one governor of each word is."""

    def label_shares(
        self, sentence: Numbers, start: Numbers, end: Numbers, label: Numbers, *, temperature: float, none: float
    ) -> Floats:
        """Return (spans,), how likely one label of each span is."""


def governor_confidences(
    output: Output, scores: Sequence[Scores], parses: Sequence[Parse], *, temperature: float = 1.0
) -> list[tuple[float, ...]]:
    """Return the probability of every word's governor, sentence by sentence; ``scores`` are those of the output."""
    if isinstance(output, Sharing) and all(parse.governors for parse in parses):
        governors = governor_ids([parse.governors for parse in parses])
        return _split(output.governor_shares(governors, temperature=temperature), output.lengths)
    return [arc_confidences(one, parse, temperature=temperature) for one, parse in zip(scores, parses, strict=True)]


def span_confidences(
    output: Output, parses: Sequence[Parse], *, helper: int | None, temperature: float = 1.0, none: float = 0.0
) -> list[tuple[float, ...]]:
    """Return the probability of every span's label, the spans in the order of the parse.

    Only the spans that are in a parse are scored again: the scores of all labels of all spans are never kept.
    """
    counts = [len(parse.spans) for parse in parses]
    if not any(counts):
        return [()] * len(parses)
    if isinstance(output, Sharing):
        return _split(output.label_shares(*_columns(parses, counts), temperature=temperature, none=none), counts)
    scores, label = span_label_scores(output, parses, helper=helper)
    scores[:, 0] += np.float32(none)
    scores /= np.float32(temperature)
    scores -= scores.max(axis=1, keepdims=True)
    np.exp(scores, out=scores)
    return _split(scores[np.arange(len(label)), label] / scores.sum(axis=1), counts)


def _split(values: Floats, counts: Sequence[int]) -> list[tuple[float, ...]]:
    row = values.tolist()
    return [tuple(row[end - count : end]) for count, end in zip(counts, accumulate(counts), strict=True)]


def _columns(parses: Sequence[Parse], counts: Sequence[int]) -> tuple[Numbers, Numbers, Numbers, Numbers]:
    """Return sentence, start, end and label of the spans of all parses."""
    numbers = chain.from_iterable(chain.from_iterable(parse.spans for parse in parses))
    start, end, label, _ = np.fromiter(numbers, np.int64, 4 * sum(counts)).reshape(-1, 4).T.copy()
    return np.repeat(np.arange(len(parses)), counts), start, end, label


def span_label_scores(output: Output, parses: Sequence[Parse], *, helper: int | None) -> tuple[Floats, Numbers]:
    """Return the scores of all labels and none for the spans of all parses, a row for each, and the label of each."""
    sentence, start, end, label = _columns(parses, [len(parse.spans) for parse in parses])
    words = np.array(output.lengths)[sentence]
    labels = output.label_scores(sentence, start, end)
    bar_helper(labels, start, end, words, helper=helper)
    scores = np.zeros((len(labels), labels.shape[1] + 1), dtype=np.float32)
    scores[:, 1:] = labels  # the empty label, with its score of 0, is one of the choices
    scores[end - start == words, 0] = -np.inf  # but not for the whole sentence, which always has a label
    return scores, label
