"""Trees to trees: the two trees joined and split, levels, phrases from dependencies, dependencies from phrases."""

from h3n.convert.joint import LEVELS, JoinCounts, Joined, governors_of, join, levels, split
from h3n.convert.phrases import Phrases, to_phrases

__all__ = ["LEVELS", "JoinCounts", "Joined", "Phrases", "governors_of", "join", "levels", "split", "to_phrases"]
