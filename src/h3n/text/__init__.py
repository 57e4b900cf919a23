"""Plain English text in: sentences and words, with where they stand.

`segment` splits running text, `lines` takes one sentence per line, `words` takes words that are split already. All of
them stream. `split` gives tokens with their offsets; `offsets` finds those of a sentence's words again and
`written` what it looked like; `spelled` is that by its words alone.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import TypeAlias

from h3n.text.sentences import lines, offsets, segment, spelled, split, words, written
from h3n.text.tokens import Token
from h3n.trees import Sentence

Segment: TypeAlias = Callable[[str | Iterable[str]], Iterator[Sentence]]
ENGLISH = "english"
# What turns text into sentences and words, by the name that a model keeps.
SEGMENTERS: dict[str, Segment] = {ENGLISH: segment}

__all__ = [
    "ENGLISH",
    "SEGMENTERS",
    "Segment",
    "Token",
    "lines",
    "offsets",
    "segment",
    "spelled",
    "split",
    "words",
    "written",
]
