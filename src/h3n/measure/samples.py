"""Material to measure on where there is no treebank: random scores, trees and rows, and a text of our own."""

from __future__ import annotations

import random
from importlib import resources

import numpy as np

from h3n.decode import Scores

LABELS = ("S", "NP", "VP", "PP", "SBAR", "NP-SBJ")
TAGS = ("NN", "DT", "VBZ", "IN", "JJ", "RB", ",", ".")


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


def random_words(chance: random.Random) -> list[str]:
    """Return about twenty words of a Zipf-like vocabulary: few are frequent, most are rare, as in real text."""
    return [f"w{int(20_000 ** chance.random())}" for _ in range(chance.randint(5, 35))]


def random_tree(words: list[str], chance: random.Random) -> str:
    """Return a random tree over the words, in brackets."""
    parts = [f"({_tag(word)} {word})" for word in words]
    while len(parts) > 1:
        start = chance.randrange(len(parts))
        end = start + chance.randint(1, 3)
        parts[start:end] = [f"({chance.choice(LABELS)} {' '.join(parts[start:end])})"]
    return f"(TOP {parts[0]})\n"


def random_rows(words: list[str], chance: random.Random) -> str:
    """Return a random sentence in CoNLL-U; every word but the first hangs on one before it."""
    rows = [f"# text = {len(words)} words"]
    for number, word in enumerate(words, start=1):
        governor = chance.randrange(1, number) if number > 1 else 0
        rows.append(f"{number}\t{word}\t{word}\tX\t{_tag(word)}\tA=b|C=d\t{governor}\tdep\t_\tSpaceAfter=No")
    return "\n".join(rows) + "\n\n"


def _tag(word: str) -> str:
    return TAGS[int(word[1:]) % len(TAGS)]
