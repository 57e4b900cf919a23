"""Scores that another thread changes while they are decoded, as a target: a tree comes out, or a refusal."""

from __future__ import annotations

import threading
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from h3n.decode import DECODERS, Parse, Scores, decode_batch
from h3n.decode.native import cky_nodes, tree_head_scores
from h3n.errors import DecodeError
from h3n.trees import ROOT, find_cycle
from tests.fuzz.driver import Target, one_line

VALUES = np.array([0, 1, -1, 1e30, -1e30, np.inf, -np.inf, np.nan], dtype=np.float32)


class Writer:
    """Writes odd numbers into arrays, again and again, until told to stop."""

    def __init__(self, arrays: list[NDArray[np.float32]], seed: int) -> None:
        self._arrays, self._rng, self._stop = arrays, np.random.default_rng(seed), threading.Event()
        self._thread = threading.Thread(target=self._write, daemon=True)

    def __enter__(self) -> None:
        self._thread.start()

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()

    def _write(self) -> None:
        while not self._stop.is_set():
            array = self._arrays[self._rng.integers(len(self._arrays))]
            share = self._rng.random(array.shape) < 0.3
            array[share] = self._rng.choice(VALUES, int(share.sum()))


def decode_moving(content: bytes) -> None:
    """Every decoder, with other numbers at every look."""
    seed = int.from_bytes(content, "big")
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 30))
    full = rng.normal(size=(n + 1, n + 1)).astype(np.float32)
    arrays = [full, np.maximum(full, 0), *(rng.normal(size=shape).astype(np.float32) for shape in ((n, n), (n,), (n,)))]
    label = rng.integers(0, 5, full.shape).astype(np.int32)
    scores = Scores(full=arrays[0], open=arrays[1], arc=arrays[2], root=arrays[3], head=arrays[4], label=label)
    threads = int(rng.integers(1, 3))
    attempts: list[Callable[[], object]] = [lambda: tree_head_scores([scores] * 2, threads=threads)]
    attempts.append(lambda: cky_nodes(full[None], arrays[1][None], label[None], lengths=[n], threads=threads))
    with Writer(arrays, seed):
        for name in DECODERS:
            _decode([scores] * 2, name, threads)
        for attempt in attempts:
            with one_line(DecodeError):
                attempt()


def _decode(sentences: list[Scores], name: str, threads: int) -> None:
    parses: list[Parse] = []
    with one_line(DecodeError):
        parses = decode_batch(sentences, name, threads=threads)
    for parse in parses:
        n = len(sentences[0])
        assert all(0 <= start < end <= n and -1 <= head < n for start, end, _, head in parse.spans)
        if parse.governors:
            assert len(parse.governors) == n
            assert all(governor == ROOT or 0 <= governor < n for governor in parse.governors)
            if name != "mst":  # it contracts cycles by scores that are not the same any more
                assert find_cycle(tuple(parse.governors)) is None


ARRAY_TARGETS = {"arrays": Target(lambda chance: chance.randbytes(8), decode_moving, share=6)}
