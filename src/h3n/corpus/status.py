"""How far a run is: what it says itself while it works, and what its folder tells anybody else."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace

from h3n.corpus.manifest import require_manifest
from h3n.corpus.options import OUTPUTS
from h3n.corpus.storage import Folder, each
from h3n.corpus.work import PROGRESS, Done

RECENT = 50  # shards of which the rate is told


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """How far a run is. Sizes are bytes of input, times seconds; what an earlier run did counts as done alone."""

    shards: int
    size: int
    done: int
    done_size: int
    began: float
    sentences: int = 0
    errors: int = 0
    new_size: int = 0
    seconds: float = 0.0

    def after(self, one: Done) -> Progress:
        """Return the progress with another shard done."""
        return replace(
            self,
            done=self.done + 1,
            done_size=self.done_size + one.size,
            sentences=self.sentences + one.counts["sentences"],
            errors=self.errors + one.errors,
            new_size=self.new_size + one.size,
            seconds=time.time() - self.began,
        )

    @property
    def rate(self) -> float:
        """Sentences in a second."""
        return self.sentences / self.seconds if self.seconds else 0.0

    @property
    def left(self) -> float | None:
        """Seconds that the rest will take; None where nothing is known yet."""
        if self.done == self.shards:
            return 0.0
        return (self.size - self.done_size) * self.seconds / self.new_size if self.new_size else None

    def __str__(self) -> str:
        share = 100 * self.done_size / self.size if self.size else 100.0
        left = "?" if self.left is None else _duration(self.left)
        errors = f"{self.errors:,} error{'' if self.errors == 1 else 's'}"
        done = f"{self.done:,} of {self.shards:,} shards ({share:.0f} %)"
        return f"{done}, {self.rate:,.1f} sentences/s, {left} left, {errors}"


def _duration(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    days, hours = divmod(hours, 24)
    if days:
        return f"{days} d {hours} h"
    return f"{hours}:{minutes:02d}:{rest:02d}"


def read_progress(folder: Folder) -> list[Done]:
    """Return what is known of every finished shard, in order."""
    there = {
        name.partition(".")[0]
        for name in folder.names()
        if name.startswith("part-") and name.endswith(tuple(OUTPUTS.values()))
    }
    names = [f"{PROGRESS}/{name}" for name in folder.names(PROGRESS) if name.partition(".")[0] in there]
    contents = each(folder.read, names, url=folder.url)
    return [Done(**json.loads(content)) for content in contents if content is not None]


@dataclass(frozen=True, slots=True)
class Status:
    """What a folder tells of its run: ``progress`` as of its last shards, and how long ago the last one was done."""

    progress: Progress
    model: str
    last: float | None
    sentences: int


def status_of(folder: Folder) -> Status:
    """Return how far the run of a folder is, whoever is at work there."""
    manifest = require_manifest(folder)
    records = read_progress(folder)
    size = sum(one["size"] for one in manifest["inputs"])
    recent = sorted(records, key=lambda record: record.ended)[-RECENT:]
    progress = Progress(
        shards=manifest["shards"],
        size=size,
        done=len(records),
        done_size=min(size, sum(record.size for record in records)) if len(records) < manifest["shards"] else size,
        began=min((record.began for record in recent), default=0.0),
        sentences=sum(record.counts["sentences"] for record in recent),
        errors=sum(record.errors for record in records),
        new_size=sum(record.size for record in recent),
        seconds=_span(recent),
    )
    total = sum(record.counts["sentences"] for record in records)
    last = time.time() - recent[-1].ended if recent else None
    return Status(progress, manifest["model"]["name"], last, total)


def _span(records: Sequence[Done]) -> float:
    """Return the time from the first beginning to the last end."""
    if not records:
        return 0.0
    return max(record.ended for record in records) - min(record.began for record in records)
