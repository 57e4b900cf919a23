"""Phrases from dependencies over a folder of CoNLL-U files: what is lifted, what comes back, and how fast."""

from __future__ import annotations

import time
from collections import defaultdict
from dataclasses import asdict, dataclass
from pathlib import Path

from h3n import formats
from h3n.convert import join, split, to_phrases
from h3n.errors import TreeError
from h3n.trees import Sentence, leaves


@dataclass(slots=True)
class Figures:
    """What became of the sentences of a treebank."""

    sentences: int = 0
    words: int = 0
    crossing: int = 0
    phrases: int = 0
    lifted: int = 0
    failures: int = 0
    seconds: float = 0.0

    def add(self, sentence: Sentence) -> None:
        """Make the phrases of a sentence and count them; a sentence whose trees do not come back is a failure."""
        if sentence.dependencies is None:
            raise TreeError(f"{sentence.place}: no dependencies; phrases are made from them")
        started = time.process_time()
        phrases = to_phrases(sentence.dependencies, sentence.words, sentence.upos, upos=sentence.upos)
        self.seconds += time.process_time() - started
        joined = join(phrases.tree, sentence.dependencies)
        same = tuple(leaf.word for leaf in leaves(phrases.tree)) == sentence.words
        self.failures += not (same and split(joined.tree) == (phrases.tree, phrases.dependencies))
        self.sentences += 1
        self.words += len(sentence)
        self.crossing += phrases.lifted > 0
        self.phrases += joined.counts.spans
        self.lifted += phrases.lifted


def measure_phrases(folder: Path) -> dict[str, Figures]:
    """Return the figures of each treebank: the part of a file's name before the first hyphen."""
    figures: dict[str, Figures] = defaultdict(Figures)
    for file in sorted(folder.rglob("*.conllu*")):
        for sentence in formats.read(file):
            figures[file.name.partition("-")[0]].add(sentence)
    return dict(sorted(figures.items()))


def total(figures: dict[str, Figures]) -> Figures:
    """Return the sums."""
    return Figures(*(sum(values) for values in zip(*(asdict(f).values() for f in figures.values()), strict=True)))
