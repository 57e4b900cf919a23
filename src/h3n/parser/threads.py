"""Several batches at the same time."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Protocol, TypeVar

LONGEST_END = 1.0  # seconds; a system may give the number of an ended thread to another one

Item = TypeVar("Item")
Value = TypeVar("Value")


class Mapper(Protocol):
    """What `map` is for one iterable."""

    def __call__(self, work: Callable[[Item], Value], items: Iterable[Item], /) -> Iterator[Value]: ...


@contextmanager
def mapper(threads: int) -> Iterator[Mapper]:
    """Yield a function that maps in the order of its input: `map`, or one that uses several threads."""
    if threads == 1:
        yield map
        return
    started: list[int] = []  # the numbers that the system gives to threads
    pool = ThreadPoolExecutor(
        threads, thread_name_prefix="h3n", initializer=lambda: started.append(threading.get_native_id())
    )
    try:
        yield pool.map
    finally:  # who stops asking for results waits for what is being parsed, not for what was to be
        pool.shutdown(cancel_futures=True)
        _wait_for_the_end(started)


def _wait_for_the_end(threads: Iterable[int]) -> None:
    """Wait, where the system tells, until threads are gone that Python has done with.

    At its very end a thread gives the memory of torch's matrix products back, and holds a lock of Intel's library for
    that. A process that is forked in that moment finds the lock held for ever, and its first product never ends.
    """
    latest = time.monotonic() + LONGEST_END
    for thread in threads:
        while Path(f"/proc/self/task/{thread}").exists() and time.monotonic() < latest:
            time.sleep(0.0002)
