"""The paper's speed table: one model, six ways to decode, sentences in three bands of length.

The network scores every sentence once and all decoders are run on these scores, batch by batch, so that no more than
one batch is in memory. Its time is part of every row. The published decoder takes many seconds for one long sentence:
in bands of long ones it is run on a sample, and its time for the rest follows from the fifth power of their lengths.
"""

from __future__ import annotations

import hashlib
import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from h3n.decode import Parse, Scores, decode_batch, native
from h3n.errors import DecodeError, InputError, UnknownName, UsageError
from h3n.formats.lines import read_lines
from h3n.formats.options import Problems
from h3n.measure.bands_table import FIT_FROM, NETWORK, rows_of
from h3n.measure.fits import Timing, curve_of, fit_exponent, spread
from h3n.measure.paper import COMPLEXITY, PUBLISHED
from h3n.measure.provenance import describe_parser
from h3n.measure.timing import least_with_result
from h3n.trees import Sentence

if TYPE_CHECKING:
    from h3n.engine.engine import Engine, Scored
    from h3n.parser import Parser

ROWS = ("cky", "mst", PUBLISHED, "hpsg", "h3n", "auto")
# Where the sentences of a band are looked for: one a line, words with blanks between, plain or compressed.
FILES = {"0-100": "band-001-099.wiki.txt", "100-200": "band-100-199.txt", "200-300": "band-200-299.txt"}
ENDINGS = ("", ".xz", ".gz", ".bz2")
SAMPLE = 16
WHOLE_UP_TO = 100  # words: in a band without longer sentences the published decoder is run on all

T = TypeVar("T")
OnProgress = Callable[[str, float], object]  # is told a band and the share of all work done


@dataclass(frozen=True, slots=True)
class Band:
    """Sentences to be measured together; ``file`` and ``checksum`` (SHA-256) say where they are from."""

    name: str
    sentences: tuple[Sentence, ...]
    file: str = ""
    checksum: str = ""

    @property
    def lengths(self) -> list[int]:
        return [len(sentence) for sentence in self.sentences]


def read_bands(folder: Path, *, limit: int = 0) -> list[Band]:
    """Return the bands of a folder; with a limit that many sentences of each, evenly spread by length."""
    return [_read_band(name, _find(folder, file), limit) for name, file in FILES.items()]


def _find(folder: Path, file: str) -> Path:
    for ending in ENDINGS:
        if (path := folder / (file + ending)).is_file():
            return path
    raise InputError(f"{folder}: no {file}; expected {', '.join(FILES.values())}, one sentence a line, or .xz of them")


def _read_band(name: str, path: Path, limit: int) -> Band:
    lines = (line.split() for line in read_lines(path, Problems(None)))
    sentences = [Sentence(words=tuple(words)) for words in lines if words]
    if not sentences:
        raise InputError(f"{path}: there is no sentence in it")
    kept = spread([len(sentence) for sentence in sentences], limit)
    checksum = hashlib.sha256(path.read_bytes()).hexdigest()
    return Band(name, tuple(sentences[at] for at in kept), path.name, checksum)


def measure_bands(
    parser: Parser,
    bands: Sequence[Band],
    *,
    decoders: Sequence[str] = ROWS,
    sample: int = SAMPLE,
    repeat: int = 3,
    progress: OnProgress | None = None,
) -> dict[str, Any]:
    """Return the table, the curves and what they grow as, ready for JSON.

    Times are processor time of this process (of the clock on the wall where the network is on another device). A batch
    is scored once; of ``repeat`` runs of a decoder on it the fastest counts, but the published one is run once, in a
    band of long sentences on ``sample`` of them (0: on all).
    """
    engine = parser.engine
    _check(engine, decoders, sample=sample, repeat=repeat)
    chosen = [_sampled(band, sample) if PUBLISHED in decoders else set() for band in bands]
    work = _Work(bands, chosen, repeat, progress)
    measure = _Measure(engine, tuple(decoders), repeat)
    for band in bands[:1]:
        measure.run(
            band.sentences[:2], set(), lambda _: None
        )  # what happens only at the first run of a process is not measured
    tallies = [
        measure.run(band.sentences, some, work.counter(band, some)) for band, some in zip(bands, chosen, strict=True)
    ]
    names = (NETWORK, *decoders)
    growing = [name for name in decoders if name != "auto"]  # which is one decoder or another
    curves = {
        name: curve_of([timing for tally in tallies for timing in tally.timings[name]], pivot=FIT_FROM)
        for name in names
    }
    return {
        "clock": measure.clock_name,
        "ran": describe_parser(parser),
        "head_score": engine.config.decoding.head_score,
        "repeat": repeat,
        "bands": [_report(band, tally) for band, tally in zip(bands, tallies, strict=True)],
        "curves": curves,
        "exponents": {name: _growth(curves[name]) for name in growing},
    }


def _growth(points: Sequence[dict[str, float]]) -> float | None:
    return fit_exponent([(point["words"], point["milliseconds"]) for point in points], above=FIT_FROM)


def _check(engine: Engine, decoders: Sequence[str], *, sample: int, repeat: int) -> None:
    for name in decoders:
        if name not in COMPLEXITY:
            raise UnknownName("decoder", name, COMPLEXITY)
        engine.decoder_for("hpsg" if name == PUBLISHED else name)
    if sample < 0 or repeat < 1:
        raise UsageError(f"a sample of {sample} and {repeat} runs; 0 or more and 1 or more are accepted")


