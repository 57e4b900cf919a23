"""Lemmas and features in numpy: the twin of `h3n.model.words`, and the names of what was scored.

Rows are the words of all sentences one after the other, without padding.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from h3n.engine.features import CharacterCnn
from h3n.engine.inputs import Inputs
from h3n.engine.lemmas import choose_lemma
from h3n.engine.output import Floats, WordScores, best
from h3n.engine.saved import Saved
from h3n.engine.vocabulary import Vocabulary

PREFIX = "words."
EPSILON = np.float32(1e-5)
NONE = "_"


class WordHeads:
    """Scorers of lemmas and features: both read a word's vector, how likely its tags are, and its characters."""

    def __init__(self, saved: Saved) -> None:
        options, known = saved.config.words, saved.vocabulary
        self._stored = {name: one for name, one in saved.weights.items() if name.startswith(PREFIX)}
        self.characters = CharacterCnn(saved, f"{PREFIX}characters.")
        # How many classes each scorer chooses from, once for every choice.
        self.tasks = {"lemma": [len(known.scripts)] if options.lemmas else []}
        self.tasks["feature"] = known.feature_widths if options.features else []
        self._kept: dict[str, Floats] = {}

    def weights(self, name: str) -> Floats:
        """Return one tensor by its name below ``words.``, unpacked once."""
        if name not in self._kept:
            self._kept[name] = self._stored[f"{PREFIX}{name}"].floats()
        return self._kept[name]

    def beside(self, sentences: Sequence[Inputs], tags: Floats, upos: Floats) -> Floats:
        """Return what is read of each word beside its vector, from its characters and the scores of its tags."""
        characters = self.characters([ids for one in sentences for ids in one.characters])
        return np.concatenate((_softmax(tags), _softmax(upos), characters), axis=1)

    def score(self, vectors: Floats, beside: Floats) -> WordScores:
        """Return the scores of lemmas and features."""
        x = np.concatenate((vectors, beside), axis=1)
        lemmas, features = (self._scores(name, x) for name in ("lemma", "feature"))
        return WordScores(lemmas[0] if lemmas else None, features)

    def _scores(self, name: str, x: Floats) -> tuple[Floats, ...]:
        if not self.tasks[name]:
            return ()
        hidden = x @ self.weights(f"{name}.first.weight").T + self.weights(f"{name}.first.bias")
        centred = hidden - hidden.mean(axis=1, keepdims=True)
        normal = centred / np.sqrt(np.square(centred).mean(axis=1, keepdims=True) + EPSILON)
        active = np.maximum(normal * self.weights(f"{name}.norm.weight") + self.weights(f"{name}.norm.bias"), 0)
        return tuple(
            active @ self.weights(f"{name}.classes.{task}.weight").T + self.weights(f"{name}.classes.{task}.bias")
            for task in range(len(self.tasks[name]))
        )


def _softmax(x: Floats) -> Floats:
    shares = np.exp(x - x.max(axis=1, keepdims=True))
    return np.asarray(shares / shares.sum(axis=1, keepdims=True), dtype=np.float32)


def name_lemmas(words: Sequence[str], tags: Sequence[str], scores: Floats, vocabulary: Vocabulary) -> list[str]:
    """Return the lemmas of words with their universal tags, or their tags in a treebank that has no others."""
    rows = zip(words, tags, best(scores).tolist(), scores, strict=True)
    return [
        choose_lemma(word, tag, scripts=_ranked(first, row, vocabulary.scripts), table=vocabulary.lemma_table)
        for word, tag, first, row in rows
    ]


def _ranked(first: int, scores: Floats, scripts: Sequence[str]) -> Iterator[str]:
    """Yield the scripts, the best first; the others are ranked only if somebody asks for them."""
    yield scripts[first]
    for at in np.argsort(-scores, kind="stable").tolist():
        yield scripts[at]


def name_features(scores: Sequence[Floats], vocabulary: Vocabulary) -> list[str]:
    """Return words' features: the best bundle, or what each feature votes for where no known bundle is best."""
    return [
        vocabulary.bundles[bundle - 1] if bundle else _vote([choice[row] for choice in scores[1:]], vocabulary)
        for row, bundle in enumerate(best(scores[0]).tolist())
    ]


def _vote(scores: Sequence[Floats], vocabulary: Vocabulary) -> str:
    chosen = []
    for (name, values), choice in zip(vocabulary.feature_index.items(), scores, strict=True):
        value = int(choice.argmax())
        if value:
            chosen.append(f"{name}={list(values)[value - 1]}")
    return "|".join(sorted(chosen, key=str.lower)) or NONE
