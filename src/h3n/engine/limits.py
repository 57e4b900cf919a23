"""How long a sentence and a word may be before they are left unparsed: memory grows with the square of a sentence."""

from __future__ import annotations

import sys
from dataclasses import dataclass

import numpy as np

from h3n.engine.inputs import Inputs
from h3n.errors import UsageError


@dataclass(frozen=True, kw_only=True)
class Limits:
    """The most words of a sentence, and the most pieces a pretrained model may cut one word into."""

    max_words: int = 2_000
    max_pieces: int = 1_000

    def __post_init__(self) -> None:
        for name in ("max_words", "max_pieces"):
            if getattr(self, name) < 1:
                raise UsageError(f"{name} is {getattr(self, name)}; 1 or more is accepted")

    def refuse_words(self, count: int) -> str | None:
        """Return why a sentence of so many words is not parsed, or nothing if it is."""
        if count <= self.max_words:
            return None
        return f"not parsed: {count} words, the limit is {self.max_words} (max_words)"

    def refuse_pieces(self, inputs: Inputs) -> str | None:
        """Return why a sentence that was read is not parsed, or None if it is."""
        if inputs.pieces is None or len(inputs.pieces.ids) <= self.max_pieces:
            return None
        counts = np.bincount(inputs.pieces.words)
        if counts.max() <= self.max_pieces:
            return None
        word = int(counts.argmax()) + 1
        return f"not parsed: word {word} has {counts.max()} pieces, the limit is {self.max_pieces} (max_pieces)"


NO_LIMITS = Limits(max_words=sys.maxsize, max_pieces=sys.maxsize)
