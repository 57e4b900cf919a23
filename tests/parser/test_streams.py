"""Streams: order, how far ahead is read, batches on several threads."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from h3n.parser import Parser
from h3n.parser.threads import mapper
from h3n.parser.windows import one_ahead, windows
from h3n.trees import Sentence
from tests.parser.samples import sentences


@pytest.mark.parametrize("look_ahead", [0, 1, 40, 8000])
def test_order_and_results_do_not_depend_on_the_window(parser: Parser, look_ahead: int) -> None:
    given = sentences(40)
    found = list(parser.parse(given, look_ahead=look_ahead))
    assert [list(result.words) for result in found] == given
    for result, words in zip(found, given, strict=True):
        if words:
            (alone,) = parser.parse(words=words)
            assert (alone.brackets(), alone.heads) == (result.brackets(), result.heads)
            assert [a.confidence for a in alone.arcs] == pytest.approx([a.confidence for a in result.arcs], abs=1e-4)


def test_endless_input_is_read_only_as_far_as_needed(parser: Parser) -> None:
    taken = 0

    def endless() -> Iterator[list[str]]:
        nonlocal taken
        while True:
            taken += 1
            yield ["the", "dog", "saw"]

    results = parser.parse(endless(), look_ahead=60)
    assert next(results).words == ("the", "dog", "saw")
    assert taken <= 20
    for _ in range(100):
        next(results)
    assert taken <= 101 + 20


def test_without_look_ahead_nothing_is_held_back(parser: Parser) -> None:
    taken = 0

    def typed() -> Iterator[str]:
        nonlocal taken
        for text in ("the dog.", "", "Oslo found a dog."):
            taken += 1
            yield text

    results = parser.parse(typed(), look_ahead=0)
    next(results)
    assert taken == 1


@given(st.lists(st.integers(0, 30)), st.integers(0, 60))
@settings(deadline=None)
def test_windows_keep_everything_in_order(sizes: list[int], look_ahead: int) -> None:
    found = list(windows(sizes, int, look_ahead=look_ahead))
    assert [item for window in found for item in window] == sizes
    assert all(found)
    for window in found:
        assert sum(window[:-1]) < max(look_ahead, 1)
        assert len(window) <= look_ahead + 1


def test_batches_on_several_threads_give_the_same(parser: Parser, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("h3n.engine.engine.CPU_WORDS", 30)  # many batches
    given = sentences(80, seed=4)
    several = Parser(parser.engine, threads=3)
    expected = [(result.words, result.heads, result.spans) for result in parser.parse(given, look_ahead=200)]
    assert [(result.words, result.heads, result.spans) for result in several.parse(given, look_ahead=200)] == expected
    seen: set[str] = set()

    def watch(_: Sentence) -> None:
        seen.add(threading.current_thread().name)

    list(several.parse(given, constraints=watch, decoder="h3n"))
    assert seen
    assert all(name.startswith("h3n") for name in seen)


def test_a_stream_that_is_left_early_ends_its_threads(parser: Parser) -> None:
    before = threading.active_count()
    results = Parser(parser.engine, threads=2).parse(sentences(200, seed=5), look_ahead=50)
    next(results)
    results.close()  # type: ignore[attr-defined]
    assert threading.active_count() == before


def test_threads_have_work_while_results_are_taken() -> None:
    events: list[str] = []

    def parts() -> Iterator[list[str]]:
        for name in "abc":
            events.append(f"begin {name}")
            yield [name]
        raise ValueError("damaged")

    given = one_ahead(parts())
    for name in "abc":
        assert next(given) == name
        events.append(f"give {name}")
    assert events == ["begin a", "begin b", "give a", "begin c", "give b", "give c"]
    with pytest.raises(ValueError, match="damaged"):  # after all that came before it
        next(given)
    assert list(one_ahead([])) == []


def test_what_was_not_begun_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    stopped = threading.Event()

    class Pool(ThreadPoolExecutor):
        """Lets its work go on only when it is being shut down."""

        def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
            super().shutdown(wait=False, cancel_futures=cancel_futures)
            stopped.set()
            super().shutdown(wait=wait)

    begun: list[int] = []

    def work(number: int) -> None:
        begun.append(number)
        assert stopped.wait(timeout=60)

    monkeypatch.setattr("h3n.parser.threads.ThreadPoolExecutor", Pool)
    with mapper(2) as each:
        each(work, range(20))
    assert set(begun) <= {0, 1}


def test_several_threads_use_one_parser(parser: Parser) -> None:
    given = sentences(60, seed=1)
    expected = [(result.heads, result.spans) for result in parser.parse(given)]
    found: dict[int, list[Any]] = {}

    def work(number: int) -> None:
        found[number] = [(result.heads, result.spans) for result in parser.parse(given)]

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(found[number] == expected for number in range(4))
