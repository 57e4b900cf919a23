"""How much more likely something else would be: counts of what stands in which context.

Probabilities are estimated from the treebank that is checked, without the occurrence in question, so that a mistake
does not vouch for itself. A context leans on the next wider one the more, the more kinds of values it has for its size
(Witten and Bell, 1991).
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Sequence

FLOOR = 1e-4  # the probability of what was never seen in any context


class Expectation:
    """Values in contexts, each context a sequence of wider and wider ones."""

    def __init__(self) -> None:
        self._counts: defaultdict[Hashable, Counter[str]] = defaultdict(Counter)
        self._totals: Counter[Hashable] = Counter()

    def add(self, value: str, contexts: Sequence[Hashable]) -> None:
        """Count a value in its contexts, the narrowest first."""
        for depth, context in enumerate(contexts):
            self._counts[depth, context][value] += 1
            self._totals[depth, context] += 1

    def probability(self, value: str, contexts: Sequence[Hashable], *, without: str | None = None) -> float:
        """Return how likely a value is; ``without`` is the value of the occurrence that does not count."""
        found = FLOOR
        for depth in reversed(range(len(contexts))):
            key = (depth, contexts[depth])
            # `get` does not make an entry, which would grow the table with every question.
            counts = self._counts.get(key, Counter())
            count = counts[value] - (value == without)
            total = self._totals[key] - (without is not None)
            kinds = max(1, len(counts))
            found = (count + kinds * found) / (total + kinds)
        return found

    def best(self, contexts: Sequence[Hashable], *, without: str) -> tuple[str, float]:
        """Return the likeliest value and its probability."""
        values: Iterable[str] = self._counts.get((0, contexts[0]), Counter())
        known = {*values, without, *self._frequent(contexts)}
        rated = ((self.probability(value, contexts, without=without), value) for value in sorted(known))
        probability, value = max(rated)
        return value, probability

    def _frequent(self, contexts: Sequence[Hashable]) -> list[str]:
        wider = self._counts.get((len(contexts) - 1, contexts[-1]), Counter())
        return [value for value, _ in wider.most_common(5)]

    def surprise(self, value: str, contexts: Sequence[Hashable]) -> tuple[float, str]:
        """Return how many times as likely the best other value is, as a natural logarithm, and that value."""
        other, probability = self.best(contexts, without=value)
        return math.log(probability / self.probability(value, contexts, without=value)), other
