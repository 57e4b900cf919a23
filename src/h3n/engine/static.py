"""Static vectors of word pieces, which many languages share: a word's vector is the mean of those of its pieces.

A word is written in lower case behind the mark of a word's start and tokenized from the left, each time by the longest
piece that fits; characters that begin no piece are passed over.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

START = "\u2581"  # of a word
LONGEST = 24  # characters of a piece that is looked for
MOST = 20_000  # frequent pieces that are kept beside those of the training words


def tokenize(word: str, index: Mapping[str, int]) -> list[int]:
    """Return the numbers of a word's pieces."""
    text = START + word.lower()
    found: list[int] = []
    at = 0
    while at < len(text):
        for end in range(min(len(text), at + LONGEST), at, -1):
            number = index.get(text[at:end])
            if number is not None:
                found.append(number)
                at = end
                break
        else:
            at += 1
    return found


def keep_pieces(words: Iterable[str], pieces: Sequence[str], *, most: int = MOST) -> tuple[str, ...]:
    """Return the pieces that a model keeps, in their order: those of its words, and frequent ones in their script.

    ``pieces`` are sorted by frequency; those with a character that no word has can hardly be of the same language.
    """
    index = {piece: at for at, piece in enumerate(pieces)}
    known = list(words)
    used = {number for word in known for number in tokenize(word, index)}
    alphabet = {START, *(character for word in known for character in word.lower())}
    fitting = [at for at, piece in enumerate(pieces) if alphabet.issuperset(piece)]
    return tuple(pieces[at] for at in sorted(used | set(fitting[:most])))
