"""What the native decoders do when something happens meanwhile: a signal, a writer, a fork, many callers."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

from h3n.decode import DECODERS, Scores, cky_nodes, decode_batch, native, reference, tree_head_scores
from h3n.errors import DecodeError
from h3n.trees import ROOT, find_cycle

from .samples import check_heads, check_spans, random_scores

needs_timer = pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="this system has no interval timers")
needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork")


class Interrupted(Exception):
    pass


@contextmanager
def interrupt_after(seconds: float) -> Iterator[None]:
    """Send a signal once, whose handler raises as that of Ctrl-C does."""

    def handler(*_: object) -> None:
        raise Interrupted

    before = signal.signal(signal.SIGALRM, handler)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


@needs_timer
@pytest.mark.parametrize("threads", [1, 2, 3])
def test_a_signal_ends_a_long_decode(threads: int) -> None:
    """A sentence of 200 words takes the published decoder some seconds, and an hour those here."""
    long = random_scores(np.random.default_rng(0), 200)
    start = time.process_time()
    with pytest.raises(Interrupted), interrupt_after(0.2):
        native.decode([long] * 800, ["hpsg_n5"] * 800, threads=threads)
    assert time.process_time() - start < 30
    assert native.decode([long], ["h3n"], threads=threads) == [DECODERS["h3n"](long)]


@needs_timer
@pytest.mark.parametrize("name", ["cky", "mst", "eisner", "h3n", "hpsg"])
def test_every_decoder_can_be_interrupted(name: str) -> None:
    long = random_scores(np.random.default_rng(0), 300 if name == "hpsg" else 1500)
    with pytest.raises(Interrupted), interrupt_after(0.1):
        native.decode([long] * 20_000, [name] * 20_000)


@needs_timer
def test_training_can_be_interrupted() -> None:
    full, label = np.zeros((1, 601, 601), dtype=np.float32), np.ones((1, 601, 601), dtype=np.int32)
    many = [np.broadcast_to(array, (20_000, 601, 601)) for array in (full, label)]
    with pytest.raises(Interrupted), interrupt_after(0.1):
        cky_nodes(many[0], many[0], many[1], lengths=[600] * 20_000)


def test_other_threads_may_decode_while_one_waits() -> None:
    """Signals are looked for in the main thread alone; elsewhere a long decode runs to its end."""
    long = random_scores(np.random.default_rng(0), 230)
    parses: list[object] = []
    workers = [
        threading.Thread(target=lambda: parses.extend(decode_batch([long] * 4, "hpsg", threads=2))) for _ in "abc"
    ]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert parses == [DECODERS["hpsg"](long)] * 12


@pytest.mark.parametrize("name", [*native.NEEDS])
def test_scores_that_change_meanwhile_give_a_tree_or_an_error(name: str) -> None:
    rng = np.random.default_rng(1)
    scores = random_scores(rng, 40)
    stop = threading.Event()

    def scribble() -> None:
        noise = np.random.default_rng(2)
        while not stop.is_set():
            for array in (scores.full, scores.open, scores.arc, scores.root, scores.head):
                value = noise.choice([np.nan, np.inf, -np.inf, 3e38, -3e38, 0.0, 1.0])
                array[noise.random(array.shape) < 0.3] = value
            for array in (scores.full, scores.open, scores.arc, scores.root, scores.head):
                array[...] = 0.0

    writer = threading.Thread(target=scribble)
    writer.start()
    try:
        end = time.monotonic() + 0.7
        while time.monotonic() < end:
            try:
                parses = native.decode([scores] * 20, [name] * 20, threads=2)
            except DecodeError:
                continue
            for parse in parses:
                if parse is not None:
                    _check_shape(parse.spans, parse.governors, name)
    finally:
        stop.set()
        writer.join()


def _check_shape(spans: tuple[tuple[int, int, int, int], ...], governors: tuple[int, ...], name: str) -> None:
    if "arc" in native.NEEDS[name]:
        assert governors.count(ROOT) == 1
        assert find_cycle(governors) is None
    if "full" in native.NEEDS[name]:
        assert all(0 <= i < j <= 40 for i, j, *_ in spans)


@pytest.mark.parametrize("name", ["hpsg", "h3n", "hpsg_n5", "cky"])
def test_sums_too_large_for_32_bits_give_a_tree_or_an_error(name: str) -> None:
    huge = random_scores(np.random.default_rng(3), 12, forbid=0.1)
    scaled = {field: getattr(huge, field) * np.float32(1e38) for field in ("full", "open", "arc", "root")}
    for array in scaled.values():
        array[np.isnan(array)] = 0
    try:
        (parse,) = native.decode([Scores(**scaled, head=huge.head)], [name])
    except DecodeError:
        parse = None
    if parse is not None:
        check_spans(parse, 12)
        if name != "cky":
            check_heads(parse)


@needs_fork
def test_a_forked_child_decodes_with_threads_of_its_own() -> None:
    batch = [random_scores(np.random.default_rng(seed), 90) for seed in range(24)]
    expected = decode_batch(batch, "h3n", threads=3)
    busy = threading.Thread(target=lambda: [decode_batch(batch, "h3n", threads=3) for _ in range(200)])
    busy.start()  # so that the fork finds threads at work and locks held
    try:
        for _ in range(5):
            if (child := os.fork()) == 0:
                fine = all(decode_batch(batch, "h3n", threads=3) == expected for _ in range(3))
                os._exit(0 if fine else 1)
            assert _exit_code(child, seconds=60) == 0
    finally:
        busy.join()
    assert decode_batch(batch, "h3n", threads=3) == expected


def _exit_code(child: int, *, seconds: float) -> int:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        pid, status = os.waitpid(child, os.WNOHANG)
        if pid:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.01)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return -1


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads the threads of a process from /proc")
def test_threads_stand_ready_for_a_while_and_go() -> None:
    def count() -> int:
        return len(list(Path("/proc/self/task").iterdir()))

    batch = [random_scores(np.random.default_rng(seed), 90) for seed in range(24)]
    time.sleep(1.5)
    before = count()
    for _ in range(10):
        decode_batch(batch, "h3n", threads=3)
    assert before <= count() <= before + 2
    end = time.monotonic() + 30
    while count() > before and time.monotonic() < end:
        time.sleep(0.1)
    assert count() <= before


@pytest.mark.parametrize("threads", [1, 2])
def test_head_scores_by_tree_are_those_of_the_plain_twin(threads: int) -> None:
    rng = np.random.default_rng(6)
    batch = []
    for words in (0, 1, 2, 5, 12, 9, 0, 3):
        arc, root, head = (rng.normal(size=shape).astype(np.float32) for shape in ((words, words), words, words))
        batch.append(Scores(arc=arc, root=root, head=head * np.float32(10.0 ** rng.integers(-3, 9))))
    for scores, heads in zip(batch, tree_head_scores(batch, threads=threads), strict=True):
        assert heads.dtype == np.float32
        assert np.array_equal(heads, reference.tree_head_scores(scores))
    assert tree_head_scores([]) == []


def test_head_scores_by_tree_rank_governors_first_and_then_as_before() -> None:
    for words in (1, 7, 60, 200):
        scores = random_scores(np.random.default_rng(words), words)
        assert scores.head is not None
        (heads,) = tree_head_scores([scores])
        governors = DECODERS["eisner"](scores).governors
        assert sorted(heads) == list(range(1, words + 1))
        assert all(governor == ROOT or heads[governor] > heads[word] for word, governor in enumerate(governors))
        order = sorted(range(words), key=lambda word: -heads[word])
        for place, word in enumerate(order):
            placed = {ROOT, *order[:place]}
            ready = [one for one in order[place:] if governors[one] in placed]
            assert scores.head[word] == max(scores.head[one] for one in ready)


def test_head_scores_by_tree_refuse_what_decoders_refuse() -> None:
    scores = random_scores(np.random.default_rng(0), 5)
    arc, root, head = scores.arc, scores.root, scores.head
    nothing = np.full(5, -np.inf, dtype=np.float32)
    for bad, reason in (
        (Scores(arc=arc, root=root), "needs arc, root, head, but head is None"),
        (Scores(arc=arc, root=root, head=np.full(5, np.nan, dtype=np.float32)), r"head\[0\] is nan"),
        (Scores(arc=arc, root=nothing, head=head), "no tree has a finite score"),
    ):
        with pytest.raises(DecodeError, match=rf"sentence 1 of the batch: .*{reason}"):
            tree_head_scores([scores, bad])
