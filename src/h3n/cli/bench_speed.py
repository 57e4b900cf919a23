"""How fast text becomes trees: sentences per second, where the time goes, and others on the same text.

Rates are of wall-clock time, on as many threads as asked for; the parts are processor time on one thread, since they
are to be compared with each other. Of several runs the fastest counts.
"""

from __future__ import annotations

import gc
import json
import time
from collections import deque
from collections.abc import Callable
from functools import partial
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from h3n import text as plain
from h3n.cli import bench_bands
from h3n.errors import InputError, UsageError
from h3n.experiments.bands import SAMPLE
from h3n.trees import Sentence

if TYPE_CHECKING:
    from h3n.parser import Parser

PARTS = ("segmentation", "reading", "encoding", "scoring", "decoding", "trees")


def speed(
    context: typer.Context,
    file: Annotated[Path | None, typer.Argument(metavar="[FILE]", help="A text; by default one of ours.")] = None,
    model: Annotated[str, typer.Option("--model", "-m", metavar="NAME|DIR", help="As for h3n parse.")] = "en",
    decoder: Annotated[str, typer.Option(metavar="NAME", help="As for h3n parse.")] = "auto",
    precision: Annotated[str, typer.Option(help="As for h3n parse.")] = "auto",
    threads: Annotated[int, typer.Option(min=1, help="Batches parsed at the same time.")] = 2,
    sentences: Annotated[int, typer.Option(min=1, help="The text is repeated to this many sentences.")] = 500,
    repeat: Annotated[int, typer.Option(min=1, help="Runs, of which the fastest counts.")] = 3,
    spacy: Annotated[
        str | None, typer.Option(metavar="NAME|DIR", help="A spaCy pipeline to measure on the same text.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")] = False,
    bands: Annotated[
        bool, typer.Option("--bands", help="The paper's speed table instead: all decoders, three bands of length.")
    ] = False,
    data: Annotated[
        Path | None, typer.Option(metavar="FOLDER", help="With --bands: its sentences; by default $H3N_DATA/raw.")
    ] = None,
    sample: Annotated[
        int, typer.Option(min=0, help="With --bands: long sentences for the published decoder (0: all, takes hours).")
    ] = SAMPLE,
    limit: Annotated[int, typer.Option(min=0, help="With --bands: sentences of each band (0: all).")] = 0,
    plot: Annotated[
        Path | None, typer.Option(metavar="FILE", help="With --bands: draw the curves, log-log (.png, .svg, .pdf).")
    ] = None,
) -> None:
    """Measure parsing from plain text to both trees: sentences per second, and the share of each part."""
    bench_bands.check_options(context, bands=bands)
    if bands:
        bench_bands.run(
            model, data, precision=precision, sample=sample, limit=limit, repeat=repeat, plot=plot, as_json=as_json
        )
        return
    from h3n.parser import load

    text = _repeated(_read(file), sentences)
    parser = load(model, threads=threads, precision=precision)
    gc.freeze()  # as h3n parse does
    found = measure(parser, text, decoder=decoder, repeat=repeat)
    found |= {"model": model, "decoder": decoder, "precision": parser.precision, "threads": threads}
    if spacy is not None:
        found["spacy"] = spacy_rates(spacy, text, count=found["sentences"], repeat=repeat)
    typer.echo(json.dumps(found) if as_json else describe(found))


def measure(parser: Parser, text: str, *, decoder: str, repeat: int) -> dict[str, Any]:
    """Return the rate of a parser on a text, and the seconds of each part."""
    count = sum(1 for _ in parser.parse(text, decoder=decoder))  # and everything is warm
    seconds = _least(lambda: _drain(parser, text, decoder), time.perf_counter, repeat)
    parts = split_time(parser, text, decoder=decoder, repeat=repeat)
    words = sum(len(sentence) for sentence in plain.segment(text))
    return {
        "sentences": count,
        "words": words,
        "seconds": seconds,
        "sentences_per_second": count / seconds,
        "parts": parts,
        "decoding_share": parts["decoding"] / sum(parts.values()),
    }


