"""Batches, updates and learning rates as functions of the seed."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from h3n.config import Batches, Optimiser
from h3n.training.plan import batch_seed, check_points, plan_epoch, rate_factor, updates_of

LENGTHS = st.lists(st.integers(1, 60), min_size=1, max_size=80)


@settings(deadline=None)
@given(lengths=LENGTHS, words=st.integers(1, 200), sentences=st.integers(0, 5), seed=st.integers(0, 99))
def test_every_sentence_is_seen_once_within_the_budget(
    lengths: list[int], words: int, sentences: int, seed: int
) -> None:
    options = Batches(words=words, sentences=sentences)
    plan = plan_epoch(lengths, [1.0] * len(lengths), options=options, seed=seed, epoch=3)
    assert sorted(at for batch in plan for at in batch) == list(range(len(lengths)))
    for batch in plan:
        assert len(batch) == 1 or len(batch) * max(lengths[at] for at in batch) <= words
        assert not sentences or len(batch) <= sentences
    assert plan == plan_epoch(lengths, [1.0] * len(lengths), options=options, seed=seed, epoch=3)


def test_epochs_and_seeds_differ() -> None:
    lengths, weights = [5] * 50, [1.0] * 50
    first = plan_epoch(lengths, weights, options=Batches(words=20), seed=1, epoch=0)
    assert first != plan_epoch(lengths, weights, options=Batches(words=20), seed=1, epoch=1)
    assert first != plan_epoch(lengths, weights, options=Batches(words=20), seed=2, epoch=0)
    assert len({batch_seed(1, step, batch) for step in range(10) for batch in range(10)}) == 100


def test_weights_are_how_often_a_sentence_is_drawn() -> None:
    weights = [2.0] * 1000 + [0.5] * 1000 + [0.0] * 10
    plan = plan_epoch([3] * 2010, weights, options=Batches(words=30), seed=1, epoch=0)
    drawn = [at for batch in plan for at in batch]
    assert all(drawn.count(at) == 2 for at in range(0, 1000, 100))
    assert 400 < sum(1000 <= at < 2000 for at in drawn) < 600
    assert max(drawn) < 2000


def test_one_sentence_of_many_pieces_does_not_widen_a_whole_batch() -> None:
    lengths, widths = [4] * 400, [5] * 399 + [300]
    plan = plan_epoch(lengths, [1.0] * 400, options=Batches(words=1500), seed=1, epoch=0, widths=widths)
    assert sorted(at for batch in plan for at in batch) == list(range(400))
    for batch in plan:
        assert len(batch) * 4 <= 1500
        assert len(batch) * max(widths[at] for at in batch) <= 3000


def test_updates_keep_the_order_and_the_rest() -> None:
    assert updates_of([[1], [2], [3]], 2) == [[[1], [2]], [[3]]]


@pytest.mark.parametrize(
    ("updates", "checks", "expected"), [(10, 1, {10}), (10, 4, {2, 5, 8, 10}), (2, 4, {1, 2}), (1, 1, {1})]
)
def test_checks_are_spread_and_end_the_epoch(updates: int, checks: int, expected: set[int]) -> None:
    assert check_points(updates, checks) == expected


def test_linear_schedule_rises_and_falls() -> None:
    options = Optimiser(schedule="linear", warmup=0.1)
    factors = [rate_factor(step, 100, options=options) for step in range(100)]
    assert factors[:10] == pytest.approx([(step + 1) / 10 for step in range(10)])
    assert factors[10] == 1.0
    assert all(one > other for one, other in pairwise(factors[10:]))
    assert 0 < factors[99] < 0.02
    assert rate_factor(140, 100, options=options) == 0.0


def test_plateau_and_constant_schedules() -> None:
    plateau = Optimiser(schedule="plateau", warmup=4)
    assert rate_factor(0, 100, options=plateau) == 0.25
    assert rate_factor(50, 100, options=plateau, halvings=2) == 0.25
    assert rate_factor(50, 100, options=Optimiser(schedule="constant", warmup=0)) == 1.0
