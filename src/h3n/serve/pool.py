"""Work that takes longer than a moment, in threads of the service's own, which is given up when nobody waits for it.

Python cannot stop a thread from outside, so the work is handed a ticket and asks it between two steps. The threads are
daemons: none keeps the process alive.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Iterable, Iterator
from threading import Thread
from typing import Any, TypeVar

THREADS = 4
Answer = TypeVar("Answer")
Item = TypeVar("Item")


class GivenUp(Exception):
    """Nobody waits for the work any more: its client has gone or its time is over."""


class Ticket:
    """What work asks between two steps, such as sentences and fields: whether somebody still waits for it."""

    __slots__ = ("given_up",)

    def __init__(self) -> None:
        self.given_up = False

    def check(self) -> None:
        """Raise if the work is to end here."""
        if self.given_up:
            raise GivenUp


def attentively(ticket: Ticket, items: Iterable[Item]) -> Iterator[Item]:
    """Yield the items, and ask the ticket before each."""
    for item in items:
        ticket.check()
        yield item


class Pool:
    """So many threads at a time, each of which ends with its work. What comes meanwhile waits its turn."""

    def __init__(self, threads: int = THREADS) -> None:
        self._room = asyncio.Semaphore(threads)
        self.working = 0

    async def run(self, function: Callable[..., Answer], *arguments: Any) -> Answer:
        """Return what the function makes of a ticket and the arguments. Being cancelled gives the work up.

        A function that does not ask its ticket keeps its place until it ends, so that no number of requests makes more
        threads than these.
        """
        await self._room.acquire()
        loop, ticket = asyncio.get_running_loop(), Ticket()
        future: asyncio.Future[Answer] = loop.create_future()

        def done(settle: Callable[[Any], None], outcome: Any) -> None:
            self._leave()
            if not future.done():
                settle(outcome)

        def work() -> None:
            settled: tuple[Callable[[Any], None], Any]
            try:
                settled = future.set_result, function(ticket, *arguments)
            except Exception as error:
                settled = future.set_exception, error
            except BaseException as error:  # SystemExit, and what libraries in other languages panic with
                settled = future.set_exception, RuntimeError(f"work ended by {type(error).__name__}: {error}")
            with contextlib.suppress(RuntimeError):  # the event loop is closed: nobody waits any more
                loop.call_soon_threadsafe(done, *settled)

        self.working += 1
        try:
            Thread(target=work, name="h3n-work", daemon=True).start()
        except BaseException:
            self._leave()
            raise
        try:
            return await future
        finally:
            ticket.given_up = True

    def _leave(self) -> None:
        self.working -= 1
        self._room.release()
