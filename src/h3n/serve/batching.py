"""Dynamic batches: the sentences of all clients that come within a few milliseconds are parsed together.

Requests wait in a ring and one thread parses. A batch takes a piece of every waiting request in turn, so that a short
request does not stand behind a long one. Sentences with constraints are parsed by themselves.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections import deque
from collections.abc import AsyncGenerator, Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from threading import Condition, Thread
from typing import TypeAlias

from h3n.decode import Constraints
from h3n.errors import H3nError
from h3n.parser import Result
from h3n.serve.metrics import Metrics
from h3n.serve.settings import Settings
from h3n.trees import Sentence

_log = logging.getLogger("h3n.serve")
PAUSE = 0.1  # seconds before the thread begins anew: what fails at once must not fill the log


class Full(Exception):
    """So much is waiting that a request is refused; ``seconds`` is when to try again."""

    def __init__(self, seconds: int) -> None:
        super().__init__(f"too many sentences are waiting; try again in {seconds} s")
        self.seconds = seconds


class Lost(Exception):
    """The thread that parses came to an unexpected end with these sentences in hand; another has taken its place."""

    def __init__(self) -> None:
        super().__init__("the thread that parsed these sentences failed; the log of the service says more")


class _Dropped(Exception):
    """Nobody waits for any sentence of a group."""


@dataclass(frozen=True, slots=True)
class ParseOptions:
    """How to parse; sentences of equal options may stand in one batch."""

    model: str
    decoder: str | None = None
    head_score: str | None = None
    style: str | None = None


ParseFunction: TypeAlias = Callable[[ParseOptions, Sequence[Sentence], Constraints | None], Iterable[Result]]
_Answer: TypeAlias = "list[Result] | Exception"


@dataclass(eq=False, slots=True)
class _Job:
    """A request's sentences while they wait, and the way its answers go back to the event loop."""

    parse_options: ParseOptions
    sentences: Sequence[Sentence]
    constraints: dict[int, Constraints]
    loop: asyncio.AbstractEventLoop
    answers: asyncio.Queue[_Answer] = field(default_factory=asyncio.Queue)
    taken: int = 0
    dropped: bool = False

    def take(self, room: int) -> _Piece:
        """Return the next sentences, as many as fit into a batch and at least one."""
        start = self.taken
        while self.taken < len(self.sentences):
            room -= len(self.sentences[self.taken])
            if room < 0 and self.taken > start:
                break
            self.taken += 1
        return _Piece(self, start, self.taken)


@dataclass(frozen=True, eq=False, slots=True)
class _Piece:
    """Some of a job's sentences, from ``start`` up to ``end``."""

    job: _Job
    start: int
    end: int

    @property
    def sentences(self) -> Sequence[Sentence]:
        return self.job.sentences[self.start : self.end]

    @property
    def words(self) -> int:
        return sum(map(len, self.sentences))


