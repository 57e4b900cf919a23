"""A run from its arguments to its summary: plan, check, go on with what is missing."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol

from h3n.corpus import local, ray_engine
from h3n.corpus.inputs import find_inputs
from h3n.corpus.manifest import begin, checksum_of_model, manifest_of
from h3n.corpus.options import Options, size_of_shards
from h3n.corpus.shards import Shard, cut, shard_name
from h3n.corpus.status import Progress, read_progress
from h3n.corpus.storage import Folder, absolute
from h3n.corpus.summary import write_summary
from h3n.corpus.tables import arrow
from h3n.corpus.work import ERRORS, PROGRESS, Done, Job, Workers
from h3n.decode import DECODERS
from h3n.errors import UnknownName, UsageError
from h3n.models import installed, locate
from h3n.outputs import OUTPUTS
from h3n.system import locked


class Engine(Protocol):
    """What spreads shards over workers and yields what is known of each when it is done, in any order."""

    def __call__(self, job: Job, shards: Iterable[Shard], workers: Workers) -> Iterator[Done]: ...


ENGINES: dict[str, Engine] = {"local": local.run, "ray": ray_engine.run}


@dataclass(frozen=True, slots=True)
class Finished:
    """The outcome of a run."""

    shards: int
    sentences: int
    errors: int
    left_out: int = 0


def parse_corpus(
    inputs: Sequence[str],
    out: str | os.PathLike[str],
    *,
    model: str = "en",
    options: Options | None = None,
    engine: str = "local",
    workers: int | None = None,
    address: str | None = None,
    on_progress: Callable[[Progress], object] | None = None,
    on_note: Callable[[str], object] | None = None,
) -> Finished:
    """Parse files, folders, patterns or URLs of these into a folder of shards; go on where an earlier run stopped.

    ``workers`` are processes, by default one for each processor of the machine, or of the cluster at ``address``.
    ``on_progress`` is called when a shard is done, ``on_note`` with a line on each file of a folder that is left out
    because it is not a regular file. Another model, other options or other input than the folder was
    begun with are refused. A document that cannot be parsed is in the folder ``errors``, with its reason.
    """
    if engine not in ENGINES:
        raise UnknownName("engine", engine, ENGINES)
    if workers is not None and workers < 1:
        raise UsageError(f"{workers} workers; 1 or more is accepted")
    folder, chosen = Folder(absolute(os.fspath(out))), options or Options()
    if chosen.output_format == "parquet":
        arrow()
    files = find_inputs(inputs, chosen, out=folder.url, on_note=on_note)
    size = chosen.shard_size or size_of_shards(sum(one.size for one in files))
    shards = list(cut(files, size))
    job = _checked(
        Job(folder.url, _anywhere(model), checksum_of_model(locate(model)), replace(chosen, shard_size=size))
    )
    manifest = manifest_of(files, job.options, model=Path(model).name, sha256=job.sha256, shards=len(shards))
    with _held(folder):
        folder.create(ERRORS, PROGRESS)
        begin(folder, manifest)
        folder.remove_drafts(ERRORS, PROGRESS)
        missing = _missing(folder, shards, job.options)
        done = ENGINES[engine](job, missing, Workers(workers, address))
        _follow(shards, missing, done, on_progress)
        return _finish(folder, shards)


def _checked(job: Job) -> Job:
    """Raise what is wrong with a model or its options now and not in every worker; settle the precision."""
    parser, options = job.load(), job.options
    decoder = parser.decoder_for(options.decoder)
    output = OUTPUTS.get(options.output_format)  # Parquet, which is not one, needs nothing
    if output is not None and not output.needs <= DECODERS[decoder].finds:
        raise UsageError(f"decoder {decoder} finds the {DECODERS[decoder].about}, not what {output.name} shows")
    parser.engine.vocabulary.style(options.style)
    return replace(job, options=replace(options, precision=parser.precision))


def _anywhere(model: str) -> str:
    """Return a model's name, or its folder so that it means the same in every process."""
    return os.path.abspath(model) if Path(model).is_dir() and model not in installed() else model  # noqa: PTH100


@contextlib.contextmanager
def _held(folder: Folder) -> Iterator[None]:
    """Keep other runs out of a local folder. Object stores have no locks: two runs write the same bytes there."""
    if not folder.is_local:
        yield
        return
    with locked(folder.path, what="run"):
        yield


def _missing(folder: Folder, shards: Sequence[Shard], options: Options) -> list[Shard]:
    there = set(folder.names())
    return [shard for shard in shards if shard_name(shard.number, options.output_format) not in there]


def _follow(
    shards: Sequence[Shard],
    missing: Sequence[Shard],
    done: Iterator[Done],
    on_progress: Callable[[Progress], object] | None,
) -> None:
    """Let the shards be done, and report each."""
    progress = Progress(
        shards=len(shards),
        size=sum(shard.size for shard in shards),
        done=len(shards) - len(missing),
        done_size=sum(shard.size for shard in shards) - sum(shard.size for shard in missing),
        began=time.time(),
    )
    for one in done:
        progress = progress.after(one)
        if on_progress is not None:
            on_progress(progress)


def _finish(folder: Folder, shards: Sequence[Shard]) -> Finished:
    """Gather the errors of all shards in one table and write the summary."""
    records = read_progress(folder)
    numbers = [record.number for record in records if record.errors]
    lines = b"".join(folder.read(f"{ERRORS}/part-{number:06d}.jsonl") or b"" for number in numbers)
    folder.write("errors.jsonl", lines)
    write_summary(folder, records)
    errors = sum(record.errors for record in records)
    sentences, left_out = (sum(record.counts.get(name, 0) for record in records) for name in ("sentences", "left_out"))
    return Finished(len(shards), sentences, errors, left_out)
