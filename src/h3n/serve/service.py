"""The service itself, without HTTP: loaded parsers, one queue, and how a request becomes sentences with trees."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Iterator, Mapping, Sequence
from contextlib import aclosing
from typing import Any, TypeVar

from h3n.decode import Constraints
from h3n.parser import Parser, Result
from h3n.serve.batching import Batcher, ParseOptions
from h3n.serve.fields import DRAWN, sentence_of
from h3n.serve.metrics import Metrics
from h3n.serve.pool import Pool, Ticket
from h3n.serve.requests import ParseRequest, Work, dumped, parse_options_of, work_of
from h3n.serve.settings import Settings
from h3n.trees import HELPER, Sentence

# What takes less than a millisecond or two is done where it stands: handing it to a thread takes as long.
SMALL_CHARACTERS = 2_000
SMALL_WORDS = 300
Answer = TypeVar("Answer")


class Service:
    """Parsers by name, the first of them used where no other is asked for, behind one queue."""

    def __init__(self, parsers: Mapping[str, Parser], settings: Settings) -> None:
        self.parsers = dict(parsers)
        self.settings = settings
        self.metrics = Metrics()
        self.pool = Pool()
        self.batcher = Batcher(self._parse, settings, self.metrics)

    @property
    def default(self) -> str:
        return next(iter(self.parsers))

    async def aside(self, function: Callable[..., Answer], *arguments: Any, small: bool = False) -> Answer:
        """Return what the function makes of a ticket and the arguments; in the pool unless it has little to do."""
        return function(Ticket(), *arguments) if small else await self.pool.run(function, *arguments)

    async def read(self, request: ParseRequest) -> Work:
        """Return the request's sentences."""
        parse_options = parse_options_of(request, self.parsers, self.settings.limits)
        small = request.size <= SMALL_CHARACTERS
        segmenter = self.parsers[parse_options.model].segmenter
        return await self.aside(work_of, request, parse_options, self.settings.limits, segmenter, small=small)

    async def results(self, work: Work) -> AsyncGenerator[list[Result], None]:
        """Yield the results in order, as they come."""
        async with aclosing(self.batcher.run(work.parse_options, work.sentences, work.constraints)) as pieces:
            async for piece in pieces:
                yield piece

    async def sentences(self, request: ParseRequest, work: Work) -> AsyncGenerator[list[bytes], None]:
        """Yield what the request wants of its sentences as JSON, in order, as they come."""
        done = 0
        async with aclosing(self.results(work)) as pieces:
            async for piece in pieces:
                sources = work.sources[done : done + len(piece)]
                done += len(piece)
                small = sum(map(len, piece)) <= SMALL_WORDS and not DRAWN.intersection(request.fields or ())
                yield await self.aside(_described, request, piece, sources, small=small)

    def about(self) -> list[dict[str, Any]]:
        """Return the models by name, with what each can find and be asked for."""
        return [_about(name, parser, default=name == self.default) for name, parser in self.parsers.items()]

    def _parse(
        self, parse_options: ParseOptions, sentences: Sequence[Sentence], constraints: Constraints | None
    ) -> Iterator[Result]:
        return self.parsers[parse_options.model].parse(
            sentences,
            decoder=parse_options.decoder,
            head_score=parse_options.head_score,
            style=parse_options.style,
            projective=parse_options.projective,
            constraints=constraints,
        )


def _described(ticket: Ticket, request: ParseRequest, results: Sequence[Result], sources: Sequence[int]) -> list[bytes]:
    return [
        dumped(sentence_of(ticket, result, source=source, wanted=request.fields, picture=request.picture))
        for result, source in zip(results, sources, strict=True)
    ]


def _about(name: str, parser: Parser, *, default: bool) -> dict[str, Any]:
    vocabulary = parser.engine.vocabulary
    return {
        "name": name,
        "default": default,
        "decoder": parser.decoder_for(None),
        "precision": parser.precision,
        "head_score": parser.engine.config.decoding.head_score,
        "styles": [style for style in vocabulary.styles if style],
        "labels": [label for label in vocabulary.labels if label not in ("", HELPER)],
        "relations": [relation for relation in vocabulary.relations if relation],
    }
