"""One shard from its input to its file, whoever does it: the work that every engine hands out.

A shard's file is the last thing that is written of it, so that a shard is done exactly where its file is. What it
depends on is the shard alone: the same sentences share a batch, however the work is spread.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from typing import Any

from h3n.corpus.counts import Counts
from h3n.corpus.documents import Item, Problem, read_shard
from h3n.corpus.manifest import checksum_of_model
from h3n.corpus.options import Options
from h3n.corpus.shards import Shard, shard_name
from h3n.corpus.storage import Folder
from h3n.corpus.writing import WRITERS, Write
from h3n.errors import H3nError, InputError, in_one_line
from h3n.models import locate
from h3n.parser import LOOK_AHEAD, Parser, Result, load

ERRORS, PROGRESS = "errors", "progress"
LONGEST = 4_096  # sentences of a window


@dataclass(frozen=True, slots=True)
class Job:
    """What a worker has to know: where to write, what with, and how. It loads the model itself."""

    out: str
    model: str
    sha256: str
    options: Options

    def load(self) -> Parser:
        """Return the parser, on one thread: there is a worker for every processor. All must have the same model."""
        folder, options = locate(self.model), self.options
        if checksum_of_model(folder) != self.sha256:
            raise InputError(f"{folder}: not the model the run was begun with; all machines need the same one")
        return load(
            folder,
            device=options.device,
            threads=1,
            precision=options.precision,
            max_words=options.max_words,
            max_pieces=options.max_pieces,
        )


@dataclass(frozen=True, slots=True)
class Workers:
    """Who works: how many processes at most (None: as many as there are processors), on which cluster."""

    count: int | None = None
    address: str | None = None


@dataclass(frozen=True, slots=True)
class Done:
    """What is known of a finished shard."""

    number: int
    size: int
    errors: int
    began: float
    ended: float
    processor: float
    counts: dict[str, Any]


def work(job: Job, parser: Parser, shard: Shard) -> Done:
    """Parse a shard and write it. An exception that nobody foresaw is an `InputError` that names shard and files."""
    try:
        return _work(job, parser, shard)
    except (H3nError, MemoryError, KeyboardInterrupt, SystemExit):
        raise
    except BaseException as error:
        raise InputError(f"{shard}: {in_one_line(error)}") from error


def _work(job: Job, parser: Parser, shard: Shard) -> Done:
    """Parse a shard and write it: its errors and counts first, then its file, which makes it count."""
    out, options = Folder(job.out), job.options
    began, processor = time.time(), time.process_time()
    counts, problems = Counts(), list[Problem]()
    with out.writing(shard_name(shard.number, options.output_format)) as handle:
        with WRITERS[options.output_format](handle) as write:
            for item, result in _parsed(parser, shard, options, problems):
                if result.note is None and result.confidence < options.min_confidence:
                    counts.left_out += 1
                else:
                    _write(item, result, write, counts, problems)
        if problems:
            lines = (json.dumps(asdict(problem), ensure_ascii=False) + "\n" for problem in problems)
            out.write(f"{ERRORS}/{errors_name(shard.number)}", "".join(lines).encode(errors="replace"))
        spent = time.process_time() - processor
        done = Done(shard.number, shard.size, len(problems), began, time.time(), spent, counts.as_table())
        out.write(f"{PROGRESS}/{progress_name(shard.number)}", json.dumps(asdict(done)).encode())
    return done


def errors_name(number: int) -> str:
    return f"part-{number:06d}.jsonl"


def progress_name(number: int) -> str:
    return f"part-{number:06d}.json"


def _write(item: Item, result: Result, write: Write, counts: Counts, problems: list[Problem]) -> None:
    if result.note is not None:
        problems.append(Problem(item.document, item.number, result.note))
    try:
        write(item, result)
    except H3nError as error:  # a word that the format cannot show
        problems.append(Problem(item.document, item.number, str(error)))
    else:
        counts.add(result, first=item.number == 0)


def _parsed(parser: Parser, shard: Shard, options: Options, problems: list[Problem]) -> Iterator[tuple[Item, Result]]:
    for window in _windows(read_shard(shard, options, problems.append, segmenter=parser.segmenter)):
        try:
            results = _parse(parser, window, options)
        except MemoryError:
            raise
        except Exception:  # at a sentence of them: each by itself, so that the others are parsed
            yield from _one_by_one(parser, window, options, problems)
        else:
            yield from zip(window, results, strict=True)


def _parse(parser: Parser, items: Iterable[Item], options: Options) -> list[Result]:
    sentences = [item.sentence for item in items]
    asked = parser.options(
        decoder=options.decoder,
        projective=options.projective or None,
        keep_arcs=options.keep_arcs,
        soft_labels=options.soft_labels,
    )
    read = [sentence for _, sentence in parser.read(sentences, retag=options.retag, keep_arcs=options.keep_arcs)]
    return parser.parse_batch(read, asked, styles=[options.style] * len(read), sources=range(len(read)))


def _one_by_one(
    parser: Parser, window: list[Item], options: Options, problems: list[Problem]
) -> Iterator[tuple[Item, Result]]:
    for item in window:
        try:
            (result,) = _parse(parser, [item], options)
        except MemoryError:
            raise
        except Exception as error:
            problems.append(Problem(item.document, item.number, f"cannot be parsed: {in_one_line(error)}"))
        else:
            yield item, result


def _windows(items: Iterable[Item]) -> Iterator[list[Item]]:
    """Yield the sentences in lists of about as many words as a parser looks ahead."""
    held: list[Item] = []
    words = 0
    for item in items:
        held.append(item)
        words += len(item.sentence)
        if words >= LOOK_AHEAD or len(held) >= LONGEST:
            yield held
            held, words = [], 0
    if held:
        yield held
