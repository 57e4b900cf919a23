"""Several batches at the same time."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Protocol, TypeVar

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
    pool = ThreadPoolExecutor(threads, thread_name_prefix="h3n")
    try:
        yield pool.map
    finally:  # who stops asking for results waits for what is being parsed, not for what was to be
        pool.shutdown(cancel_futures=True)
