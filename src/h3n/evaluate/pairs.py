"""Gold and predicted side by side: nothing is scored that does not belong together."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Protocol, TypeVar

from h3n.errors import MismatchError, Place
from h3n.trees import Sentence


class Placed(Protocol):
    """Anything that knows where it stands."""

    @property
    def place(self) -> Place | None: ...


Item = TypeVar("Item", bound=Placed)


def pair(
    gold: Iterable[Item], predicted: Iterable[Item], *, empty: Callable[[Item], bool] = lambda _: False
) -> Iterator[tuple[Item, Item]]:
    """Yield gold and predicted sentences together; raise `MismatchError` where only one side goes on.

    What is ``empty`` at the end of either side, as blank lines are at the end of a file, does not count.
    """
    left, right = _without_end(gold, empty), iter(predicted)
    number = 0
    for number, wanted in enumerate(left, start=1):
        found = next(right, None)
        if found is None:
            raise MismatchError(
                f"predicted ends after {number - 1} sentences, gold goes on{_at(wanted)} with sentence {number}"
            )
        yield wanted, found
    extra = next((item for item in right if not empty(item)), None)
    if extra is not None:
        raise MismatchError(f"gold ends after {number} sentences, predicted goes on{_at(extra)}")


def check_words(gold: Sentence, predicted: Sentence, number: int) -> None:
    """Raise `MismatchError` unless both sentences have the same words; ``number`` counts sentences from 1."""
    if gold.words == predicted.words:
        return
    where = f"sentence {number} (gold {gold.place or 'in memory'}, predicted {predicted.place or 'in memory'})"
    for at, (wanted, found) in enumerate(zip(gold.words, predicted.words, strict=False), start=1):
        if wanted != found:
            raise MismatchError(f"{where}: word {at} is {wanted!r} in gold, {found!r} predicted")
    raise MismatchError(f"{where}: {len(gold)} words in gold, {len(predicted)} predicted")


def pair_words(gold: Iterable[Sentence], predicted: Iterable[Sentence]) -> Iterator[tuple[Sentence, Sentence]]:
    """Yield gold and predicted sentences together; raise `MismatchError` where their words or numbers differ."""
    for number, (wanted, found) in enumerate(pair(gold, predicted), start=1):
        check_words(wanted, found, number)
        yield wanted, found


def _without_end(items: Iterable[Item], empty: Callable[[Item], bool]) -> Iterator[Item]:
    held: list[Item] = []
    for item in items:
        held.append(item)
        if not empty(item):
            yield from held
            held.clear()


def _at(item: Placed) -> str:
    return f" at {item.place}" if item.place is not None else ""
