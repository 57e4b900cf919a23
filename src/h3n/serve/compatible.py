"""Answers in the form of other services: CoreNLP's and those of spaCy's displaCy.

Clients of those services get trees from h3n unchanged, as far as h3n has what they ask for: words, tags, phrase
structure and dependencies. Where a client expects a lemma and the model finds none, the word itself stands.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from fastapi import Request, Response
from fastapi.responses import PlainTextResponse

from h3n import text
from h3n.parser import Result
from h3n.serve.answers import attended
from h3n.serve.corenlp import OUTPUTS, Properties, read_properties, read_text, sentences_of
from h3n.serve.fields import displacy
from h3n.serve.pool import Ticket, attentively
from h3n.serve.requests import ParseRequest, Work, check_sizes, dumped, parse_options_of, within
from h3n.serve.schemas import CORENLP, DISPLACY, TEXT, answers, array, content, text_body
from h3n.serve.service import SMALL_CHARACTERS, SMALL_WORDS, Service
from h3n.serve.settings import ServiceLimits
from h3n.trees import Sentence


@dataclass(frozen=True)
class DisplacyRequest:
    """A text to draw the dependencies of, as the services of displaCy take it; what else they take is passed over."""

    text: str
    model: str | None = None


def add_compatible_routes(app: Any) -> None:
    """Add the paths of CoreNLP and of displaCy."""
    forms = content(CORENLP) | content(TEXT, "text/plain") | content({}, "application/x-protobuf")
    app.add_api_route(
        "/",
        corenlp,
        methods=["POST"],
        summary="As CoreNLP: text in the body, ?properties= as JSON",
        responses=answers("The sentences.", forms),
        openapi_extra=text_body("It rains."),
    )
    for path in ("/live", "/ready", "/ping"):
        app.add_api_route(path, alive, response_class=PlainTextResponse, include_in_schema=False)
    for path, function, what, schema in (
        ("/spacy", spacy, "for each sentence", array(DISPLACY)),
        ("/spacy/dep", spacy_dep, "for the text as one", DISPLACY),
    ):
        drawn = answers("Words and arcs.", content(schema))
        app.add_api_route(path, function, methods=["POST"], summary=f"What displaCy draws, {what}", responses=drawn)


async def alive() -> Response:
    """Answer as CoreNLP does when it is asked whether it is there."""
    return PlainTextResponse("pong\n")


async def corenlp(request: Request, properties: str = "{}") -> Response:
    """Answer as CoreNLP for the annotators tokenize, ssplit, pos, parse and depparse: as JSON or in its binary form."""
    service: Service = request.app.state.service
    asked = read_properties(properties)
    given = read_text(await request.body(), request.headers.get("content-type", ""))
    limits = service.settings.limits
    parse_options = parse_options_of(ParseRequest(text=given), service.parsers, limits)
    output = OUTPUTS[asked.output]

    async def answered() -> bytes:
        small, segmenter = len(given) <= SMALL_CHARACTERS, service.parsers[parse_options.model].segmenter
        sentences = await service.aside(_read, given, asked, limits, segmenter, small=small)
        check_sizes("body", sentences, parse_options, limits)
        results = await _results(service, Work(parse_options, sentences, (), {}))
        return await service.aside(output.write, given, results, asked.annotators, small=_small(results))

    return Response(await attended(request, answered(), service), media_type=output.media_type)


async def spacy(request: Request, body: DisplacyRequest) -> Response:
    """Answer with a list: for every sentence what `displacy.render(..., style="dep", manual=True)` takes."""
    return Response(await _drawn(request, body, _each), media_type="application/json")


async def spacy_dep(request: Request, body: DisplacyRequest) -> Response:
    """Answer with the words and arcs of all sentences in one object, as displaCy's own service does."""
    return Response(await _drawn(request, body, _as_one), media_type="application/json")


async def _drawn(request: Request, body: DisplacyRequest, write: Callable[[Ticket, Sequence[Result]], bytes]) -> bytes:
    service: Service = request.app.state.service
    wanted = ParseRequest(text=body.text, model=body.model)

    async def answered() -> bytes:
        results = await _results(service, await service.read(wanted))
        return await service.aside(write, results, small=_small(results))

    return await attended(request, answered(), service)


def _each(ticket: Ticket, results: Sequence[Result]) -> bytes:
    return b"[%b]" % b",".join(dumped(displacy(result)) for result in attentively(ticket, results))


def _as_one(ticket: Ticket, results: Sequence[Result]) -> bytes:
    words: list[Any] = []
    arcs: list[Any] = []
    for result in attentively(ticket, results):
        first, drawn = len(words), displacy(result)
        arcs += [{**arc, "start": arc["start"] + first, "end": arc["end"] + first} for arc in drawn["arcs"]]
        words += drawn["words"]
    return dumped({"words": words, "arcs": arcs})


def _read(
    ticket: Ticket, given: str, asked: Properties, limits: ServiceLimits, segmenter: text.Segmenter
) -> list[Sentence]:
    return within(ticket, "body", sentences_of(given, asked, segmenter), limits)


def _small(results: Sequence[Result]) -> bool:
    return sum(map(len, results)) <= SMALL_WORDS


async def _results(service: Service, work: Work) -> list[Result]:
    return [result async for piece in service.results(work) for result in piece]
