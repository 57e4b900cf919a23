"""Answers in the form of other services: CoreNLP's JSON and the JSON of spaCy's displaCy.

Clients of those services get trees from h3n unchanged, as far as h3n has what they ask for: words, tags, phrase
structure and dependencies. There are no lemmas: where a client expects one, the word itself stands.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote_plus

from fastapi import Request, Response
from fastapi.responses import PlainTextResponse

from h3n import text
from h3n.parser import Result
from h3n.serve.answers import attended, dumped
from h3n.serve.fields import displacy
from h3n.serve.requests import ParseRequest, Refused, Work, check_lengths, wish_of
from h3n.serve.service import Service
from h3n.trees import Sentence

# CoreNLP's annotators that h3n can stand in for
ANNOTATORS = ("tokenize", "ssplit", "pos", "lemma", "parse", "depparse")
DEFAULT = "tokenize,ssplit,pos,parse,depparse"
_TRUE = ("true", "1", "yes")


@dataclass(frozen=True)
class DisplacyRequest:
    """A text to draw the dependencies of, as the services of displaCy take it."""

    text: str
    model: str | None = None


def add_compatible_routes(app: Any) -> None:
    """Add the paths of CoreNLP and of displaCy."""
    app.add_api_route("/", corenlp, methods=["POST"], summary="As CoreNLP: text in the body, ?properties= as JSON")
    for path in ("/live", "/ready", "/ping"):
        app.add_api_route(path, alive, response_class=PlainTextResponse, include_in_schema=False)
    app.add_api_route("/spacy", spacy, methods=["POST"], summary="What displaCy draws, for each sentence")
    app.add_api_route("/spacy/dep", spacy_dep, methods=["POST"], summary="What displaCy draws, for the text as one")


async def alive() -> Response:
    """Answer as CoreNLP does when it is asked whether it is there."""
    return PlainTextResponse("pong\n")


async def corenlp(request: Request, properties: str = "{}") -> Response:
    """Answer with CoreNLP's JSON for the annotators tokenize, ssplit, pos, parse and depparse."""
    service = request.app.state.service
    options = _properties(properties)
    wanted = {name.strip() for name in options.get("annotators", DEFAULT).split(",")} - {""}
    if unknown := wanted - set(ANNOTATORS):
        raise Refused(422, "properties.annotators", f"{min(unknown)!r}; accepted: {', '.join(ANNOTATORS)}")
    if (format_name := options.get("outputFormat", "json")) != "json":
        raise Refused(422, "properties.outputFormat", f"{format_name!r}; accepted: json")
    given = _text(await request.body(), request.headers.get("content-type", ""))
    wish = wish_of(ParseRequest(text=given), service.parsers)

    async def answered() -> bytes:
        sentences = await asyncio.to_thread(_sentences, given, options)
        check_lengths("body", sentences, wish, service.settings.limits)
        results = await _results(service, Work(wish, sentences, (), {}))
        return dumped({"sentences": [_corenlp(at, result, wanted) for at, result in enumerate(results)]})

    return Response(await attended(request, answered(), service), media_type="application/json")


async def spacy(request: Request, body: DisplacyRequest) -> Response:
    """Answer with a list: for every sentence what `displacy.render(..., style="dep", manual=True)` takes."""
    results = await _parsed_text(request, body)
    return Response(dumped([displacy(result) for result in results]), media_type="application/json")


async def spacy_dep(request: Request, body: DisplacyRequest) -> Response:
    """Answer with the words and arcs of all sentences in one object, as displaCy's own service does."""
    words: list[Any] = []
    arcs: list[Any] = []
    for result in await _parsed_text(request, body):
        first, drawn = len(words), displacy(result)
        arcs += [{**arc, "start": arc["start"] + first, "end": arc["end"] + first} for arc in drawn["arcs"]]
        words += drawn["words"]
    return Response(dumped({"words": words, "arcs": arcs}), media_type="application/json")


async def _parsed_text(request: Request, body: DisplacyRequest) -> list[Result]:
    service = request.app.state.service
    wanted = ParseRequest(text=body.text, model=body.model)

    async def answered() -> list[Result]:
        return await _results(service, await service.read(wanted))

    return await attended(request, answered(), service)


async def _results(service: Service, work: Work) -> list[Result]:
    return [result async for piece in service.results(work) for result in piece]


def _properties(given: str) -> Mapping[str, str]:
    try:
        options = json.loads(given)
    except ValueError as error:
        raise Refused(422, "properties", f"not JSON: {error}") from None
    if not isinstance(options, dict):
        raise Refused(422, "properties", "not a JSON object")
    return {str(name): str(value) for name, value in options.items()}


def _text(body: bytes, content_type: str) -> str:
    try:
        given = body.decode()
    except UnicodeDecodeError:
        raise Refused(422, "body", "not UTF-8") from None
    # Programs that send no type of their own, such as curl, escape the text; CoreNLP takes that off, too.
    return unquote_plus(given) if content_type.startswith("application/x-www-form-urlencoded") else given


def _sentences(given: str, options: Mapping[str, str]) -> list[Sentence]:
    """Return the sentences as CoreNLP's properties say: by its own rules, by line, or all as one."""

    def asked(name: str) -> bool:
        return options.get(name, "false").lower() in _TRUE

    if asked("tokenize.whitespace"):
        pieces = given.splitlines() if asked("ssplit.eolonly") else [given]
        return [Sentence(words=tuple(piece.split())) for piece in pieces if piece.strip()]
    if asked("ssplit.eolonly"):
        return [sentence for sentence in text.lines(given) if sentence.words]
    if asked("ssplit.isOneSentence"):
        return [sentence for sentence in text.lines(" ".join(given.splitlines())) if sentence.words]
    return list(text.segment(given))


def _corenlp(index: int, result: Result, wanted: set[str]) -> dict[str, Any]:
    answer: dict[str, Any] = {"index": index}
    if "parse" in wanted and result.tree is not None:
        brackets = result.brackets()
        answer["parse"] = brackets if result.tree.label == "ROOT" else f"(ROOT {brackets})"
    if wanted & {"parse", "depparse"}:
        answer["basicDependencies"] = [_dependency(result, word) for word in _root_first(result)]
    answer["tokens"] = [_token(result, word, wanted) for word in range(len(result))]
    return answer


def _root_first(result: Result) -> list[int]:
    return sorted(range(len(result.governors)), key=lambda word: (result.governors[word] >= 0, word))


def _dependency(result: Result, word: int) -> dict[str, Any]:
    governor = result.governors[word]
    root = governor < 0
    return {
        "dep": "ROOT" if root else result.relations[word],
        "governor": governor + 1,
        "governorGloss": "ROOT" if root else result.words[governor],
        "dependent": word + 1,
        "dependentGloss": result.words[word],
    }


def _token(result: Result, word: int, wanted: set[str]) -> dict[str, Any]:
    start, end = result.offsets[word]
    form = result.words[word]
    token = {"index": word + 1, "word": form, "originalText": form}
    token |= {"characterOffsetBegin": start, "characterOffsetEnd": end}
    if wanted - {"tokenize", "ssplit"}:
        token |= {"lemma": form, "pos": (result.tags or result.upos or ("",) * len(result))[word]}
    return token
