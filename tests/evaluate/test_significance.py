"""Paired tests against an enumeration of all samples and against known values."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest

from h3n.errors import UsageError
from h3n.evaluate import Convention, compare_parsers, count_sentence, mcnemar, paired_bootstrap
from h3n.trees import Dependencies, Sentence


def share(sums: np.ndarray) -> np.ndarray:
    return 100.0 * sums[..., 0] / sums[..., 1]


FIRST = np.array([[5.0, 6], [3, 4], [8, 8], [2, 7], [4, 5]])
SECOND = np.array([[4.0, 6], [3, 4], [6, 8], [4, 7], [3, 5]])


def every_difference() -> list[float]:
    """The difference in each of the 5 ** 5 equally likely samples."""
    size = len(FIRST)
    return [
        100 * sum(FIRST[at, 0] - SECOND[at, 0] for at in drawn) / sum(FIRST[at, 1] for at in drawn)
        for drawn in product(range(size), repeat=size)
    ]


def test_the_bootstrap_comes_near_the_enumeration_of_all_samples() -> None:
    exact = sorted(every_difference())
    interval = paired_bootstrap(FIRST, SECOND, share, samples=40_000, seed=1)
    assert interval.difference == pytest.approx(100 * (22 - 20) / 30)
    values = np.array(exact)
    # An end of the interval may fall on a value that many samples share.
    assert np.mean(values < interval.low - 1e-9) <= 0.03
    assert np.mean(values <= interval.low + 1e-9) >= 0.02
    assert np.mean(values > interval.high + 1e-9) <= 0.03
    assert np.mean(values >= interval.high - 1e-9) >= 0.02
    wanted = 2 * min(np.mean(values <= 1e-9), np.mean(values >= -1e-9))
    assert interval.p == pytest.approx(wanted, abs=0.01)


def test_a_seed_gives_the_same_interval_in_parts_of_any_size(monkeypatch: pytest.MonkeyPatch) -> None:
    one = paired_bootstrap(FIRST, SECOND, share, samples=500, seed=3)
    assert paired_bootstrap(FIRST, SECOND, share, samples=500, seed=3) == one
    assert paired_bootstrap(FIRST, SECOND, share, samples=500, seed=4) != one
    monkeypatch.setattr("h3n.evaluate.significance._ROOM", 7)
    assert paired_bootstrap(FIRST, SECOND, share, samples=500, seed=3) == one


def test_equal_parsers_do_not_differ() -> None:
    interval = paired_bootstrap(FIRST, FIRST, share, samples=100)
    assert (interval.low, interval.high, interval.p) == (0.0, 0.0, 1.0)


def test_a_clear_difference_is_significant() -> None:
    better = np.tile([9.0, 10.0], (50, 1))
    worse = better - [2.0, 0.0]
    interval = paired_bootstrap(better, worse, share, samples=999)
    assert interval.low == pytest.approx(20)
    assert interval.p == 2 / 1000


@pytest.mark.parametrize(("one", "other"), [(10, 2), (0, 0), (3, 3), (0, 6), (121, 59), (2, 10)])
def test_mcnemar_is_the_binomial_test(one: int, other: int) -> None:
    total = one + other
    tail = sum(math.comb(total, right) for right in range(min(one, other) + 1)) / 2**total
    assert mcnemar(one, other) == pytest.approx(min(1.0, 2 * tail))


def test_mcnemar_of_a_textbook() -> None:
    # 59 and 121 pairs that changed (Bland, An Introduction to Medical Statistics): chi-square 21.4, p < 0.0001.
    assert mcnemar(59, 121) < 1e-4
    assert mcnemar(10, 2) == pytest.approx(79 / 2048)
    assert 0 < mcnemar(40_000, 40_500) < 0.1


def sentence(*governors: int) -> Sentence:
    words = tuple(f"w{at}" for at in range(len(governors)))
    return Sentence(words=words, dependencies=Dependencies(governors, ("dep",) * len(governors)))


def test_only_scores_that_both_have_are_compared() -> None:
    gold = [sentence(-1, 0, 1), sentence(1, -1)]
    worse = [sentence(-1, 0, 0), sentence(1, -1)]
    sides = [
        [count_sentence(one, other, convention=Convention()) for one, other in zip(gold, side, strict=True)]
        for side in (gold, worse)
    ]
    intervals = compare_parsers(*sides, samples=200)
    assert list(intervals) == ["UAS", "LAS"]
    assert (intervals["UAS"].first, intervals["UAS"].second) == (100.0, 80.0)
    assert compare_parsers([], []) == {}


def test_bad_usage() -> None:
    with pytest.raises(UsageError, match="5 and 4 sentences"):
        paired_bootstrap(FIRST, SECOND[:4], share)
    with pytest.raises(UsageError, match="0 samples"):
        paired_bootstrap(FIRST, SECOND, share, samples=0)
    with pytest.raises(UsageError, match="counts are 0 or more"):
        mcnemar(-1, 2)
