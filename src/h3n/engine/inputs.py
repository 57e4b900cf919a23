"""Sentences as the numbers that a network reads, and batches of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from h3n.engine.pieces import Numbers, Pieces, Tokenizer
from h3n.engine.vocabulary import UNKNOWN, Vocabulary

LONGEST_WORD = 32  # characters; of longer words the two ends are read


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """What the network reads of one sentence."""

    length: int
    words: Numbers  # (n,)
    tags: Numbers  # (n,)
    shapes: Numbers  # (n,)
    style: int = 0  # of annotation, an index into the vocabulary's
    characters: tuple[Numbers, ...]  # n times (characters,), or none
    pieces: Pieces | None = None

    @property
    def width(self) -> int:
        """Return how much the encoder reads: words, or the pieces of a pretrained model."""
        return self.length if self.pieces is None else max(self.length, len(self.pieces.ids))


def pieces_of(sentences: Sequence[Inputs]) -> list[Pieces]:
    """Return the pieces of sentences that were read with a pretrained encoder's tokenizer."""
    pieces = [one.pieces for one in sentences if one.pieces is not None]
    if len(pieces) < len(sentences):
        raise ValueError("a sentence was read without the pretrained encoder's tokenizer")
    return pieces


@lru_cache(maxsize=1 << 15)
def shape(word: str) -> int:
    """Return the class of a word's spelling: 1 .. `SHAPES` - 1 (0 is padding)."""
    if any(character.isdigit() for character in word):
        return 6 if any(character.isalpha() for character in word) else 5
    if not any(character.isalpha() for character in word):
        return 7
    if word == word.lower():
        return 1
    if word[0].isupper() and word[1:] == word[1:].lower():
        return 2
    return 3 if word == word.upper() else 4


def read_inputs(
    words: Sequence[str],
    vocabulary: Vocabulary,
    *,
    tags: Sequence[str] | None = None,
    tokenizer: Tokenizer | None = None,
    characters: bool = True,
    style: int = 0,
) -> Inputs:
    """Return a sentence as numbers; given tags, and characters, matter only to an encoder that reads them."""
    found = tags if tags is not None else ()
    tag_ids = [vocabulary.tag_index.get(tag, UNKNOWN - 2) + 2 for tag in found] or [UNKNOWN] * len(words)
    return Inputs(
        length=len(words),
        words=_word_ids(words, vocabulary),
        tags=np.array(tag_ids, dtype=np.int64),
        shapes=np.array(list(map(shape, words)), dtype=np.int64),
        style=style,
        characters=tuple(_character_ids(word, vocabulary) for word in words) if characters else (),
        pieces=tokenizer.tokenize(words) if tokenizer is not None else None,
    )


def _word_ids(words: Sequence[str], vocabulary: Vocabulary) -> Numbers:
    index = vocabulary.word_index
    if not index:  # the encoder reads pieces alone
        return np.full(len(words), UNKNOWN, dtype=np.int64)
    return np.array([index.get(word, index.get(word.lower(), UNKNOWN)) for word in words], dtype=np.int64)


def _character_ids(word: str, vocabulary: Vocabulary) -> Numbers:
    half = LONGEST_WORD // 2
    ends = word if len(word) <= LONGEST_WORD else word[:half] + word[-half:]
    return np.array([vocabulary.character_index.get(c, UNKNOWN) for c in ends] or [UNKNOWN], dtype=np.int64)


def group(inputs: Mapping[int, Inputs], *, room: int) -> Iterator[tuple[list[int], list[Inputs]]]:
    """Yield batches of sentences of like length, the longest first, each of about ``room`` words or pieces.

    Length is what the encoder reads: pieces, where it is a pretrained one, as most time goes there.
    """
    order = sorted(inputs, key=lambda at: inputs[at].width, reverse=True)
    while order:
        fit = max(1, room // inputs[order[0]].width)
        numbers, order = order[:fit], order[fit:]
        yield numbers, [inputs[at] for at in numbers]


def word_positions(lengths: Sequence[int]) -> Numbers:
    """Return where the words stand in a row of all positions: each sentence has a start and a stop around its words."""
    count = np.array(lengths, dtype=np.int64)
    return np.arange(int(count.sum())) + np.repeat(2 * np.arange(len(count)) + 1, count)