class Batcher:
    """A bounded queue of sentences and the thread that parses them."""

    def __init__(self, parse: ParseFunction, settings: Settings, metrics: Metrics) -> None:
        self._parse = parse
        self._settings = settings
        self._metrics = metrics
        self._jobs: deque[_Job] = deque()
        self._waiting = 0  # words
        self._speed = 2_000.0  # words per second: a guess until something was measured
        self._changed = Condition()
        self._closed = False
        self._in_hand: list[_Piece] = []  # taken and not answered yet
        self._thread = self._new_thread()

    def _new_thread(self) -> Thread:
        return Thread(target=self._work, name="h3n-batches", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def close(self, seconds: float | None = None) -> None:
        """Let the thread finish what waits, and wait for it: no longer than so many seconds."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()
        self._thread.join(seconds)

    @property
    def alive(self) -> bool:
        """Whether the thread is there, be it after the end of the service."""
        return self._thread.is_alive()

    def _restart_if_gone(self) -> None:
        """Start another thread in place of one that is gone without a trace; called with the lock held."""
        if self._thread.ident is not None and not self._thread.is_alive():
            _log.error("the thread that parses is gone; another takes its place")
            self._give_up()
            self._thread = self._new_thread()
            self._thread.start()

    @property
    def working(self) -> bool:
        return self.alive and not self._closed

    async def run(
        self,
        parse_options: ParseOptions,
        sentences: Sequence[Sentence],
        constraints: dict[int, Constraints] | None = None,
    ) -> AsyncGenerator[list[Result], None]:
        """Yield the results in order, piece by piece. Leaving early drops what is not parsed yet."""
        job = _Job(parse_options, sentences, constraints or {}, asyncio.get_running_loop())
        self._add(job)
        left = len(sentences)
        try:
            while left:
                answer = await job.answers.get()
                if isinstance(answer, Exception):
                    raise answer
                left -= len(answer)
                yield answer
        finally:
            self._remove(job)

    def _add(self, job: _Job) -> None:
        words = sum(map(len, job.sentences))
        with self._changed:
            if self._closed:
                raise Full(1)
            self._restart_if_gone()
            # What is within the limits of one request is taken at least when nothing else waits.
            if self._waiting and self._waiting + words > self._settings.limits.queue_words:
                raise Full(max(1, round(self._waiting / self._speed)))
            self._metrics.queue_requests.inc()
            if job.sentences:
                self._jobs.append(job)
                self._count(words)
                self._changed.notify_all()

    def _remove(self, job: _Job) -> None:
        with self._changed:
            job.dropped = True
            self._metrics.queue_requests.dec()
            if job in self._jobs:
                self._jobs.remove(job)
                self._count(-sum(map(len, job.sentences[job.taken :])))

    def _count(self, words: int) -> None:
        self._waiting += words
        self._metrics.queue_words.set(self._waiting)

    def _work(self) -> None:
        """Parse until the service is closed; whatever ends the work before fails what is in hand, and nothing else."""
        while True:
            try:
                self._answer_batches()
                return
            except BaseException:  # SystemExit too: nobody would parse from then on
                _log.exception("the thread that parses failed and begins anew")
                self._give_up()
                time.sleep(PAUSE)

    def _give_up(self) -> None:
        lost, self._in_hand = self._in_hand, []
        _send([(job, Lost()) for job in {piece.job for piece in lost}])

    def _answer_batches(self) -> None:
        while pieces := self._next():
            start = time.perf_counter()
            self._in_hand = pieces
            self._metrics.batches.observe(sum(len(piece.sentences) for piece in pieces))
            for group in _groups(pieces):
                self._answer(group)
                self._in_hand = [piece for piece in self._in_hand if piece not in group]
            seconds = time.perf_counter() - start
            self._metrics.batch_seconds.observe(seconds)
            self._speed = 0.8 * self._speed + 0.2 * sum(piece.words for piece in pieces) / max(seconds, 1e-6)

    def _next(self) -> list[_Piece]:
        """Return the pieces of the next batch: none if all is done and the service is closed."""
        with self._changed:
            while True:
                self._changed.wait_for(lambda: self._jobs or self._closed)
                self._wait_for_company()
                if self._jobs or self._closed:  # a client may have gone in the meantime
                    return self._take()

    def _wait_for_company(self) -> None:
        until = time.monotonic() + self._settings.window
        while self._waiting < self._settings.batch_words and not self._closed:
            if not self._changed.wait(max(0.0, until - time.monotonic())):
                return

    def _take(self) -> list[_Piece]:
        pieces: list[_Piece] = []
        room = self._settings.batch_words
        share = max(1, room // max(1, len(self._jobs)))
        while self._jobs and room > 0:
            job = self._jobs.popleft()
            piece = job.take(min(share, room))
            if job.taken < len(job.sentences):
                self._jobs.append(job)
            pieces.append(piece)
            room -= max(1, piece.words)
        self._count(-sum(piece.words for piece in pieces))
        return pieces

    def _answer(self, group: Sequence[_Piece]) -> None:
        """Parse pieces with the same options together; if that fails, each by itself, so that it fails alone."""
        group = [piece for piece in group if not piece.job.dropped]
        try:
            results = iter(self._parsed(group))
        except _Dropped:
            return
        except Exception as error:
            if len(group) > 1:
                for piece in group:
                    self._answer([piece])
                return
            if not isinstance(error, H3nError):
                _log.exception("a batch failed")
            _send([(group[0].job, error)])
            return
        self._metrics.sentences.inc(sum(len(piece.sentences) for piece in group))
        self._metrics.words.inc(sum(piece.words for piece in group))
        _send([(piece.job, [next(results) for _ in piece.sentences]) for piece in group])

    def _parsed(self, group: Sequence[_Piece]) -> list[Result]:
        if not group:
            return []
        results: list[Result] = []
        for result in self._one_by_one(group):
            results.append(result)
            if all(piece.job.dropped for piece in group):
                raise _Dropped
        return results

    def _one_by_one(self, group: Sequence[_Piece]) -> Iterator[Result]:
        job = group[0].job
        if not job.constraints:
            yield from self._parse(
                job.parse_options, [sentence for piece in group for sentence in piece.sentences], None
            )
            return
        (piece,) = group
        for number, sentence in enumerate(piece.sentences, start=piece.start):
            yield from self._parse(job.parse_options, [sentence], job.constraints.get(number))


def _send(answers: Sequence[tuple[_Job, _Answer]]) -> None:
    """Hand answers to the event loops that wait for them: once for all, as each time wakes the loop up."""

    def deliver(chosen: Sequence[tuple[_Job, _Answer]]) -> None:
        for job, answer in chosen:
            job.answers.put_nowait(answer)

    for loop in {job.loop for job, _ in answers}:
        with contextlib.suppress(RuntimeError):  # the event loop is closed: nobody waits any more
            loop.call_soon_threadsafe(deliver, [one for one in answers if one[0].loop is loop])


def _groups(pieces: Iterable[_Piece]) -> list[list[_Piece]]:
    """Return the pieces by their options; one with constraints stands alone."""
    groups: dict[object, list[_Piece]] = {}
    for piece in pieces:
        key: object = piece if piece.job.constraints else piece.job.parse_options
        groups.setdefault(key, []).append(piece)
    return list(groups.values())
