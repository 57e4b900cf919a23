"""Samples, extrapolation and fits on times that are known."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from h3n.measure.timing import Timing, curve_of, extrapolate, fit_exponent, spread


@settings(deadline=None)
@given(st.lists(st.integers(1, 300), min_size=1), st.integers(0, 50))
def test_a_sample_has_one_of_every_part(lengths: list[int], count: int) -> None:
    chosen = spread(lengths, count)
    assert chosen == sorted(set(chosen))
    assert len(chosen) == (count if 0 < count < len(lengths) else len(lengths))
    ranked = sorted(lengths)
    for part, length in enumerate(sorted(lengths[at] for at in chosen)):
        share = len(lengths) / len(chosen)
        assert ranked[math.floor(part * share)] <= length <= ranked[math.ceil((part + 1) * share) - 1]


def test_all_measured_is_a_sum() -> None:
    assert extrapolate([Timing(10, 2, 0.5), Timing(30, 1, 1.0)], [10, 10, 30], power=5) == (1.5, 0.0)


def test_a_sample_of_exact_fifth_powers_gives_the_rest() -> None:
    lengths = [200, 210, 250, 299]
    timings = [Timing(n, 1, 2e-11 * n**5) for n in (210, 250)]
    seconds, error = extrapolate(timings, lengths, power=5)
    assert seconds == pytest.approx(2e-11 * sum(n**5 for n in lengths))
    assert error == pytest.approx(0, abs=1e-9)


def test_the_error_is_that_of_a_sample() -> None:
    # Equal lengths, so a plain mean: variance 2, half of four sentences seen, mean 2.
    seconds, error = extrapolate([Timing(10, 1, 1.0), Timing(10, 1, 3.0)], [10] * 4, power=5)
    assert seconds == pytest.approx(8)
    assert error == pytest.approx(math.sqrt(0.5 * 2 / 2) / 2)
    assert math.isnan(extrapolate([Timing(10, 1, 1.0)], [10] * 4, power=5)[1])


def test_a_curve_joins_like_lengths() -> None:
    points = curve_of([Timing(104, 3, 0.3), Timing(106, 1, 0.5), Timing(100, 2, 0.8), Timing(200, 1, 1.0)], pivot=100)
    assert [point["words"] for point in points] == [100, 104.5, 200]
    assert [point["sentences"] for point in points] == [2, 4, 1]
    assert [point["milliseconds"] for point in points] == pytest.approx([400, 200, 1000])


@pytest.mark.parametrize("power", [1.7, 4, 5])
def test_an_exponent_is_found_again_whatever_short_sentences_take(power: float) -> None:
    points = [(float(n), 3e-6 * n**power) for n in (110, 150, 230, 290)]
    short = [(20.0, 500.0)]
    assert fit_exponent(short + points, above=100) == pytest.approx(power)
    assert fit_exponent(short + points[:1], above=100) is None
