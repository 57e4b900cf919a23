"""Random trees and rows, to read and to score where there is no treebank."""

from __future__ import annotations

import random

LABELS = ("S", "NP", "VP", "PP", "SBAR", "NP-SBJ")


TAGS = ("NN", "DT", "VBZ", "IN", "JJ", "RB", ",", ".")


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
