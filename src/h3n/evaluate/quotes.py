"""Quotation marks and possessives that a parser mixed up.

Quotation marks are deleted before scoring, possessives are not. A parser that tags one as the other deletes a word that
gold keeps, or the reverse, and the sentence would count as an error; newer versions of EVALB bring the word back.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from h3n.evaluate.bracketing import Event
from h3n.evaluate.parameters import Parameters

QUOTE_WORDS = frozenset({"'", '"', "/"})


def mistaken_quotes(
    gold: Sequence[Event], predicted: Sequence[Event], parameters: Parameters
) -> tuple[Counter[int], Counter[int]]:
    """Return the events of both sides whose deleted word has to count, since the other side did not delete it.

    Positions are numbers of words kept so far, moved along with every word that comes back. One word may come back
    twice, as it does in EVALB.
    """
    deleted = parameters.delete_labels
    left, right = _quotes(gold, parameters), _quotes(predicted, parameters)
    spared: tuple[Counter[int], Counter[int]] = (Counter(), Counter())
    for at, mark in enumerate(right):
        position = mark[1]
        for other_at, other in enumerate(left):
            if other[1] != position or (other[2] in deleted) == (mark[2] in deleted):
                continue
            side, marks, first = (0, left, other_at) if other[2] in deleted else (1, right, at)
            spared[side][marks[first][0]] += 1
            marks[first:] = [(event, place + 1, tag) for event, place, tag in marks[first:]]
    return spared


def _quotes(events: Sequence[Event], parameters: Parameters) -> list[tuple[int, int, str]]:
    """Return (event, words kept before it, tag) of every word that may be a mistaken quotation mark."""
    found: list[tuple[int, int, str]] = []
    position = 0
    for index, (tag, word, _, _) in enumerate(events):
        if word in QUOTE_WORDS and tag in parameters.quote_labels:
            found.append((index, position, tag))
        position += bool(word) and tag not in parameters.delete_labels
    return found
