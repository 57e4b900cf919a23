"""Two files over the same sentences, one of trees and one of dependencies, read as one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from itertools import zip_longest

from h3n.errors import MismatchError
from h3n.trees import Sentence

# Some trees keep the quotes of the Penn Treebank where the dependencies have plain ones.
_QUOTES = {"``": '"', "''": '"'}


def pair(
    trees: Iterable[Sentence],
    dependencies: Iterable[Sentence],
    *,
    on_mismatch: Callable[[MismatchError], object] | None = None,
) -> Iterator[Sentence]:
    """Yield the sentences of the second file with the trees of the first.

    The words must be the same, quotes aside, or `MismatchError` says where they are not; with a handler such a pair is
    handed to it and left out. A tree without words ("no parse") goes with any sentence, and leaves it without a tree.
    """
    last: Sentence | None = None
    problem: str | None
    for number, (left, right) in enumerate(zip_longest(trees, dependencies), start=1):
        if left is None or right is None:
            which = "trees" if left is None else "dependencies"
            problem = f"{_where(last)}the {which} end after {number - 1} sentences, the other file goes on"
        else:
            problem = _difference(left, right, number) if left.words else None
        if problem is not None:
            if on_mismatch is None:
                raise MismatchError(problem)
            on_mismatch(MismatchError(problem))
        if left is None or right is None:
            return
        last = left
        if not left.words:
            yield right
        elif problem is None:
            yield replace(right, tree=left.tree, tags=right.tags or left.tags)


def _where(sentence: Sentence | None) -> str:
    return f"{sentence.place}: " if sentence is not None and sentence.place is not None else ""


def _difference(left: Sentence, right: Sentence, number: int) -> str | None:
    """Return what differs in the words of two sentences, or None."""
    if left.words == right.words or _plain(left) == _plain(right):
        return None
    start = f"{_where(left)}sentence {number} has"
    if len(left) != len(right):
        return f"{start} {len(left)} words, but {len(right)} at {right.place}"
    one, two = next((a, b) for a, b in zip(_plain(left), _plain(right), strict=True) if a != b)
    return f"{start} the word {one!r} where {right.place} has {two!r}"


def _plain(sentence: Sentence) -> list[str]:
    return [_QUOTES.get(word, word) for word in sentence.words]
