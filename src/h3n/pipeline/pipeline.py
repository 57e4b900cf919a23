"""Plain text in, both trees out: what `h3n.load` returns."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TypeAlias

import torch

from h3n.decode import DECODERS, Constraints, Scores
from h3n.errors import DecodeError, UnknownName, UsageError
from h3n.loading import locate
from h3n.parser import Parsed, Parser, Scored
from h3n.pipeline.confidence import arc_confidences, span_confidences
from h3n.pipeline.inputs import Parsable, read
from h3n.pipeline.results import Arc, LabelledSpan, Result
from h3n.pipeline.windows import LOOK_AHEAD, windows
from h3n.trees import HELPER, Sentence

_IN_BATCH = re.compile(r"sentence (\d+) of the batch: ")
Wanted: TypeAlias = Constraints | Callable[[Sentence], Constraints | None] | None


def load(name: str | Path, *, device: str = "cpu", threads: int | None = None) -> Pipeline:
    """Return a parser: a bundled one by name, one in a folder, or ``owner/name`` on the Hugging Face hub.

    ``device`` is one of torch's, or ``auto``. ``threads`` is the number for everything on the processor: torch's own
    setting for the whole process, which is left alone where none is given.
    """
    if threads is not None:
        if threads < 1:
            raise UsageError(f"{threads} threads; 1 or more is accepted")
        torch.set_num_threads(threads)
    return Pipeline(Parser.load(locate(name), device=_device(device)))


def _device(name: str) -> str:
    if name == "auto":
        return "cuda" if torch.cuda.is_available() else "mps" if torch.backends.mps.is_available() else "cpu"
    try:
        torch.empty(0, device=name)
    except (RuntimeError, AssertionError, NotImplementedError) as error:
        said = str(error).strip().splitlines()[0]
        raise UsageError(f"device {name!r} cannot be used: {said}; accepted: auto, cpu, cuda, cuda:1, mps") from None
    return name


class Pipeline:
    """A parser for text. It keeps no state between calls, so that several threads may use one at the same time."""

    def __init__(self, parser: Parser) -> None:
        self.parser = parser

    def parse(
        self,
        source: Parsable,
        *,
        decoder: str | None = None,
        constraints: Wanted = None,
        look_ahead: int = LOOK_AHEAD,
    ) -> Iterator[Result]:
        """Return the parsed sentences one after the other, in the order they come in.

        ``source`` is a text, which is cut into sentences and words; a list of words, which is one sentence; a
        `Sentence`, whose tags are kept; or an iterable of any of these, such as a generator, of which no more than
        about ``look_ahead`` words are read before their parses are given out (0: one sentence at a time).
        ``constraints`` hold for every sentence, or are made for each by a function; with them decoding is exact (up to
        a length) unless another ``decoder`` is asked for, as heads chosen beforehand might not allow them.
        """
        if decoder is not None and decoder not in DECODERS:
            raise UnknownName("decoder", decoder, DECODERS)
        if decoder is None and constraints is not None and self.parser.decoder_for(None) == "h3n":
            decoder = "auto"
        if look_ahead < 0:
            raise UsageError(f"a look-ahead of {look_ahead} words; 0 or more is accepted")
        return self._results(read(source), decoder, constraints, look_ahead)

    def _results(
        self, inputs: Iterator[tuple[int, Sentence]], decoder: str | None, constraints: Wanted, look_ahead: int
    ) -> Iterator[Result]:
        done = 0
        for window in windows(inputs, lambda item: len(item[1]), look_ahead=look_ahead):
            made: dict[int, Result] = {}
            for numbers, scored in self.parser.score([sentence for _, sentence in window]):
                try:
                    results = self._decoded(scored, decoder, constraints)
                except DecodeError as error:
                    raise _placed(error, [done + at for at in numbers], scored.sentences) from None
                made.update(zip(numbers, results, strict=True))
            for at, (source, sentence) in enumerate(window):
                result = made.get(at) or Result(sentence=sentence)  # nothing is found in a sentence without words
                yield replace(result, source=source) if source else result
            done += len(window)

    def _decoded(self, scored: Scored, decoder: str | None, constraints: Wanted) -> Iterator[Result]:
        wanted = None if constraints is None else [_constraints(s, constraints) for s in scored.sentences]
        parser, threads = self.parser, torch.get_num_threads()
        parsed = parser.decode(scored, decoder=decoder, threads=threads, constraints=wanted)
        parses = [one.parse for one in parsed]
        helper = parser.vocabulary.helper
        spans = span_confidences(parser.network, scored.output, parses, helper=helper)
        return map(self._result, parsed, scored.scores, spans)

    def _result(self, parsed: Parsed, scores: Scores, confidences: Sequence[float]) -> Result:
        parse, labels = parsed.parse, self.parser.vocabulary.labels
        spans = tuple(
            LabelledSpan(start, end, labels[label], None if head < 0 else head, confidence)
            for (start, end, label, head), confidence in zip(parse.spans, confidences, strict=True)
            if labels[label] != HELPER
        )
        dependencies = parsed.sentence.dependencies
        arcs: tuple[Arc, ...] = ()
        if dependencies is not None:
            sure = arc_confidences(scores, parse)
            arcs = tuple(map(Arc, range(len(sure)), dependencies.governors, dependencies.relations, sure))
        return Result(sentence=parsed.sentence, joint=parsed.joint, spans=spans, arcs=arcs, score=parse.score)


def _constraints(sentence: Sentence, wanted: Wanted) -> Constraints | None:
    return wanted(sentence) if callable(wanted) else wanted


def _placed(error: DecodeError, numbers: Sequence[int], sentences: Sequence[Sentence]) -> DecodeError:
    """Return the error with the sentence's number in the stream in place of that in its batch."""
    match = _IN_BATCH.match(str(error))
    if match is None:
        return error
    at = int(match[1])
    words = sentences[at].words
    excerpt = " ".join(words[:6]) + (" ..." if len(words) > 6 else "")
    return DecodeError(f"sentence {numbers[at] + 1} ({excerpt}): {str(error)[match.end() :]}")
