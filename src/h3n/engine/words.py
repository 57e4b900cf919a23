"""Lemmas and features in numpy: the twin of `h3n.model.words`, and the names of what was scored.

Rows are the words of all sentences one after the other, without padding.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate

import numpy as np
from numpy.typing import NDArray

from h3n.config import Words
from h3n.engine.lemmas import choose_lemma
from h3n.engine.storage import Floats
from h3n.engine.vocabulary import PADDING, Vocabulary
from h3n.trees import Sentence

Weights = Callable[[str], Floats]  # by name, below ``words.``
EPSILON = np.float32(1e-5)
NONE = "_"


@dataclass(frozen=True, slots=True)
class WordArrays:
    """Scores of the words of all sentences in a row."""

    lemmas: Floats | None  # (words, scripts)
    features: tuple[Floats, ...]  # bundles, then the values of each feature: (words, classes) each, or none at all


def score_words(
    weights: Weights,
    vectors: Floats,
    tags: Floats,
    upos: Floats,
    characters: Sequence[NDArray[np.int64]],
    *,
    options: Words,
    vocabulary: Vocabulary,
) -> WordArrays:
    """Return the scores of lemmas and features from vectors in context, scores of tags, and numbers of characters."""
    x = np.concatenate((vectors, _softmax(tags), _softmax(upos), _read_characters(weights, characters)), axis=1)
    lemmas = _scores(weights, "lemma", x, 1)[0] if options.lemmas else None
    features = _scores(weights, "feature", x, len(vocabulary.feature_widths)) if options.features else ()
    return WordArrays(lemmas, tuple(features))


def _scores(weights: Weights, name: str, x: Floats, tasks: int) -> list[Floats]:
    hidden = x @ weights(f"{name}.first.weight").T + weights(f"{name}.first.bias")
    centred = hidden - hidden.mean(axis=1, keepdims=True)
    normal = centred / np.sqrt(np.square(centred).mean(axis=1, keepdims=True) + EPSILON)
    active = np.maximum(normal * weights(f"{name}.norm.weight") + weights(f"{name}.norm.bias"), 0)
    return [
        active @ weights(f"{name}.classes.{task}.weight").T + weights(f"{name}.classes.{task}.bias")
        for task in range(tasks)
    ]


def _softmax(x: Floats) -> Floats:
    shares = np.exp(x - x.max(axis=1, keepdims=True))
    return np.asarray(shares / shares.sum(axis=1, keepdims=True), dtype=np.float32)


def _read_characters(weights: Weights, words: Sequence[NDArray[np.int64]]) -> Floats:
    """Return the strongest answer of each filter over three characters at a time, never below 0."""
    table, filters = weights("characters.embed.weight"), weights("characters.filters.weight")
    # Every word with padding at each end, one after the other; windows over two words are not looked at.
    ids = np.concatenate([np.pad(word, 1, constant_values=PADDING) for word in words])
    rows = table[ids]
    answers = sum(rows[at : len(rows) - 2 + at] @ filters[:, :, at].T for at in range(3))
    lengths = [len(word) for word in words]
    starts = list(accumulate((length + 2 for length in lengths[:-1]), initial=0))
    kept = np.concatenate([np.arange(start, start + length) for start, length in zip(starts, lengths, strict=True)])
    firsts = list(accumulate(lengths[:-1], initial=0))
    best: Floats = np.maximum.reduceat((answers + weights("characters.filters.bias"))[kept], firsts)
    return np.maximum(best, 0)


def name_words(sentences: Sequence[Sentence], scores: WordArrays, vocabulary: Vocabulary) -> list[Sentence]:
    """Return sentences with lemmas and features where they have none of their own; tags have to be there before."""
    named = []
    first = 0
    for sentence in sentences:
        rows = range(first, first + len(sentence))
        first += len(sentence)
        lemmas, features = sentence.lemmas, sentence.features
        if lemmas is None and scores.lemmas is not None and vocabulary.scripts:
            tags = (sentence.upos if vocabulary.upos else sentence.tags) or ("",) * len(sentence)
            lemmas = tuple(
                choose_lemma(word, tag, scores.lemmas[row], scripts=vocabulary.scripts, table=vocabulary.lemma_table)
                for row, word, tag in zip(rows, sentence.words, tags, strict=True)
            )
        if features is None and scores.features:
            features = tuple(choose_features([choice[row] for choice in scores.features], vocabulary) for row in rows)
        named.append(replace(sentence, lemmas=lemmas, features=features))
    return named


def choose_features(scores: Sequence[Floats], vocabulary: Vocabulary) -> str:
    """Return a word's features: the best bundle, or what each feature votes for where no known bundle is best."""
    bundle = int(scores[0].argmax())
    if bundle:
        return vocabulary.bundles[bundle - 1]
    chosen = []
    for (name, values), choice in zip(vocabulary.feature_index.items(), scores[1:], strict=True):
        best = int(choice.argmax())
        if best:
            chosen.append(f"{name}={list(values)[best - 1]}")
    return "|".join(sorted(chosen, key=str.lower)) or NONE
