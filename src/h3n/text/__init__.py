"""Plain English text in: sentences and words, with where they stand.

`segment` splits running text, `lines` takes one sentence per line, `words` takes words that are split already. All of
them stream. `split` gives tokens with their offsets; `offsets` finds those of a sentence's words again and
`written` what it looked like; `spelled` is that by its words alone. `named` adds the comments `sent_id` and `text`.
"""

from collections.abc import Iterable, Iterator
from typing import Protocol

from h3n.text.blocks import NEWLINES
from h3n.text.sentences import as_name, lines, named, offsets, segment, spelled, split, with_text, words, written
from h3n.text.tokens import Token
from h3n.trees import Sentence


class Segment(Protocol):
    """What turns a text, or a text that comes in pieces, into sentences; see `segment` for ``newlines``."""

    def __call__(self, text: str | Iterable[str], *, newlines: str = "paragraph") -> Iterator[Sentence]: ...


ENGLISH = "english"
# By the name that a model keeps.
SEGMENTERS: dict[str, Segment] = {ENGLISH: segment}

__all__ = [
    "ENGLISH",
    "NEWLINES",
    "SEGMENTERS",
    "Segment",
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
