"""Two files over the same sentences, one of trees and one of dependencies, read as one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import zip_longest

from h3n.errors import MismatchError
from h3n.trees import Sentence

# Some trees keep the quotes of the Penn Treebank where the dependencies have plain ones.
_QUOTES = {"``": '"', "''": '"'}


def pair(trees: Iterable[Sentence], dependencies: Iterable[Sentence]) -> Iterator[Sentence]:
    """Yield the sentences of the second file with the trees of the first.

    The words must be the same, quotes aside, or `MismatchError` says where they are not. A tree without words ("no
    parse") goes with any sentence, and leaves it without a tree.
    """
    last: Sentence | None = None
    for number, (left, right) in enumerate(zip_longest(trees, dependencies), start=1):
        if left is None or right is None:
            which = "trees" if left is None else "dependencies"
            raise MismatchError(f"{_where(last)}the {which} end after {number - 1} sentences, the other file goes on")
        if left.words:
            _check_words(left, right, number)
            yield replace(right, tree=left.tree, tags=right.tags or left.tags)
        else:
            yield right
        last = left


def _where(sentence: Sentence | None) -> str:
    return f"{sentence.place}: " if sentence is not None and sentence.place is not None else ""


def _check_words(left: Sentence, right: Sentence, number: int) -> None:
    if left.words == right.words or _plain(left) == _plain(right):
        return
    start = f"{_where(left)}sentence {number} has"
    if len(left) != len(right):
        raise MismatchError(f"{start} {len(left)} words, but {len(right)} at {right.place}")
    one, two = next((a, b) for a, b in zip(_plain(left), _plain(right), strict=True) if a != b)
    raise MismatchError(f"{start} the word {one!r} where {right.place} has {two!r}")


def _plain(sentence: Sentence) -> list[str]:
    return [_QUOTES.get(word, word) for word in sentence.words]
