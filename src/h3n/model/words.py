"""Lemmas and features of words, read from their vectors in context: what `h3n.engine.words` runs without torch."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from h3n.config import Words
from h3n.engine.vocabulary import CHARACTER_SIZE, Vocabulary
from h3n.model.batch import Batch
from h3n.model.features import CharacterCnn
from h3n.model.scorers import WordScorer


@dataclass(frozen=True, slots=True)
class WordTensors:
    """Scores of the words of all sentences in a row."""

    lemmas: Tensor | None  # (words, scripts)
    features: tuple[Tensor, ...]  # bundles, then the values of each feature: (words, classes) each, or none at all


class WordHeads(nn.Module):
    """Scorers of lemmas and features. Both read a word's vector, how likely its tags are, and its characters.

    Tags are given, not learned, here: what is wrong with a lemma is no reason to call a word something else.
    """

    def __init__(self, size: int, options: Words, vocabulary: Vocabulary) -> None:
        super().__init__()
        self.characters = CharacterCnn(len(vocabulary.characters) + 2, CHARACTER_SIZE, options.characters)
        width = size + sum(vocabulary.tag_widths[:2]) + options.characters
        scripts, features = (len(vocabulary.scripts),), tuple(vocabulary.feature_widths)
        self.lemma = WordScorer(width, options.lemmas, scripts, dropout=options.dropout) if options.lemmas else None
        self.feature = (
            WordScorer(width, options.features, features, dropout=options.dropout) if options.features else None
        )

    def read(self, batch: Batch, vectors: Tensor, tags: Tensor, upos: Tensor) -> WordTensors:
        """Return the scores of a batch from vectors and scores of tags, each (B, n, ...)."""
        inside = batch.mask[:, 2:]
        if batch.characters is None:
            raise ValueError("the sentences were read without their characters")
        return self.forward(vectors[inside], tags[inside], upos[inside], batch.characters[:, 1:-1][inside])

    def forward(self, vectors: Tensor, tags: Tensor, upos: Tensor, characters: Tensor) -> WordTensors:
        """Return the scores of words in a row, each argument (words, ...)."""
        likely = [scores.detach().softmax(dim=-1) for scores in (tags, upos)]
        # Each word as a sentence: dropout is the same for all words of one.
        x = torch.cat((vectors, *likely, self.characters(characters)), dim=-1)[:, None]
        lemmas = self.lemma(x)[0][:, 0] if self.lemma is not None else None
        features = tuple(choice[:, 0] for choice in self.feature(x)) if self.feature is not None else ()
        return WordTensors(lemmas, features)
