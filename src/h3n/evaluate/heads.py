"""Head accuracy and tag accuracy: one class per word, right or wrong."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

from h3n.errors import MismatchError
from h3n.evaluate.evalb import share


@dataclass(frozen=True, slots=True)
class ClassCounts:
    """Words and right ones among them; they add up with ``+``. The share is in percent."""

    words: int = 0
    right: int = 0

    def __add__(self, other: ClassCounts) -> ClassCounts:
        return ClassCounts(self.words + other.words, self.right + other.right)

    @property
    def accuracy(self) -> float:
        return share(self.right, self.words)


def count_classes(gold: Sequence[Hashable], predicted: Sequence[Hashable]) -> ClassCounts:
    """Return how many words have the right class: the level of a word for head accuracy, its tag for tag accuracy.

    (paper, Table I, column HAcc.)
    """
    if len(gold) != len(predicted):
        raise MismatchError(f"{len(gold)} words in gold, {len(predicted)} predicted")
    return ClassCounts(len(gold), sum(map(_same, gold, predicted)))


def _same(one: Hashable, other: Hashable) -> bool:
    return one == other
