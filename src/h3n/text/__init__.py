"""Plain text in: sentences and words, with where they stand.

A `Segmenter` makes them; `SEGMENTERS` has those that are rules, by name. Of the rules for English, `segment` splits
running text, `lines` takes one sentence per line and `split` gives tokens with their offsets; `words` takes words that
are split already. All of them stream. `offsets` finds the offsets of a sentence's words again and `written` what it
looked like; `spelled` is that by its words alone. `named` adds the comments `sent_id` and `text`.
"""

from h3n.text.blocks import NEWLINES
from h3n.text.sentences import (
    ENGLISH,
    SEGMENTERS,
    Segmenter,
    as_name,
    lines,
    named,
    offsets,
    segment,
    spelled,
    split,
    with_text,
    words,
    written,
)
from h3n.text.tokens import Token

__all__ = [
    "ENGLISH",
    "NEWLINES",
    "SEGMENTERS",
    "Segmenter",
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
