"""Plain English text in: sentences and words, with where they stand.

`segment` splits running text, `lines` takes one sentence per line, `words` takes words that are split already. All of
them stream. `split` gives tokens with their offsets; `offsets` finds those of a sentence's words again and
`written` what it looked like; `spelled` is that by its words alone. `named` adds the comments `sent_id` and `text`.
"""

from h3n.text.blocks import NEWLINES
from h3n.text.sentences import as_name, lines, named, offsets, segment, spelled, split, with_text, words, written
from h3n.text.tokens import Token

__all__ = [
    "NEWLINES",
    "Token",
    "as_name",
    "lines",
    "named",
    "offsets",
    "segment",
    "spelled",
    "split",
    "with_text",
    "words",
    "written",
]
