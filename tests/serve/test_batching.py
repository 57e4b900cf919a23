"""The queue: who is parsed with whom, what is refused, what is dropped. Parsing itself is a stand-in here."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Sequence
from contextlib import aclosing
from typing import Any

import pytest

pytest.importorskip("fastapi", reason="needs the extra serve")

from h3n.decode import Constraints
from h3n.errors import DecodeError
from h3n.parser import Result
from h3n.serve import ServiceLimits, Settings
from h3n.serve.batching import Batcher, Full, ParseOptions
from h3n.serve.metrics import Metrics
from h3n.trees import Sentence

OPTIONS = ParseOptions("model")
Call = tuple[ParseOptions, list[tuple[str, ...]], Constraints | None]


class Recorder:
    """Stands for a parser: keeps what it is asked, fails at the word `bad`, waits while its gate is shut."""

    def __init__(self) -> None:
        self.calls: list[Call] = []
        self.gate, self.entered = threading.Event(), threading.Event()
        self.gate.set()

    def __call__(
        self, parse_options: ParseOptions, sentences: Sequence[Sentence], constraints: Constraints | None
    ) -> list[Result]:
        self.entered.set()
        assert self.gate.wait(30)
        self.calls.append((parse_options, [sentence.words for sentence in sentences], constraints))
        if any("bad" in sentence.words for sentence in sentences):
            raise DecodeError("bad scores")
        return [Result(sentence=sentence) for sentence in sentences]


def sentence(*words: str) -> Sentence:
    return Sentence(words=words)


async def words_of(
    batcher: Batcher, *sentences: Sentence, parse_options: ParseOptions = OPTIONS, **options: Any
) -> list[tuple[str, ...]]:
    async with aclosing(batcher.run(parse_options, sentences, **options)) as pieces:
        return [result.words for piece in [piece async for piece in pieces] for result in piece]


def run(work: Callable[[Batcher, Recorder], Any], settings: Settings | None = None) -> tuple[Any, Recorder, Metrics]:
    recorder, metrics = Recorder(), Metrics()
    batcher = Batcher(recorder, settings or Settings(window=0.2), metrics)
    batcher.start()
    try:
        answer = asyncio.run(work(batcher, recorder))
    finally:
        recorder.gate.set()
        batcher.close()
    return answer, recorder, metrics


async def entered(recorder: Recorder) -> None:
    assert await asyncio.to_thread(recorder.entered.wait, 30)


def test_clients_that_come_together_share_a_batch_and_get_their_own_sentences() -> None:
    async def work(batcher: Batcher, _: Recorder) -> Any:
        return await asyncio.gather(*(words_of(batcher, sentence(f"a{i}"), sentence(f"b{i}")) for i in range(20)))

    answers, recorder, metrics = run(work)
    assert answers == [[(f"a{i}",), (f"b{i}",)] for i in range(20)]
    assert len(recorder.calls) == 1
    assert "h3n_sentences_total 40.0" in metrics.text()


def test_other_options_and_constraints_are_parsed_apart() -> None:
    constraints = Constraints(forbid_arcs=((0, 1),))

    async def work(batcher: Batcher, _: Recorder) -> Any:
        return await asyncio.gather(
            words_of(batcher, sentence("a")),
            words_of(batcher, sentence("b"), parse_options=ParseOptions("model", decoder="cky")),
            words_of(batcher, sentence("c"), sentence("d"), constraints={1: constraints}),
            words_of(batcher, sentence("e")),
        )

    answers, recorder, _ = run(work)
    assert answers == [[("a",)], [("b",)], [("c",), ("d",)], [("e",)]]
    assert sorted(recorder.calls, key=lambda call: call[1]) == [
        (OPTIONS, [("a",), ("e",)], None),
        (ParseOptions("model", decoder="cky"), [("b",)], None),
        (OPTIONS, [("c",)], None),
        (OPTIONS, [("d",)], constraints),
    ]


def test_failure_concerns_its_own_request_alone() -> None:
    async def work(batcher: Batcher, _: Recorder) -> Any:
        good, bad = words_of(batcher, sentence("good")), words_of(batcher, sentence("bad"))
        return await asyncio.gather(good, bad, return_exceptions=True)

    (good, bad), _, _ = run(work)
    assert good == [("good",)]
    assert isinstance(bad, DecodeError)


def test_full_queue_refuses_and_says_when_to_come_back() -> None:
    limits = ServiceLimits(queue_words=4)

    async def work(batcher: Batcher, recorder: Recorder) -> Any:
        recorder.gate.clear()
        first = asyncio.create_task(words_of(batcher, sentence("a")))
        await entered(recorder)
        second = asyncio.create_task(words_of(batcher, sentence("b", "c", "d", "e", "f")))  # taken: nothing waits
        await asyncio.sleep(0)
        with pytest.raises(Full) as refused:
            await words_of(batcher, sentence("g"))
        recorder.gate.set()
        return refused.value.seconds, await first, await second, await words_of(batcher, sentence("h"))

    (seconds, *answers), _, _ = run(work, Settings(limits=limits, window=0))
    assert seconds >= 1
    assert answers == [[("a",)], [("b", "c", "d", "e", "f")], [("h",)]]


def test_dropped_work_is_not_parsed_and_leaves_the_queue() -> None:
    async def work(batcher: Batcher, recorder: Recorder) -> Any:
        recorder.gate.clear()
        first = asyncio.create_task(words_of(batcher, sentence("a")))
        await entered(recorder)
        second = asyncio.create_task(words_of(batcher, sentence("b")))
        await asyncio.sleep(0.01)
        second.cancel()
        await asyncio.gather(second, return_exceptions=True)
        recorder.gate.set()
        return await first, await words_of(batcher, sentence("c"))

    answers, recorder, metrics = run(work, Settings(window=0))
    assert answers == ([("a",)], [("c",)])
    assert all(("b",) not in sentences for _, sentences, _ in recorder.calls)
    assert "h3n_queue_words 0.0" in metrics.text()
    assert "h3n_queue_requests 0.0" in metrics.text()


def test_short_request_does_not_wait_for_all_of_a_long_one() -> None:
    async def work(batcher: Batcher, recorder: Recorder) -> Any:
        recorder.gate.clear()
        first = asyncio.create_task(words_of(batcher, sentence("first")))
        await entered(recorder)
        many = [sentence("long")] * 100
        long = asyncio.create_task(words_of(batcher, *many))
        await asyncio.sleep(0.01)
        short = asyncio.create_task(words_of(batcher, sentence("short")))
        await asyncio.sleep(0.01)
        recorder.gate.set()
        return await asyncio.gather(first, long, short)

    answers, recorder, _ = run(work, Settings(window=0, batch_words=10))
    assert answers == [[("first",)], [("long",)] * 100, [("short",)]]
    assert ("short",) in recorder.calls[1][1]
    assert ("long",) in recorder.calls[1][1]
    assert len(recorder.calls) > 10


def test_closing_finishes_what_waits_and_takes_nothing_more() -> None:
    async def work(batcher: Batcher, recorder: Recorder) -> Any:
        recorder.gate.clear()
        waiting = [asyncio.create_task(words_of(batcher, sentence(name))) for name in "ab"]
        await entered(recorder)
        closing = asyncio.create_task(asyncio.to_thread(batcher.close))
        await asyncio.sleep(0.05)
        with pytest.raises(Full):
            await words_of(batcher, sentence("late"))
        recorder.gate.set()
        await closing
        return await asyncio.gather(*waiting)

    answers, _, _ = run(work, Settings(window=0))
    assert answers == [[("a",)], [("b",)]]


def test_histogram_counts_what_is_at_or_below_a_bound() -> None:
    metrics = Metrics()
    for size in (1, 2, 3, 1000):
        metrics.batches.observe(size)
    lines = metrics.text().splitlines()
    assert 'h3n_batch_sentences_bucket{le="1.0"} 1.0' in lines
    assert 'h3n_batch_sentences_bucket{le="4.0"} 3.0' in lines
    assert 'h3n_batch_sentences_bucket{le="+Inf"} 4.0' in lines
    assert "h3n_batch_sentences_sum 1006.0" in lines
