"""Plain text in, both trees out: what `h3n.load` returns."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, repeat
from pathlib import Path
from typing import Any, TypeAlias

from h3n.decode import Constraints
from h3n.engine.confidence import governor_confidences, span_confidences
from h3n.engine.engine import Engine, Scored
from h3n.engine.inputs import Inputs
from h3n.engine.limits import NO_LIMITS, Limits
from h3n.engine.ranking import check_ranking
from h3n.errors import DecodeError, UnknownName, UsageError
from h3n.models import locate
from h3n.parser.held import check_holding, held_arcs, own_parse, with_own_relations
from h3n.parser.inputs import Parsable, Words, read
from h3n.parser.lazy import Found
from h3n.parser.loading import PRECISIONS, load_engine
from h3n.parser.results import Result
from h3n.parser.soft_labels import with_soft_labels
from h3n.parser.tables import frame
from h3n.parser.threads import Mapper, mapper
from h3n.parser.windows import LOOK_AHEAD, one_ahead, windows
from h3n.text import Segmenter
from h3n.trees import Sentence

ConstraintsFor: TypeAlias = Constraints | Callable[[Sentence], Constraints | None] | None
_Batch: TypeAlias = tuple[list[int], list[Inputs]]


@dataclass(frozen=True, slots=True, kw_only=True)
class ParseOptions:
    """How sentences are parsed; `Parser.options` makes them, with every name checked."""

    decoder: str
    weight: float | None = None
    head_score: str | None = None
    projective: bool | None = None
    constraints: ConstraintsFor = None
    keep_arcs: bool = False
    soft_labels: bool = False

    def constraints_of(self, sentence: Sentence) -> Constraints | None:
        """Return what must hold for a sentence."""
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

    On ``cpu`` it needs neither torch nor transformers, unless the model's encoder is one that only they know; any other
    ``device`` is one of torch's, or ``auto``. With ``threads`` that many batches are parsed at the same time, each on
    one processor. ``precision`` is float32 or int8, which is native code for processors and a little less exact;
    ``auto`` is int8 where it is known to be faster and as accurate. A sentence of more than ``max_words`` words, or
    with a word that a pretrained model cuts into more than ``max_pieces`` pieces, is given out unparsed, with a note.
    """
    if threads is not None and threads < 1:
        raise UsageError(f"{threads} threads; 1 or more is accepted")
    if precision not in PRECISIONS:
        raise UnknownName("precision", precision, PRECISIONS)
    limits = Limits(max_words=max_words, max_pieces=max_pieces)
    folder = locate(name)
    engine = load_engine(folder, device=device, precision=precision, one_thread=threads is not None)
    source = Source(folder.absolute(), engine.network.device, threads, engine.network.precision, limits)
    return Parser(engine, threads=threads or 1, limits=limits, source=source)


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


