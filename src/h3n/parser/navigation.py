"""Ways through a dependency tree: below a word, and from one word to another.

Governors are indices of words; `ROOT`, -1, stands above the root word and may be asked for like a word.
"""

from __future__ import annotations

from collections.abc import Sequence

from h3n.errors import UsageError
from h3n.trees import ROOT


def check_word(word: int, length: int) -> None:
    """Raise unless a sentence of this length has the word, or it is `ROOT`."""
    if not ROOT <= word < length:
        known = f"0 to {length - 1}, and {ROOT}, the root"
        raise UsageError(f"word {word} of a sentence of {length} words; accepted: {known}")


def children_of(governors: Sequence[int], word: int) -> tuple[int, ...]:
    """Return the words that hang on a word, from left to right."""
    return tuple(child for child, governor in enumerate(governors) if governor == word)


def subtree_of(governors: Sequence[int], word: int) -> tuple[int, ...]:
    """Return a word and all words below it, from left to right. O(n) for a tree of any depth."""
    inside: dict[int, bool] = {ROOT: word == ROOT, word: True}
    for start in range(len(governors)):
        passed = []
        above = start
        while above not in inside:
            passed.append(above)
            above = governors[above]
        inside.update(dict.fromkeys(passed, inside[above]))
    return tuple(one for one in range(len(governors)) if inside[one])


def path_between(governors: Sequence[int], first: int, last: int) -> tuple[int, ...]:
    """Return the words on the way between two words along arcs, both included."""
    up, down = _upwards(governors, first), _upwards(governors, last)
    while len(up) > 1 and len(down) > 1 and up[-2] == down[-2]:
        up.pop()
        down.pop()
    return (*up, *reversed(down[:-1]))


def _upwards(governors: Sequence[int], word: int) -> list[int]:
    way = [word]
    while way[-1] != ROOT:
        way.append(governors[way[-1]])
    return way
