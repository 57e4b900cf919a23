"""How sure the model is of each span and each arc of a parse.

Both are probabilities the network gives by itself, before a decoder makes a tree of them: of an arc, that its governor
is the word's among all words and the root; of a span, that its label is the right one among all labels and none. The
scores are divided by a temperature first, and that of no span is raised or lowered, so that a probability can be made
to say how often the choice is right (`h3n.measure.calibration` fits both; the model's options keep them).
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate, chain

import numpy as np

from h3n.decode import Parse, Scores
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


def span_confidences(
    output: Output, parses: Sequence[Parse], *, helper: int | None, temperature: float = 1.0, none: float = 0.0
) -> list[tuple[float, ...]]:
    """Return the probability of every span's label, the spans in the order of the parse.

    Only the spans that are in a parse are scored again: the scores of all labels of all spans are never kept.
    """
    if not any(parse.spans for parse in parses):
        return [()] * len(parses)
    scores, label = span_label_scores(output, parses, helper=helper)
    scores[:, 0] += np.float32(none)
    scores /= np.float32(temperature)
    scores -= scores.max(axis=1, keepdims=True)
    np.exp(scores, out=scores)
    shares = (scores[np.arange(len(label)), label] / scores.sum(axis=1)).tolist()
    ends = accumulate(len(parse.spans) for parse in parses)
    return [tuple(shares[end - len(parse.spans) : end]) for parse, end in zip(parses, ends, strict=True)]


def span_label_scores(output: Output, parses: Sequence[Parse], *, helper: int | None) -> tuple[Floats, Numbers]:
    """Return the scores of all labels and none for the spans of all parses, a row for each, and the label of each."""
    counts = [len(parse.spans) for parse in parses]
    numbers = chain.from_iterable(chain.from_iterable(parse.spans for parse in parses))
    rows = np.fromiter(numbers, np.int64, 4 * sum(counts)).reshape(-1, 4)
    start, end, label = (np.ascontiguousarray(rows[:, at]) for at in range(3))
    sentence = np.repeat(np.arange(len(parses)), counts)
    words = np.array(output.lengths)[sentence]
    labels = output.label_scores(sentence, start, end)
    bar_helper(labels, start, end, words, helper=helper)
    scores = np.zeros((len(labels), labels.shape[1] + 1), dtype=np.float32)
    scores[:, 1:] = labels  # the empty label, with its score of 0, is one of the choices
    scores[end - start == words, 0] = -np.inf  # but not for the whole sentence, which always has a label
    return scores, label