def _sampled(band: Band, sample: int) -> set[int]:
    return set(spread(band.lengths, sample if max(band.lengths) > WHOLE_UP_TO else 0))


class _Work:
    """How much of the work is done, by what each sentence is expected to take."""

    def __init__(
        self, bands: Sequence[Band], chosen: Sequence[set[int]], repeat: int, progress: OnProgress | None
    ) -> None:
        self._repeat, self._progress, self._done = repeat, progress, 0.0
        pairs = zip(bands, chosen, strict=True)
        self._total = sum(self._seconds(n, at in some) for band, some in pairs for at, n in enumerate(band.lengths))

    def counter(self, band: Band, chosen: set[int]) -> Callable[[int], None]:
        """Return what is to be called with the number of each sentence of the band when it is done."""
        lengths = band.lengths

        def done(number: int) -> None:
            self._done += self._seconds(lengths[number], number in chosen)
            if self._progress is not None:
                self._progress(band.name, min(1.0, self._done / self._total))  # rounding adds up

        return done

    def _seconds(self, words: int, published: bool) -> float:
        """Return about what one processor takes; only proportions matter."""
        return 1e-3 * words + self._repeat * 2e-11 * words**4 + (1.4e-11 * words**5 if published else 0.0)


@dataclass(slots=True)
class _Tally:
    """What was measured in a band: times, and the scores of the same sentences in n^4 and in n^5."""

    timings: dict[str, list[Timing]]
    reading: float
    scores: list[tuple[float, float]] = field(default_factory=list)


class _Measure:
    """Takes the time of everything in a band."""

    def __init__(self, engine: Engine, decoders: tuple[str, ...], repeat: int) -> None:
        self._engine, self._decoders, self._repeat = engine, decoders, repeat
        on_processor = engine.network.device == "cpu"
        self._clock = time.process_time if on_processor else time.perf_counter
        self.clock_name = "processor" if on_processor else "wall-clock"

    def run(self, sentences: Sequence[Sentence], chosen: set[int], done: Callable[[int], None]) -> _Tally:
        """Return what the sentences take; the published decoder is run on those of the ``chosen`` numbers."""
        batches, reading = self._time(lambda: list(self._engine.group(self._engine.read(dict(enumerate(sentences))))))
        tally = _Tally({name: [] for name in (NETWORK, *self._decoders)}, reading)
        for numbers, inputs in batches:
            scored, seconds = self._time(partial(self._engine.score_batch, [sentences[at] for at in numbers], inputs))
            tally.timings[NETWORK].append(_timing(scored.scores, seconds))
            parses = {name: self._parses(scored, name, tally) for name in self._decoders if name != PUBLISHED}
            weighed = self._engine.weigh(scored.scores)
            for place, number in enumerate(numbers):
                if number in chosen:
                    exact = parses["hpsg"][place] if "hpsg" in parses else None
                    self._run_published(weighed[place], exact, tally)
                done(number)
        return tally

    def _run_published(self, scores: Scores, exact: Parse | None, tally: _Tally) -> None:
        [parse], seconds = self._time(lambda: native.decode([scores], [PUBLISHED]))
        if parse is None:
            raise DecodeError(f"a sentence of {len(scores)} words: no tree has a finite score")
        tally.timings[PUBLISHED].append(_timing([scores], seconds))
        if exact is not None:
            tally.scores.append((exact.score, parse.score))

    def _parses(self, scored: Scored, name: str, tally: _Tally) -> list[Parse]:
        """Return the parses. Ranking heads is a part of a decoder's time; weighing, the same for all, is not."""
        ranked, ranking = self._time(lambda: self._engine.rank(scored, decoder=name), self._repeat)
        weighed = self._engine.weigh(ranked)
        parses, decoding = self._time(lambda: decode_batch(weighed, name), self._repeat)
        tally.timings[name].append(_timing(scored.scores, ranking + decoding))
        return parses

    def _time(self, action: Callable[[], T], repeat: int = 1) -> tuple[T, float]:
        return least_with_result(action, repeat=repeat, clock=self._clock)


def _timing(scores: Sequence[Scores], seconds: float) -> Timing:
    return Timing(sum(map(len, scores)) / len(scores), len(scores), seconds)


def _report(band: Band, tally: _Tally) -> dict[str, Any]:
    lengths, timings = band.lengths, dict(tally.timings)
    scoring = tally.reading + sum(timing.seconds for timing in timings.pop(NETWORK))
    return {
        "name": band.name,
        "file": band.file,
        "sha256": band.checksum,
        "sentences": len(lengths),
        "mean_words": sum(lengths) / len(lengths),
        "longest": max(lengths),
        "scoring_seconds": scoring,
        "rows": rows_of(timings, lengths=lengths, scoring=scoring),
        "same_score": {
            "compared": len(tally.scores),
            "different": sum(not math.isclose(*pair, rel_tol=1e-5, abs_tol=1e-4) for pair in tally.scores),
            "largest": max((abs(one - other) for one, other in tally.scores), default=0.0),
        },
    }