def split_time(parser: Parser, text: str, *, decoder: str, repeat: int) -> dict[str, float]:
    """Return the processor seconds of each of `PARTS`, on one thread.

    Each part is run by itself on the output of the one before; what is left of the whole is the making of trees, with
    the names of relations and tags and the confidences.
    """
    from h3n.decode import decode_batch, weigh
    from h3n.parser import Parser

    inner = parser.model
    found: dict[str, list[Any]] = {}

    def cut() -> None:
        found["sentences"] = list(plain.segment(text))

    def read() -> None:
        found["batches"] = list(inner.batches(found["sentences"]))

    def score() -> None:
        given: list[Sentence] = found["sentences"]
        found["scored"] = [inner.score_batch([given[at] for at in n], inputs) for n, inputs in found["batches"]]

    def decode() -> None:
        weight = inner.config.decoding.weight
        for scored in found["scored"]:
            decode_batch([weigh(scores, weight) for scores in scored.scores], decoder)

    least = {name.__name__: _least(name, time.process_time, repeat) for name in (cut, read)}
    with _Watch(inner.network.encoder) as watch:
        least["score"] = _least(lambda: watch.run(score), time.process_time, repeat)
    least["decode"] = _least(decode, time.process_time, repeat)
    found.clear()
    whole = _least(lambda: _drain(Parser(inner), text, decoder), time.process_time, repeat)
    encoding = min(watch.least, least["score"])
    known = (least["cut"], least["read"], encoding, least["score"] - encoding, least["decode"])
    return dict(zip(PARTS, (*known, max(0.0, whole - sum(known))), strict=True))


class _Watch:
    """Takes the processor time that a module spends in its forward pass, in one run and the least of several."""

    def __init__(self, module: Any) -> None:
        self.module = module
        self.least = float("inf")
        self._total = self._started = 0.0

    def __enter__(self) -> _Watch:
        self._hooks = [
            self.module.register_forward_pre_hook(lambda *_: self._start()),
            self.module.register_forward_hook(lambda *_: self._stop()),
        ]
        return self

    def __exit__(self, *_: object) -> None:
        for hook in self._hooks:
            hook.remove()

    def run(self, action: Callable[[], None]) -> None:
        self._total = 0.0
        action()
        self.least = min(self.least, self._total)

    def _start(self) -> None:
        self._started = time.process_time()

    def _stop(self) -> None:
        self._total += time.process_time() - self._started


def spacy_rates(name: str, text: str, *, count: int, repeat: int) -> dict[str, float]:
    """Return how many of our sentences a spaCy pipeline parses per second, a paragraph being one of its documents.

    ``whole`` is the pipeline as it comes, names and lemmas included; ``parser`` its tagger and parser alone.
    """
    try:
        import spacy
    except ImportError:
        raise UsageError("--spacy: spaCy is not installed: pip install spacy") from None
    documents = text.split("\n\n")
    rates = {}
    for part, left_out in (("whole", []), ("parser", ["ner", "lemmatizer", "attribute_ruler"])):
        try:
            pipeline = spacy.load(name, exclude=left_out)
        except OSError as error:
            raise InputError(f"spaCy pipeline {name!r} cannot be loaded: {str(error).splitlines()[0]}") from None
        # Once more than ours: the first run is for warming up.
        run = partial(_drain_spacy, pipeline, documents)
        rates[part] = count / _least(run, time.perf_counter, repeat + 1)
    return rates


def describe(found: dict[str, Any]) -> str:
    """Return the figures as a table."""
    total = sum(found["parts"].values())
    settings = ", ".join(str(found[name]) for name in ("model", "decoder", "precision"))
    lines = [
        f"{found['sentences']} sentences, {found['words']} words; {settings}; {found['threads']} thread(s)",
        f"{found['sentences_per_second']:8.1f} sentences/s   text in, both trees out",
    ]
    lines += [f"{100 * taken / total:7.1f} %  {name}" for name, taken in found["parts"].items()]
    for part, rate in found.get("spacy", {}).items():
        ratio = found["sentences_per_second"] / rate
        lines.append(f"{rate:8.1f} sentences/s   spaCy ({part}), dependencies alone: h3n is {ratio:.2f} times as fast")
    return "\n".join(lines)


def _read(file: Path | None) -> str:
    try:
        source = files("h3n.cli") / "bench_text.txt" if file is None else file
        text = source.read_text(encoding="utf-8").strip()
    except OSError as error:
        raise InputError(f"{file}: cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise InputError(f"{file}: not UTF-8 text") from None
    if not text:
        raise UsageError(f"{file}: there is no text in it")
    return text


def _repeated(text: str, sentences: int) -> str:
    once = sum(1 for _ in plain.segment(text))
    return "\n\n".join([text] * -(-sentences // once))


def _drain(parser: Parser, text: str, decoder: str) -> None:
    deque(parser.parse(text, decoder=decoder), 0)


def _drain_spacy(pipeline: Any, documents: list[str]) -> None:
    deque(pipeline.pipe(documents), 0)


def _least(action: Callable[[], object], clock: Callable[[], float], repeat: int) -> float:
    best = float("inf")
    for _ in range(repeat):
        started = clock()
        action()
        best = min(best, clock() - started)
    return best
