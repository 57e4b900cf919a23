"""Cutting text is linear by construction: each character is looked at a bounded number of times.

What Python's regular expressions do inside cannot be counted. So two things are tested: what they are offered, by
counting, and that a text which one of them could go over again and again ends at all.
"""

from __future__ import annotations

import re
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from benchmarks.segmentation_growth import RULES
from h3n import text
from h3n.text import blocks, boundaries, runs, sentences, tokens

LENGTH = 6_000
LOOKS = 60  # at one character: all patterns together


class Counted:
    """A pattern that counts the characters it is asked to look at."""

    def __init__(self, pattern: re.Pattern[str], counts: list[int]) -> None:
        self._pattern = pattern
        self._counts = counts

    def __getattr__(self, name: str) -> Any:
        method = getattr(self._pattern, name)

        def call(*arguments: Any) -> Any:
            found = method(*arguments)
            string, *bounds = arguments[1:] if name == "sub" else arguments
            start, end = (*bounds, *(0, len(string))[len(bounds) :])
            if name in ("search", "match") and found is not None:
                end = found.end()  # no further than that
            self._counts[0] += max(0, min(end, len(string)) - start)
            return found

        return call


@pytest.fixture
def looks(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Return a list whose one number is how many characters all patterns were offered so far."""
    counts = [0]
    for module in (blocks, boundaries, runs, sentences, tokens):
        for name, value in list(vars(module).items()):
            if isinstance(value, re.Pattern):
                monkeypatch.setattr(module, name, Counted(value, counts))
    return counts


@pytest.mark.parametrize("rule", RULES)
def test_characters_are_looked_at_a_bounded_number_of_times(rule: str, looks: list[int]) -> None:
    for unit in RULES[rule]:
        source = unit * (LENGTH // len(unit))
        for read in (text.split, text.segment, text.lines):
            for given in (source, list(source)):
                looks[0] = 0
                list(read(given))
                assert looks[0] <= LOOKS * len(source), (unit, read.__name__, type(given).__name__)


@contextmanager
def ends_within(seconds: int) -> Iterator[None]:
    """Fail if the work takes more processor time: no measurement, but a guard against work that does not end."""

    def give_up(_number: int, _frame: object) -> None:
        raise TimeoutError(f"more than {seconds} seconds of processor time")

    before = signal.signal(signal.SIGVTALRM, give_up)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="the system has no such clock")
@pytest.mark.parametrize("unit", ["'s", "s'", "'ll", ",111", ":1", "/1", "a.co/", "www.(", "+1", ":D", "a@", "^_", "("])
@pytest.mark.parametrize("ending", ["", "a", "'s"])
def test_a_text_that_ends_otherwise_than_it_began_is_cut(unit: str, ending: str) -> None:
    source = "1" + unit * (400_000 // len(unit)) + ending
    with ends_within(60):
        found = list(text.lines(source))
    assert "".join(found[0].words) == source


def test_a_number_of_many_groups_is_still_one() -> None:
    groups = ".".join(["1"] * 40)
    assert next(text.words(groups)).words == (groups,)
    assert [token.text for token in tokens.tokenize(f"See {groups}, now")] == ["See", groups, ",", "now"]
