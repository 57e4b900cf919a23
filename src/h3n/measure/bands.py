"""The paper's speed table: one model, six ways to decode, sentences in three bands of length.

The network scores every sentence once and all decoders are run on these scores, batch by batch, so that no more than
one batch is in memory. Its time is part of every row. The published decoder takes many seconds for one long sentence:
in bands of long ones it is run on a sample, and its time for the rest follows from the fifth power of their lengths.
"""

from __future__ import annotations

import hashlib
import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from h3n.decode import EXACT_UP_TO, Parse, Scores, decode_batch, native
from h3n.errors import DecodeError, InputError, UnknownName, UsageError
from h3n.formats.lines import read_lines
from h3n.formats.options import Problems
from h3n.measure.paper import COMPLEXITY, PUBLISHED, PaperTime, paper_bands, paper_row
from h3n.measure.plots import finish_time_axes, new_figure, save_figure, time_axes, with_exponent
from h3n.measure.provenance import describe_parser, ran_text
from h3n.measure.tables import growth_text, rate_text, seconds_text, times_text
from h3n.measure.timing import Timing, curve_of, extrapolate, fit_exponent, least_with_result, spread
from h3n.trees import Sentence

if TYPE_CHECKING:
    from h3n.engine.engine import Engine, Scored
    from h3n.parser import Parser


NETWORK = "network"
FIT_FROM = 100  # words; `auto` goes over to the faster decoder there too
PUBLISHED_POWER = 5  # of the length, by which the published decoder's time grows


def rows_of(timings: Mapping[str, Sequence[Timing]], *, lengths: Sequence[int], scoring: float) -> list[dict[str, Any]]:
    """Return the rows of a band of these lengths; ``scoring`` is the network's time, a part of every row's total."""
    times = {name: extrapolate(some, lengths, power=PUBLISHED_POWER) for name, some in timings.items() if some}
    published = times.get(PUBLISHED, (math.nan, 0.0))[0]
    rows = []
    for name, (seconds, error) in times.items():
        measured = sum(timing.sentences for timing in timings[name])
        rows.append(
            {
                "decoder": name,
                "complexity": COMPLEXITY[name],
                "total_seconds": scoring + seconds,
                "sentences_per_second": len(lengths) / (scoring + seconds),
                "decoding_seconds": seconds,
                "total_speed_up": _number((scoring + published) / (scoring + seconds)),
                "decoding_speed_up": _number(published / seconds),
                "measured_sentences": measured,
                "extrapolated": measured < len(lengths),
                "relative_error": _number(error),
            }
        )
    return rows


def describe_bands(measured: Mapping[str, Any]) -> str:
    """Return the table as text, the paper's figures to the right."""
    lines: list[str] = []
    for band in measured["bands"]:
        lines += [*_band_lines(band), ""]
    grows = growth_text(measured["exponents"].items())
    if grows:
        lines.append(f"decoding of more than {FIT_FROM} words grows as: {grows}")
    lines.append(f"{ran_text(measured['ran'])}; {measured['clock']} time, one thread")
    lines.append(f"total = network + decoding; decoders: fastest of {measured['repeat']} runs, {PUBLISHED}: one run")
    if measured["head_score"] == "tree":
        lines.append("h3n and auto: with the time of the dependency tree that this model takes its head scores from")
    lines.append("paper: totals of 1,000 sentences on a V100, batches of 50")
    return "\n".join(lines)


def _band_lines(band: Mapping[str, Any]) -> Iterator[str]:
    name, rows, same = band["name"], band["rows"], band["same_score"]
    paper = f" (paper: 1,000 of {paper_bands()[name].words})" if name in paper_bands() else ""
    yield (
        f"{name} words: {band['sentences']:,} sentences of {band['mean_words']:.1f} words{paper}; "
        f"network {seconds_text(band['scoring_seconds'])}"
    )
    yield f"{'':<41}{'speed-up over n^5':>39}"
    heading = f"{'':<16}{'total':>12}{'sent./s':>11}{'decoding':>12}{'in total':>13}{'in decoding':>13}"
    yield f"{heading}   | {'paper':>11}{'sent./s':>10}{'speed-up':>10}"
    guessed = any(row["extrapolated"] for row in rows)
    for row in rows:
        yield _row_line(row, paper_row(name, row["decoder"]), guessed=guessed)
    for row in rows:
        if row["extrapolated"]:
            error = "" if row["relative_error"] is None else f", standard error {100 * row['relative_error']:.1f} %"
            yield f"~ from {row['measured_sentences']} sentences by the fifth power of the length{error}"
    if same["compared"]:
        verdict = f"{same['different']} DIFFER" if same["different"] else "the same score"
        yield f"hpsg and {PUBLISHED} on {same['compared']:,} sentences: {verdict} (by {same['largest']:.2g} at most)"


def _row_line(row: Mapping[str, Any], paper: PaperTime | None, *, guessed: bool) -> str:
    mark = "~" if row["extrapolated"] else ""
    gains = ["-", "-"]
    if row["decoder"] != PUBLISHED:
        gains = [times_text(row[key], mark="~" if guessed else "") for key in ("total_speed_up", "decoding_speed_up")]
    beside = ""
    if paper is not None:
        gain = "-" if paper.speed_up is None else f"{paper.speed_up:g} x"
        beside = f"   | {paper.seconds:>9,.1f} s{paper.sentences_per_second:>10g}{gain:>10}"
    return (
        f"{row['decoder']:<10}{row['complexity']:<6}{mark + seconds_text(row['total_seconds']):>12}"
        f"{mark + rate_text(row['sentences_per_second']):>11}{mark + seconds_text(row['decoding_seconds']):>12}"
        f"{gains[0]:>13}{gains[1]:>13}{beside}"
    )


def _number(value: float) -> float | None:
    return None if math.isnan(value) else value


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
        measure.run(band.sentences[:2], set(), lambda _: None)  # warm up: some work is done once in a process
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


# `auto` lies on `hpsg` and `h3n`, so it has gaps.
STYLES: dict[str, dict[str, Any]] = {
    PUBLISHED: {"color": "#D55E00", "marker": "s"},
    "hpsg": {"color": "#E69F00", "marker": "D"},
    "h3n": {"color": "#0072B2", "marker": "o"},
    "auto": {"color": "#000000", "marker": "", "linestyle": ":", "linewidth": 2, "zorder": 5},
    "mst": {"color": "#009E73", "marker": "^"},
    "cky": {"color": "#56B4E9", "marker": "v"},
    NETWORK: {"color": "#999999", "marker": "", "linestyle": "--"},
}


def plot_bands(measured: Mapping[str, Any], path: Path) -> None:
    """Write the curves of what `measure_bands` returned, with their exponents in the legend."""
    figure = new_figure(8, 5.5)
    axes = time_axes(figure, clock=measured["clock"])
    curves = {name: measured["curves"][name] for name in STYLES if measured["curves"].get(name)}
    curves |= {name: points for name, points in measured["curves"].items() if name not in curves and points}
    for name, points in curves.items():
        style = {"markersize": 4, "linewidth": 1.3, **STYLES.get(name, {})}
        x, y = [point["words"] for point in points], [point["milliseconds"] for point in points]
        axes.plot(x, y, label=_label(name, measured["exponents"].get(name)), **style)
    finish_time_axes(axes, title=f"growth above {FIT_FROM} words")
    save_figure(figure, path)


def _label(name: str, exponent: float | None) -> str:
    shown = {NETWORK: "network", "auto": f"auto: hpsg, above {EXACT_UP_TO} words h3n"}.get(name, name)
    return with_exponent(shown, exponent)
