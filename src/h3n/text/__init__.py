"""Plain text in: sentences and words, with where they stand.

A `Segmenter` makes them; `SEGMENTERS` has those that are rules, by name. Of the rules for English, `segment` splits
running text, `lines` takes one sentence per line and `split` gives tokens with their offsets; `words` takes words that
are split already. All of them stream. `offsets` finds the offsets of a sentence's words again and `written` what it
looked like; `spelled` is that by its words alone.
"""

from h3n.text.sentences import SEGMENTERS, Segmenter, lines, offsets, segment, spelled, split, words, written
from h3n.text.tokens import Token

__all__ = ["SEGMENTERS", "Segmenter", "Token", "lines", "offsets", "segment", "spelled", "split", "words", "written"]
