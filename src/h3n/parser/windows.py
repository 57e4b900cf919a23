"""A stream cut into windows: what is looked at together before anything of it is given out."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

Item = TypeVar("Item")

LOOK_AHEAD = 8_000  # words: enough for batches of like length, and little memory
SHARE = 8  # the first window is that much smaller, so that the first result does not wait for a full one


def windows(
    items: Iterable[Item], size: Callable[[Item], int], *, look_ahead: int = LOOK_AHEAD
) -> Iterator[list[Item]]:
    """Yield the items in order, in lists whose sizes add up to at least ``look_ahead``; the first lists to less.

    An item is never held back for the sake of a later window. With a ``look_ahead`` of 0 every item is on its own.
    """
    wanted = look_ahead // SHARE
    held: list[Item] = []
    total = 0
    for item in items:
        held.append(item)
        total += size(item)
        if total >= wanted or len(held) > look_ahead:  # a stream of empty items fills windows too
            yield held
            held, total, wanted = [], 0, min(2 * wanted, look_ahead)
    if held:
        yield held


def one_ahead(begun: Iterable[Iterable[Item]]) -> Iterator[Item]:
    """Yield all items of all parts in order; each part is asked for before the items of the one before are given out.

    If a part cannot be had, the items of the one before still come first.
    """
    parts = iter(begun)
    current: Iterable[Item] | None = ()
    while current is not None:
        failure: Exception | None = None
        try:
            following = next(parts, None)
        except Exception as error:  # said below, in its place
            following, failure = None, error
        yield from current
        if failure is not None:
            raise failure
        current = following
