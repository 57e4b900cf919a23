"""The engine of one machine: a process for each processor, each with one shard at a time.

The model is loaded once, by a server from which the workers are forked (`h3n.corpus.preload`), so that its pages are
shared; where there are no forks each worker loads it. A worker that dies is replaced and its shard begun again. Workers
end with the process that started them, however that ends.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import threading
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from typing import Any

from h3n.corpus import preload
from h3n.corpus.shards import Shard
from h3n.corpus.storage import PRIVATE, protocol
from h3n.corpus.work import Done, Job, Workers, work
from h3n.errors import InputError, in_one_line
from h3n.system import processors

DEATHS = 3  # of workers at one shard, after which it is not tried again
METHOD = "forkserver" if "forkserver" in multiprocessing.get_all_start_methods() else "spawn"


def run(job: Job, shards: Iterable[Shard], workers: Workers) -> Iterator[Done]:
    """Yield the shards as they are done; one worker, or what other processes cannot see, is worked on right here."""
    todo = iter(shards)
    first = next(todo, None)
    if first is None:
        return
    count = workers.count or processors()
    if count > 1 and not _is_private(job, first):
        yield from _spread(job, first, todo, workers=count)
        return
    parser = job.load()
    yield work(job, parser, first)
    for shard in todo:
        yield work(job, parser, shard)


def _is_private(job: Job, shard: Shard) -> bool:
    return any(protocol(url) in PRIVATE for url in (job.out, *(piece.url for piece in shard.pieces)))


@dataclass(slots=True)
class _Worker:
    process: BaseProcess
    connection: Connection
    shard: Shard
    deaths: int = 0


def _spread(job: Job, first: Shard, todo: Iterator[Shard], *, workers: int) -> Iterator[Done]:
    """Give every worker a shard, and another when it is done."""
    pool: list[_Worker] = []
    try:
        shard: Shard | None = first
        while shard is not None and len(pool) < workers:
            pool.append(_start(job, shard))
            shard = next(todo, None) if len(pool) < workers else None
        while pool:
            ready = wait([worker.connection for worker in pool])
            for worker in [worker for worker in pool if worker.connection in ready]:
                answer = _answer(worker)
                if answer is None:
                    pool[pool.index(worker)] = _replace(job, worker)
                    continue
                if isinstance(answer, str):
                    raise InputError(answer)
                yield answer
                shard = next(todo, None)
                if shard is None:
                    pool.remove(worker)
                    _stop(worker)
                else:
                    worker.shard, worker.deaths = shard, 0
                    with contextlib.suppress(OSError):  # it has just died: said when it is waited for
                        worker.connection.send(shard)
    finally:
        for worker in pool:
            worker.process.kill()
        for worker in pool:
            _stop(worker)


def _start(job: Job, shard: Shard) -> _Worker:
    context: Any = multiprocessing.get_context(METHOD)  # all have processes, their common type has none
    if METHOD == "forkserver":
        context.set_forkserver_preload([preload.__name__])
    here, there = context.Pipe()
    process = context.Process(target=_serve, args=(job, there), daemon=True)
    os.environ[preload.VARIABLE] = preload.in_words(job)  # for the server, which starts with the first worker
    try:
        process.start()
    finally:
        del os.environ[preload.VARIABLE]
    there.close()
    worker = _Worker(process, here, shard)
    with contextlib.suppress(OSError):
        here.send(shard)
    return worker


def _answer(worker: _Worker) -> Done | str | None:
    """Return what a worker says: what it has done, or why it cannot go on, or nothing at all if it is dead."""
    try:
        answer: Done | str = worker.connection.recv()
    except (EOFError, OSError):
        return None
    return answer


def _replace(job: Job, dead: _Worker) -> _Worker:
    _stop(dead)
    if dead.deaths + 1 >= DEATHS:
        code = dead.process.exitcode
        raise InputError(
            f"{dead.shard}: {DEATHS} processes died at it (exit code {code}); is there enough memory? Repeat the "
            "command to go on"
        )
    worker = _start(job, dead.shard)
    worker.deaths = dead.deaths + 1
    return worker


def _stop(worker: _Worker) -> None:
    worker.connection.close()  # a worker that waits for a shard ends with that
    worker.process.join()


def _serve(job: Job, connection: Connection) -> None:
    """Work on the shards that come, until no more can come."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        threading.Thread(target=_end_with, args=(parent.sentinel,), daemon=True).start()
    try:
        parser = preload.parser_of(job)
        while (shard := _received(connection)) is not None:
            connection.send(work(job, parser, shard))
    except (BrokenPipeError, KeyboardInterrupt):  # whoever gives out the work is gone
        pass
    except MemoryError:
        raise SystemExit(1) from None  # another process may have more
    except BaseException as error:  # whatever it is, the run has to report it
        connection.send(in_one_line(error))


def _received(connection: Connection) -> Shard | None:
    """Return the next shard; None where no more will come."""
    try:
        shard: Shard = connection.recv()
    except (EOFError, OSError):
        return None
    return shard


def _end_with(sentinel: int) -> None:
    wait([sentinel])
    os._exit(1)
