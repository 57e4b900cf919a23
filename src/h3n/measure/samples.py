"""Material to measure on where there is no treebank: random scores, trees and rows, and a text of our own."""

from __future__ import annotations

from importlib import resources

import numpy as np

from h3n.decode import Scores


def random_scores(words: int, rng: np.random.Generator) -> Scores:
    """Return a sentence of normally distributed scores."""
    full = rng.normal(size=(words + 1, words + 1)).astype(np.float32)
    return Scores(
        full=full,
        open=np.maximum(full, 0),
        arc=rng.normal(size=(words, words)).astype(np.float32),
        root=rng.normal(size=words).astype(np.float32),
        head=rng.normal(size=words).astype(np.float32),
        label=np.ones((words + 1, words + 1), dtype=np.int32),
    )


def plain_text() -> str:
    """Return a text of some paragraphs that comes with h3n."""
    return (resources.files(__package__) / "data" / "text.txt").read_text(encoding="utf-8").strip()
