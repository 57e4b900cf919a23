"""How fast text becomes trees: sentences per second, and where the time goes.

Rates are of wall-clock time, on as many threads as asked for; the parts are processor time on one thread, since they
are to be compared with each other. Of several runs the fastest counts.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from h3n import text as plain
from h3n.decode import decode_batch
from h3n.errors import InputError, UsageError
from h3n.measure.provenance import describe_parser, ran_text
from h3n.measure.samples import plain_text
from h3n.measure.timing import least

if TYPE_CHECKING:
    from h3n.parser import Parser

PARTS = ("segmentation", "reading", "encoding", "scoring", "decoding", "trees")


def read_text(file: Path | None) -> str:
    """Return the text of a file, or one of ours."""
    if file is None:
        return plain_text()
    try:
        text = file.read_text(encoding="utf-8").strip()
    except OSError as error:
        raise InputError(f"{file}: cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise InputError(f"{file}: not UTF-8 text") from None
    if not text:
        raise UsageError(f"{file}: there is no text in it")
    return text


def repeat_text(text: str, sentences: int) -> str:
    """Return a text repeated so often that it has at least so many sentences."""
    once = sum(1 for _ in plain.segment(text))
    return "\n\n".join([text] * -(-sentences // once))


def measure_parsing(parser: Parser, text: str, *, decoder: str, repeat: int) -> dict[str, Any]:
    """Return the rate of a parser on a text, the seconds of each part, and what ran."""
    count = sum(1 for _ in parser.parse(text, decoder=decoder))  # and everything is warm
    seconds = least(lambda: drain(parser, text, decoder), repeat=repeat, clock=time.perf_counter)
    parts = split_time(parser, text, decoder=decoder, repeat=repeat)
    words = sum(len(sentence) for sentence in plain.segment(text))
    return {
        "sentences": count,
        "words": words,
        "seconds": seconds,
        "sentences_per_second": count / seconds,
        "decoder": decoder,
        "threads": parser.threads,
        "ran": describe_parser(parser),
        "parts": parts,
        "decoding_share": parts["decoding"] / sum(parts.values()),
    }


def split_time(parser: Parser, text: str, *, decoder: str, repeat: int) -> dict[str, float]:
    """Return the processor seconds of each of `PARTS`, on one thread.

    Each part is run by itself on the output of the one before. Decoding has the ranking of heads in it. What is left of
    the whole is the making of trees, with the names of relations and tags and the confidences.
    """
    from h3n.parser import Parser

    model = parser.model
    steps: dict[str, list[Any]] = {}

    def cut() -> None:
        steps["sentences"] = list(plain.segment(text))

    def read() -> None:
        steps["batches"] = list(model.batches(steps["sentences"]))

    def score() -> None:
        given = steps["sentences"]
        steps["scored"] = [model.score_batch([given[at] for at in n], inputs) for n, inputs in steps["batches"]]

    def decode() -> None:
        for scored in steps["scored"]:
            decode_batch(model.prepare(scored, decoder=decoder), decoder)

    cutting, reading = least(cut, repeat=repeat), least(read, repeat=repeat)
    with ModuleTimer(model.network.encoder) as timer:
        scoring = least(lambda: timer.run(score), repeat=repeat)
    decoding = least(decode, repeat=repeat)
    steps.clear()
    whole = least(lambda: drain(Parser(model), text, decoder), repeat=repeat)
    encoding = min(timer.least, scoring)
    known = (cutting, reading, encoding, scoring - encoding, decoding)
    return dict(zip(PARTS, (*known, max(0.0, whole - sum(known))), strict=True))


class ModuleTimer:
    """Takes the processor time that a module spends in its forward pass, in one run and the least of several."""

    def __init__(self, module: Any) -> None:
        self.module = module
        self.least = float("inf")
        self._total = self._started = 0.0

    def __enter__(self) -> ModuleTimer:
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


def drain(parser: Parser, text: str, decoder: str = "auto") -> None:
    """Parse a text and keep nothing."""
    deque(parser.parse(text, decoder=decoder), 0)


def describe_parsing(measured: Mapping[str, Any]) -> str:
    """Return the figures as a table."""
    total = sum(measured["parts"].values())
    size = f"{measured['sentences']} sentences, {measured['words']} words"
    lines = [
        f"{size}; {measured['model']}, {measured['decoder']}; {measured['threads']} thread(s)",
        ran_text(measured["ran"]),
        f"{measured['sentences_per_second']:8.1f} sentences/s   text in, both trees out",
    ]
    lines += [f"{100 * taken / total:7.1f} %  {name}" for name, taken in measured["parts"].items()]
    for part, rate in measured.get("spacy", {}).items():
        ratio = measured["sentences_per_second"] / rate
        lines.append(f"{rate:8.1f} sentences/s   spaCy ({part}), dependencies alone: h3n is {ratio:.2f} times as fast")
    return "\n".join(lines)
