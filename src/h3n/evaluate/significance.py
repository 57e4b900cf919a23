"""Is a difference between two parsers more than chance? Paired tests over the same sentences or words.

The bootstrap draws as many sentences as there are, with replacement, again and again, and looks at how the difference
of the two scores varies (Efron and Tibshirani, 1993; for parsing Berg-Kirkpatrick et al., 2012). McNemar's test looks
at the words that one parser alone has right: if the two are equally good, each has its way with half of them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from h3n.errors import UsageError
from h3n.evaluate.treebank import SentenceCounts

Counts = npt.NDArray[np.float64]
SAMPLES = 10_000
LEVEL = 0.95
_ROOM = 1 << 22  # numbers drawn at a time, so that a large treebank does not fill the memory


@dataclass(frozen=True, slots=True)
class Interval:
    """The difference of two scores, first less second, in points: where it lies in ``level`` of the samples, and
    the two-sided p-value of there being none."""

    first: float
    second: float
    low: float
    high: float
    p: float
    level: float = LEVEL

    @property
    def difference(self) -> float:
        return self.first - self.second


@dataclass(frozen=True, slots=True)
class Metric:
    """A score that is computed from counts which add up over sentences."""

    counts: Callable[[SentenceCounts], tuple[int, ...] | None]
    score: Callable[[Counts], Counts]


def _share(sums: Counts) -> Counts:
    """Return columns 0 / 1 in percent, 0 of nothing."""
    return 100.0 * np.divide(sums[..., 0], sums[..., 1], out=np.zeros(sums.shape[:-1]), where=sums[..., 1] > 0)


def _f1(sums: Counts) -> Counts:
    whole = sums[..., 1] + sums[..., 2]
    return 200.0 * np.divide(sums[..., 0], whole, out=np.zeros(sums.shape[:-1]), where=whole > 0)


def _brackets(one: SentenceCounts) -> tuple[int, ...] | None:
    if one.brackets is None:
        return None
    counts = one.brackets.counts
    return counts.matched, counts.gold, counts.predicted


def _attachment(column: str, way: str) -> Callable[[SentenceCounts], tuple[int, ...] | None]:
    def counts(one: SentenceCounts) -> tuple[int, ...] | None:
        found = one.attachments.get(way)
        return None if found is None else (getattr(found, column), found.words)

    return counts


def _classes(name: str) -> Callable[[SentenceCounts], tuple[int, ...] | None]:
    def counts(one: SentenceCounts) -> tuple[int, ...] | None:
        found = one.classes.get(name)
        return None if found is None else (found.right, found.words)

    return counts


def metrics(punctuation: str = "unicode") -> dict[str, Metric]:
    """Return the scores that can be compared, with this way to leave out punctuation."""
    return {
        "LF1": Metric(_brackets, _f1),
        "UAS": Metric(_attachment("governors", punctuation), _share),
        "LAS": Metric(_attachment("relations", punctuation), _share),
        "XPOS": Metric(_classes("XPOS"), _share),
        "UPOS": Metric(_classes("UPOS"), _share),
    }


def compare_parsers(
    first: Sequence[SentenceCounts],
    second: Sequence[SentenceCounts],
    *,
    punctuation: str = "unicode",
    samples: int = SAMPLES,
    seed: int = 0,
) -> dict[str, Interval]:
    """Return the difference in each score that both parsers have for all sentences."""
    intervals: dict[str, Interval] = {}
    for name, metric in metrics(punctuation).items():
        sides = [[metric.counts(one) for one in side] for side in (first, second)]
        rows = [[row for row in side if row is not None] for side in sides]
        if first and all(len(part) == len(side) for part, side in zip(rows, sides, strict=True)):
            left, right = (np.array(part, dtype=np.float64) for part in rows)
            intervals[name] = paired_bootstrap(left, right, metric.score, samples=samples, seed=seed)
    return intervals


def paired_bootstrap(
    first: Counts, second: Counts, score: Callable[[Counts], Counts], *, samples: int = SAMPLES, seed: int = 0
) -> Interval:
    """Return the difference of two scores with its percentile interval.

    ``first`` and ``second`` have a row of counts for each sentence; ``score`` computes a score from sums of rows, over
    the last axis. The same seed gives the same interval.
    """
    if len(first) != len(second) or not len(first):
        raise UsageError(f"{len(first)} and {len(second)} sentences; a paired test takes the same ones, at least one")
    if samples < 1:
        raise UsageError(f"{samples} samples; 1 or more is accepted")
    size = len(first)
    random = np.random.default_rng(seed)
    differences: list[Counts] = []
    left = samples
    while left:
        part = min(left, max(1, _ROOM // size))
        drawn = random.multinomial(size, np.full(size, 1.0 / size), size=part).astype(np.float64)
        differences.append(score(drawn @ first) - score(drawn @ second))
        left -= part
    every = np.concatenate(differences)
    low, high = np.quantile(every, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    # The observed sample counts as one, so that p is never 0.
    below, above = (int(np.sum(every <= 0)) + 1, int(np.sum(every >= 0)) + 1)
    p = min(1.0, 2.0 * min(below, above) / (samples + 1))
    return Interval(float(score(first.sum(0))), float(score(second.sum(0))), float(low), float(high), p)


def mcnemar(only_first: int, only_second: int) -> float:
    """Return the exact two-sided p-value of McNemar's test for words that one parser alone has right."""
    if only_first < 0 or only_second < 0:
        raise UsageError(f"{only_first} and {only_second} words; counts are 0 or more")
    total, fewer = only_first + only_second, min(only_first, only_second)
    logs = [_log_choose(total, right) - total * math.log(2.0) for right in range(fewer + 1)]
    return min(1.0, 2.0 * math.fsum(map(math.exp, logs)))


def _log_choose(total: int, chosen: int) -> float:
    return math.lgamma(total + 1) - math.lgamma(chosen + 1) - math.lgamma(total - chosen + 1)
