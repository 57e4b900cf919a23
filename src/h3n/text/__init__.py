"""Plain English text in: sentences and words, with where they stand.

`segment` splits running text, `lines` takes one sentence per line, `words` takes words that are split already. All of
them stream. `split` gives tokens with their offsets; `offsets` finds those of a sentence's words again and
`written` what it looked like; `spelled` is that by its words alone.
"""

from h3n.text.sentences import lines, offsets, segment, spelled, split, words, written
from h3n.text.tokens import Token

__all__ = ["Token", "lines", "offsets", "segment", "spelled", "split", "words", "written"]