class Parser:
    """A model that parses text. It keeps no state between calls: several threads may use one at the same time."""

    def __init__(
        self, engine: Engine, *, threads: int = 1, limits: Limits = NO_LIMITS, source: Source | None = None
    ) -> None:
        self.engine = engine
        self.threads = threads
        self.limits = limits
        self.source = source

    def __reduce__(self) -> tuple[Callable[[Source], Parser], tuple[Source]]:
        """Pickle where the parser is from, not its weights: another process loads it from there."""
        if self.source is None:
            raise UsageError("only a parser from h3n.load can be pickled: this one has no folder to be loaded from")
        return Source.load, (self.source,)

    @property
    def precision(self) -> str:
        """``float32`` or ``int8``."""
        return self.engine.network.precision

    def decoder_for(self, decoder: str | None, *, constrained: bool = False) -> str:
        """Return the decoder that is used if this one is asked for.

        With constraints decoding is exact (up to a length) unless another decoder is asked for: heads that `h3n` takes
        beforehand might not allow them.
        """
        chosen = self.engine.decoder_for(decoder)
        return "auto" if decoder is None and constrained and chosen == "h3n" else chosen

    @property
    def segmenter(self) -> Segmenter:
        """What makes sentences and words of text: rules, or what the model has learned."""
        return self.engine.segmenter

    def segment(self, text: str | Iterable[str], *, newlines: str = "paragraph") -> Iterator[Sentence]:
        """Yield the sentences of a text, or of a text that comes in pieces, as the model's segmenter finds them.

        With ``newlines="sentence"`` every line end ends a sentence.
        """
        return self.segmenter.segment(text, newlines=newlines)

    def options(
        self,
        *,
        decoder: str | None = None,
        weight: float | None = None,
        head_score: str | None = None,
        projective: bool | None = None,
        constraints: ConstraintsFor = None,
        keep_arcs: bool = False,
        soft_labels: bool = False,
    ) -> ParseOptions:
        """Return how to parse; see `parse`. What cannot be asked of this parser is refused here."""
        if keep_arcs:
            check_holding(decoder, constrained=constraints is not None)
            constraints = held_arcs
        if not (callable(constraints) or isinstance(constraints, Constraints | None)):
            kind = type(constraints).__name__
            raise UsageError(f"constraints of type {kind}; accepted: Constraints, or a function of a Sentence to them")
        chosen = self.decoder_for(decoder, constrained=constraints is not None)
        if head_score is not None:
            check_ranking(head_score, ordered=self.engine.network.ordered)
        return ParseOptions(
            decoder=chosen,
            weight=weight,
            head_score=head_score,
            projective=projective,
            constraints=constraints,
            keep_arcs=keep_arcs,
            soft_labels=soft_labels,
        )

    def parse(
        self,
        source: Parsable | None = None,
        *,
        words: Words | None = None,
        decoder: str | None = None,
        head_score: str | None = None,
        projective: bool | None = None,
        constraints: ConstraintsFor = None,
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
        `h3n` takes the head of a span by, a name in `h3n.engine.ranking.RANKINGS`. Arcs may cross where the model is
        sure of it (`Result.crossing`) unless ``projective`` is true. With ``keep_arcs`` a `Sentence` that
        has dependencies keeps them, and phrases are found that agree with them (`h3n.parser.held` says when none are).
        With ``soft_labels`` the sentence of a result says what else was likely, for another model to learn from.
        """
        options = self.options(
            decoder=decoder,
            head_score=head_score,
            projective=projective,
            constraints=constraints,
            keep_arcs=keep_arcs,
            soft_labels=soft_labels,
        )
        if look_ahead < 0:
            raise UsageError(f"a look-ahead of {look_ahead} words; 0 or more is accepted")
        self.engine.vocabulary.style(style)  # an unknown name is refused now, not with the first sentence
        inputs = self.read(source, words, retag=retag, keep_arcs=keep_arcs)
        return self._results(inputs, options, style, look_ahead)

    def read(
        self,
        source: Parsable | None = None,
        words: Words | None = None,
        *,
        retag: bool = False,
        keep_arcs: bool = False,
    ) -> Iterator[tuple[int, Sentence]]:
        """Return the sentences of whatever may be parsed, ready for `parse_batch`, each with its input's number."""
        inputs = read(source, words, keep_arcs=keep_arcs, segmenter=self.segmenter)
        if not retag:
            return inputs
        return ((number, replace(sentence, tags=None, upos=None)) for number, sentence in inputs)

    def parse_batch(
        self,
        sentences: Sequence[Sentence],
        options: ParseOptions | None = None,
        *,
        styles: Sequence[str | None] | None = None,
        sources: Sequence[int] | None = None,
    ) -> list[Result]:
        """Return sentences that are parsed together, in their order: what every way to parse comes to.

        ``styles`` and ``sources`` (the numbers of the inputs that the sentences are from) are one for each sentence.
        """
        with mapper(self.threads) as each:
            return list(self._begin(sentences, options or self.options(), each, styles=styles, sources=sources))

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

    def _results(
        self, inputs: Iterator[tuple[int, Sentence]], options: ParseOptions, style: str | None, look_ahead: int
    ) -> Iterator[Result]:
        with mapper(self.threads) as each:

            def begun() -> Iterator[Iterator[Result]]:
                done = 0
                for window in windows(inputs, lambda item: len(item[1]), look_ahead=look_ahead):
                    sources, sentences = zip(*window, strict=True)
                    styles = [style] * len(window) if style else None
                    yield self._begin(sentences, options, each, styles=styles, sources=sources, first=done)
                    done += len(window)

            # While what was found is written and what comes next is read, threads have work to do.
            overlap = self.threads > 1 and look_ahead > 0
            yield from (one_ahead(begun()) if overlap else chain.from_iterable(begun()))

    def _begin(
        self,
        sentences: Sequence[Sentence],
        options: ParseOptions,
        each: Mapper,
        *,
        styles: Sequence[str | None] | None = None,
        sources: Sequence[int] | None = None,
        first: int = 0,
    ) -> Iterator[Result]:
        """Begin to parse sentences, as far as threads do that; return what comes of it, in order."""
        places = sources if sources is not None else [0] * len(sentences)
        inputs, notes = self._read(sentences, styles)
        batches = list(self.engine.group(inputs))

        def work(batch: _Batch) -> list[Result]:
            chosen = [sentences[at] for at in batch[0]]
            try:
                scored = self.engine.score_batch(chosen, batch[1])
                return self.decode(scored, options, sources=[places[at] for at in batch[0]])
            except DecodeError as error:
                raise _placed(error, [first + at for at in batch[0]], chosen) from None

        return _in_order(sentences, places, batches, each(work, batches), notes)

    def _read(
        self, sentences: Sequence[Sentence], styles: Sequence[str | None] | None
    ) -> tuple[dict[int, Inputs], dict[int, str]]:
        """Return the inputs of the sentences within the limits, and why each of the others is not parsed."""
        notes = {at: note for at, one in enumerate(sentences) if (note := self.limits.refuse_words(len(one)))}
        inputs = self.engine.read({at: one for at, one in enumerate(sentences) if at not in notes}, styles=styles)
        notes |= {at: note for at, one in inputs.items() if (note := self.limits.refuse_pieces(one))}
        return {at: one for at, one in inputs.items() if at not in notes}, notes

    def decode(
        self, scored: Scored, options: ParseOptions | None = None, *, sources: Sequence[int] | None = None
    ) -> list[Result]:
        """Return the results of sentences that the network has scored."""
        options, engine = options or self.options(), self.engine
        constraints = None
        if options.constraints is not None:
            constraints = [options.constraints_of(sentence) for sentence in scored.sentences]
        parses = engine.decode(
            scored,
            decoder=options.decoder,
            weight=options.weight,
            head_score=options.head_score,
            constraints=constraints,
            projective=options.projective,
        )
        if options.keep_arcs:
            parses = list(map(own_parse, parses, scored.sentences))
        decoding = engine.config.decoding
        spans = span_confidences(
            scored.output,
            parses,
            helper=engine.vocabulary.helper,
            temperature=decoding.span_temperature,
            none=decoding.span_none,
        )
        arcs = governor_confidences(scored.output, scored.scores, parses, temperature=decoding.arc_temperature)
        named = engine.name(scored, parses)
        if options.keep_arcs:
            named = list(map(with_own_relations, named, scored.sentences))
        if options.soft_labels:
            named = with_soft_labels(engine, scored, named, keep_arcs=options.keep_arcs)
        return list(map(Result.of, map(Found, named, spans, arcs), sources if sources is not None else repeat(0)))


def _in_order(
    sentences: Sequence[Sentence],
    sources: Sequence[int],
    batches: Sequence[_Batch],
    found: Iterator[list[Result]],
    notes: Mapping[int, str],
) -> Iterator[Result]:
    """Yield the results of batches in the order of the sentences."""
    parsed: dict[int, Result] = {}
    for (numbers, _), results in zip(batches, found, strict=True):
        parsed.update(zip(numbers, results, strict=True))
    for at, (sentence, source) in enumerate(zip(sentences, sources, strict=True)):
        # Nothing is found in a sentence without words, and one over the limits says so.
        result = parsed.get(at)
        yield result if result is not None else Result(sentence=sentence, note=notes.get(at), source=source)


def _placed(error: DecodeError, numbers: Sequence[int], sentences: Sequence[Sentence]) -> DecodeError:
    """Return the error with the sentence's number in the stream in place of that in its batch."""
    if error.sentence is None:
        return error
    words = sentences[error.sentence].words
    excerpt = " ".join(words[:6]) + (" ..." if len(words) > 6 else "")
    return DecodeError(f"sentence {numbers[error.sentence] + 1} ({excerpt}): {error.reason}")
