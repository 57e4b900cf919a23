"""The engine of a cluster: Ray Data, with one model for each actor and a pool of them that grows and shrinks.

Ray moves the numbers of shards about, not their contents: an actor reads its input and writes its shard itself, so both
have to be where every machine sees them. An actor or machine that dies is replaced by Ray and its shard begun again.
"""

from __future__ import annotations

import json
import logging
import os
import socket
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from typing import Any

from h3n.corpus.shards import Shard
from h3n.corpus.storage import PRIVATE, Piece, protocol
from h3n.corpus.work import Done, Job, Workers, work
from h3n.errors import InputError, MissingExtra, UsageError

SECONDS = 20.0  # for a cluster to answer
# Ray says on standard error what it is doing; that is for whoever looks into Ray.
_QUIET = {"RAY_BACKEND_LOG_LEVEL": "fatal", "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0"}


class Actor:
    """A worker of the cluster: it has loaded the model and works on one shard after another."""

    def __init__(self, job: Job) -> None:
        self.job = job
        self.parser = job.load()

    def __call__(self, batch: dict[str, Any]) -> dict[str, list[str]]:
        """Do the shards of a batch, and return what is known of each."""
        shards = [_shard_of(json.loads(text)) for text in batch["shard"]]
        return {"done": [json.dumps(asdict(work(self.job, self.parser, shard))) for shard in shards]}


def _shard_of(fields: dict[str, Any]) -> Shard:
    return Shard(**fields | {"pieces": tuple(Piece(**piece) for piece in fields["pieces"])})


def run(job: Job, shards: Iterable[Shard], workers: Workers) -> Iterator[Done]:
    """Yield the shards as they are done."""
    todo = list(shards)
    if not todo:
        return
    urls = (job.out, *(piece.url for shard in todo for piece in shard.pieces))
    if any(protocol(url) in PRIVATE for url in urls):
        raise UsageError("memory:// is seen by one process alone; accepted with --engine ray: what all machines see")
    ray = _connected(workers.address)
    dataset = ray.data.from_items(
        [{"shard": json.dumps(asdict(shard))} for shard in todo], override_num_blocks=len(todo)
    )
    here = max(1, int(ray.cluster_resources().get("CPU", 1)))
    most = workers.count or here
    answers = dataset.map_batches(
        Actor,
        fn_constructor_args=(job,),
        batch_size=1,
        num_cpus=1,
        # All that fit begin at once; more than fit make a cluster that can grow do so.
        compute=ray.data.ActorPoolStrategy(min_size=1, initial_size=min(here, most, len(todo)), max_size=most),
    )
    try:
        for row in answers.iter_rows():
            yield Done(**json.loads(row["done"]))
    except ray.exceptions.RayError as error:
        raise InputError(f"the cluster cannot go on: {_reason(error)}; repeat the command to go on") from None


def _connected(address: str | None) -> Any:
    """Return ray, connected to a cluster: the one of this address, that of RAY_ADDRESS, or one of this machine."""
    if address is not None:
        _check_address(address)
    os.environ.update({name: value for name, value in _QUIET.items() if name not in os.environ})
    try:
        import ray
        import ray.data
        import ray.exceptions
    except ImportError:
        raise MissingExtra("clusters", "ray") from None
    if not ray.is_initialized():
        try:
            ray.init(address=address, log_to_driver=False, logging_level="ERROR", include_dashboard=False)
        except (ConnectionError, ValueError, RuntimeError) as error:
            raise InputError(f"no cluster at {address or 'RAY_ADDRESS'}: {_last_line(error)}") from None
    logging.getLogger("ray.data").setLevel(logging.ERROR)
    ray.data.DataContext.get_current().enable_progress_bars = False
    return ray


def _check_address(address: str) -> None:
    """Raise unless something answers there: Ray itself would try for minutes."""
    host, _, port = address.removeprefix("ray://").rpartition(":")
    if address == "auto":
        return
    if not host or not port.isdecimal():
        raise UsageError(f"--address {address}; accepted: host:port, ray://host:port, or auto")
    try:
        socket.create_connection((host, int(port)), timeout=SECONDS).close()
    except (OSError, OverflowError) as error:
        raise InputError(f"no cluster at {address}: {error}") from None


def _reason(error: Exception) -> str:
    """Return what went wrong in an actor, without the traceback of another machine."""
    cause = getattr(error, "cause", None)
    return _last_line(cause if isinstance(cause, Exception) else error)


def _last_line(error: BaseException) -> str:
    """Return the last line of an error of Ray: a traceback stands before it."""
    lines = [line for line in str(error).strip().splitlines() if line.strip()]
    return lines[-1] if lines else type(error).__name__
