"""Plain text in, both trees out: what `h3n.load` returns."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain, repeat
from pathlib import Path
from typing import Any, TypeAlias

import torch

from h3n.decode import Constraints, Parse, decode_batch
from h3n.errors import DecodeError, UnknownName, UsageError
from h3n.model.batch import Inputs
from h3n.model.devices import check_device
from h3n.model.int8 import pays_off
from h3n.model.int8_network import Int8Network
from h3n.model.limits import NO_LIMITS, Limits
from h3n.model.model import Model, Scored
from h3n.model.ranking import check_ranking
from h3n.models import locate
from h3n.parser.confidence import arc_confidences, span_confidences
from h3n.parser.held import check_holding, held_arcs, own_parse, with_own_relations
from h3n.parser.inputs import Parsable, Words, read
from h3n.parser.lazy import Found
from h3n.parser.processes import prepare_for_forks
from h3n.parser.required import show_required
from h3n.parser.results import Result, in_order
from h3n.parser.soft_labels import with_soft_labels
from h3n.parser.tables import frame
from h3n.parser.threads import Mapper, mapper
from h3n.parser.windows import LOOK_AHEAD, one_ahead, windows
from h3n.trees import Sentence

PRECISIONS = ("auto", "float32", "int8")
Wanted: TypeAlias = Constraints | Callable[[Sentence], Constraints | None] | None
_Batch: TypeAlias = tuple[list[int], list[Inputs]]


@dataclass(frozen=True, slots=True)
class _Asked:
    """How to decode."""

    decoder: str
    constraints: Wanted
    style: str | None = None
    head_score: str | None = None
    keep_arcs: bool = False
    soft_labels: bool = False

    def of(self, sentence: Sentence) -> Constraints | None:
        found = self.constraints(sentence) if callable(self.constraints) else self.constraints
        if not isinstance(found, Constraints | None):
            raise UsageError(f"the function of constraints gave {found!r}; accepted: Constraints or None")
        return found


def load(
    name: str | Path,
    *,
    device: str = "cpu",
    threads: int | None = None,
    precision: str = "auto",
    max_words: int = Limits.max_words,
    max_pieces: int = Limits.max_pieces,
) -> Parser:
    """Return a parser: a bundled one by name, one in a folder, or ``owner/name`` on the Hugging Face hub.

    ``device`` is one of torch's, or ``auto``. With ``threads`` that many batches are parsed at the same time, each on
    one processor; for that torch is told to use one thread itself, everywhere in this process. Without, batches come
    one after the other and torch does as it likes. ``precision`` is float32 or int8, which is for processors and a
    little less exact; ``auto`` is int8 where it is known to be faster and as accurate. A sentence of more than
    ``max_words`` words, or with a word that a pretrained model cuts into more than ``max_pieces`` pieces, is given out
    unparsed, with a note.
    """
    if threads is not None and threads < 1:
        raise UsageError(f"{threads} threads; 1 or more is accepted")
    if precision not in PRECISIONS:
        raise UnknownName("precision", precision, PRECISIONS)
    limits = Limits(max_words=max_words, max_pieces=max_pieces)
    chosen = _device(device)
    if precision == "int8" and chosen != "cpu":
        raise UsageError(f"precision int8 with device {chosen}; it is for cpu alone")
    prepare_for_forks()
    folder = locate(name)
    model = Model.load(folder, device=chosen)
    if precision == "auto":
        precision = "int8" if chosen == "cpu" and pays_off(model.network) else "float32"
    if precision == "int8":
        model = Model(Int8Network(model.network).eval(), model.vocabulary, model.config)
    if threads is not None:
        torch.set_num_threads(1)
    source = Source(folder.absolute(), chosen, threads, precision, limits)
    return Parser(model, threads=threads or 1, precision=precision, limits=limits, source=source)


@dataclass(frozen=True, slots=True)
class Source:
    """Where a parser was loaded from, and how: what a process needs to load it again."""

    folder: Path
    device: str
    threads: int | None
    precision: str
    limits: Limits

    def load(self) -> Parser:
        return load(
            self.folder,
            device=self.device,
            threads=self.threads,
            precision=self.precision,
            max_words=self.limits.max_words,
            max_pieces=self.limits.max_pieces,
        )


def _device(name: str) -> str:
    if name == "auto":
        return "cuda" if torch.cuda.is_available() else "mps" if torch.backends.mps.is_available() else "cpu"
    return check_device(name)


class Parser:
    """A model that parses text. It keeps no state between calls: several threads may use one at the same time."""

    def __init__(
        self,
        model: Model,
        *,
        threads: int = 1,
        precision: str = "float32",
        limits: Limits = NO_LIMITS,
        source: Source | None = None,
    ) -> None:
        self.model = model
        self.threads = threads
        self.precision = precision
        self.limits = limits
        self.source = source

    def __reduce__(self) -> tuple[Callable[[Source], Parser], tuple[Source]]:
        """Pickle where the parser is from, not its weights: another process loads it from there."""
        if self.source is None:
            raise UsageError("only a parser from h3n.load can be pickled: this one has no folder to be loaded from")
        return Source.load, (self.source,)

    def parse(
        self,
        source: Parsable | None = None,
        *,
        words: Words | None = None,
        decoder: str | None = None,
        head_score: str | None = None,
        constraints: Wanted = None,
        look_ahead: int = LOOK_AHEAD,
        retag: bool = False,
        style: str | None = None,
        keep_arcs: bool = False,
        soft_labels: bool = False,
    ) -> Iterator[Result]:
        """Return the parsed sentences one after the other, in the order they come in.

        ``source`` is a text, which is split into sentences and words; a `Sentence`, with its tags unless ``retag`` asks
        for predicted ones; or an iterable, such as a list or a generator, of texts, of lists of words, each of
        which is a sentence, or of instances of `Sentence`. A list of strings is thus a list of texts: the words of one
        sentence are given as ``words``. No more than about ``look_ahead`` words are read before their parses are given
        out (0: one sentence at a time); twice as many with several threads.
        ``constraints`` hold for every sentence, or are made for each by a function; with them decoding is exact (up to
        a length) unless another ``decoder`` is asked for, as heads chosen beforehand might not allow them. ``style``
        names the treebank whose annotation is to be followed, where the model learned from several; ``head_score`` what
        `h3n` takes the head of a span by, a name in `h3n.model.ranking.RANKINGS`. With ``keep_arcs`` a `Sentence` that
        has dependencies keeps them, and phrases are found that agree with them (`h3n.parser.held` says when none are).
        With ``soft_labels`` the sentence of a result says what else was likely, for another model to learn from.
        """
        chosen = self.model.decoder_for(decoder)
        if keep_arcs:
            check_holding(decoder, constrained=constraints is not None)
            constraints = held_arcs
        if decoder is None and constraints is not None and chosen == "h3n":
            chosen = "auto"
        if not (callable(constraints) or isinstance(constraints, Constraints | None)):
            kind = type(constraints).__name__
            raise UsageError(f"constraints of type {kind}; accepted: Constraints, or a function of a Sentence to them")
        if head_score is not None:
            check_ranking(head_score, ordered=self.model.network.order is not None)
        if look_ahead < 0:
            raise UsageError(f"a look-ahead of {look_ahead} words; 0 or more is accepted")
        self.model.vocabulary.style(style)  # an unknown name is said now, not with the first sentence
        inputs = read(source, words, keep_arcs=keep_arcs)
        if retag:
            inputs = ((number, replace(sentence, tags=None, upos=None)) for number, sentence in inputs)
        return self._results(inputs, _Asked(chosen, constraints, style, head_score, keep_arcs, soft_labels), look_ahead)

    def to_frame(
        self,
        source: Parsable | None = None,
        *,
        words: Words | None = None,
        rows: str = "words",
        library: str = "pandas",
        decoder: str | None = None,
    ) -> Any:
        """Return a data frame of pandas or polars with a row for each word, or for each of the phrases.

        `h3n.parser.frame` makes one of results that `parse` gave, with whatever options.
        """
        return frame(self.parse(source, words=words, decoder=decoder), rows=rows, library=library)

    def _results(self, inputs: Iterator[tuple[int, Sentence]], asked: _Asked, look_ahead: int) -> Iterator[Result]:
        with mapper(self.threads) as each:

            def begun() -> Iterator[Iterator[Result]]:
                done = 0
                for window in windows(inputs, lambda item: len(item[1]), look_ahead=look_ahead):
                    yield self._window(window, asked, each, first=done)
                    done += len(window)

            # While what was found is written and what comes next is read, threads have work to do.
            overlap = self.threads > 1 and look_ahead > 0
            yield from (one_ahead(begun()) if overlap else chain.from_iterable(begun()))

    def _window(
        self, window: Sequence[tuple[int, Sentence]], asked: _Asked, each: Mapper, *, first: int
    ) -> Iterator[Result]:
        """Begin to parse a window, as far as threads do that; return what comes of it."""
        sentences = [sentence for _, sentence in window]
        styles = [asked.style] * len(sentences) if asked.style else None
        inputs, notes = self._read(sentences, styles)
        batches = list(self.model.group(inputs))

        def work(batch: _Batch) -> list[Result]:
            chosen = [sentences[at] for at in batch[0]]
            try:
                sources = [window[at][0] for at in batch[0]]
                return self._parsed(self.model.score_batch(chosen, batch[1]), asked, sources)
            except DecodeError as error:
                raise _placed(error, [first + at for at in batch[0]], chosen) from None

        return in_order(window, [numbers for numbers, _ in batches], each(work, batches), notes)

    def _read(
        self, sentences: Sequence[Sentence], styles: Sequence[str] | None
    ) -> tuple[dict[int, Inputs], dict[int, str]]:
        """Return the inputs of the sentences within the limits, and why each of the others is not parsed."""
        notes = {at: note for at, one in enumerate(sentences) if (note := self.limits.refuse_words(len(one)))}
        inputs = self.model.read({at: one for at, one in enumerate(sentences) if at not in notes}, styles=styles)
        notes |= {at: note for at, one in inputs.items() if (note := self.limits.refuse_pieces(one))}
        return {at: one for at, one in inputs.items() if at not in notes}, notes

    def _parsed(self, scored: Scored, asked: _Asked, sources: Sequence[int]) -> list[Result]:
        wanted = None if asked.constraints is None else [asked.of(sentence) for sentence in scored.sentences]
        if wanted is not None:
            scored = show_required(self.model.network, scored, wanted, helper=self.model.vocabulary.helper)
        ready = self.model.prepare(scored, decoder=asked.decoder, head_score=asked.head_score)
        parses = decode_batch(ready, asked.decoder, constraints=wanted)
        return self.results(scored, parses, sources=sources, keep_arcs=asked.keep_arcs, soft_labels=asked.soft_labels)

    def results(
        self,
        scored: Scored,
        parses: Sequence[Parse],
        *,
        sources: Sequence[int] | None = None,
        keep_arcs: bool = False,
        soft_labels: bool = False,
    ) -> list[Result]:
        """Return the results of sentences of which the decoder has found the parses."""
        if keep_arcs:
            parses = list(map(own_parse, parses, scored.sentences))
        model, decoding = self.model, self.model.config.decoding
        spans = span_confidences(
            model.network,
            scored.output,
            parses,
            helper=model.vocabulary.helper,
            temperature=decoding.span_temperature,
            none=decoding.span_none,
        )
        arcs = (
            arc_confidences(scores, parse, temperature=decoding.arc_temperature)
            for scores, parse in zip(scored.scores, parses, strict=True)
        )
        named = model.name(scored, parses)
        if keep_arcs:
            named = list(map(with_own_relations, named, scored.sentences))
        if soft_labels:
            named = with_soft_labels(model, scored, named, keep_arcs=keep_arcs)
        return list(map(Result.of, map(Found, named, spans, arcs), sources if sources is not None else repeat(0)))


def _placed(error: DecodeError, numbers: Sequence[int], sentences: Sequence[Sentence]) -> DecodeError:
    """Return the error with the sentence's number in the stream in place of that in its batch."""
    if error.sentence is None:
        return error
    words = sentences[error.sentence].words
    excerpt = " ".join(words[:6]) + (" ..." if len(words) > 6 else "")
    return DecodeError(f"sentence {numbers[error.sentence] + 1} ({excerpt}): {error.reason}")
