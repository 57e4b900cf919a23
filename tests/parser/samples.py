"""Sentences to parse."""

from __future__ import annotations

import random


def sentences(count: int, seed: int = 0) -> list[list[str]]:
    """Return lists of words drawn at random, some without any."""
    chance = random.Random(seed)
    known = ["dog", "house", "Oslo", "saw", "the", "every", "old", "near", "."]
    return [[chance.choice(known) for _ in range(chance.randrange(12))] for _ in range(count)]
