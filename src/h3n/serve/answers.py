"""From results to HTTP: time limits, clients that go away, and errors as one line that names the field."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine
from contextlib import aclosing, suppress
from typing import Any, TypeVar

from fastapi import Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, StreamingResponse
from starlette.exceptions import HTTPException

from h3n.errors import DecodeError, H3nError
from h3n.serve.batching import Full, Lost
from h3n.serve.requests import ParseRequest, Refused, Work, dumped
from h3n.serve.service import Service

JSON_LINES = "application/x-ndjson"
CLIENT_GONE = 499
LONGEST_REASON, LONGEST_NAME = 1_000, 100  # characters
# What pydantic finds wrong, in words for those who do not know its classes.
MESSAGES = {"dataclass_type": "not a JSON object", "unexpected_keyword_argument": "not a key that is known here"}
Answer = TypeVar("Answer")


class Gone(Exception):
    """The client went away; what it asked for is dropped."""


class TooSlow(Exception):
    """The time limit of a request has passed."""


async def attended(request: Request, work: Awaitable[Answer], service: Service) -> Answer:
    """Return what comes of the work; give it up when the client goes away or the time is over."""
    task = asyncio.ensure_future(work)
    gone = asyncio.ensure_future(_gone(request))
    try:
        limit = service.settings.limits.seconds
        done, _ = await asyncio.wait({task, gone}, timeout=limit, return_when=asyncio.FIRST_COMPLETED)
        if task in done:
            return task.result()
        service.metrics.dropped.labels("gone" if done else "time").inc()
        raise Gone if done else TooSlow(f"no answer within {limit:g} s, which is the limit")
    finally:
        for one in (task, gone):
            one.cancel()
        with suppress(asyncio.CancelledError, Exception):
            await task  # so that what it held is free before the answer goes out


async def _gone(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass


async def whole(request: ParseRequest, service: Service) -> bytes:
    """Return the answer to a request at once, as JSON."""
    work = await service.read(request)
    sentences: list[bytes] = []
    async with aclosing(service.sentences(request, work)) as pieces:
        async for piece in pieces:
            sentences += piece
    start = dumped({"model": work.parse_options.model, "decoder": decoder_of(request, work, service)})
    return b'%b,"sentences":[%b]}' % (start[:-1], b",".join(sentences))


def decoder_of(request: ParseRequest, work: Work, service: Service) -> str:
    """Return the decoder a request is parsed with."""
    parser = service.parsers[work.parse_options.model]
    return parser.decoder_for(request.decoder, constrained=bool(work.constraints))


async def streamed(request: Request, body: ParseRequest, service: Service) -> Response:
    """Return an answer of JSON lines, a sentence on each, that starts when the first sentences are parsed.

    What goes wrong before is answered as usual; later, the last line is an object with the key ``error``.
    """
    deadline = asyncio.get_running_loop().time() + service.settings.limits.seconds
    work = await attended(request, service.read(body), service)
    pieces = service.sentences(body, work)
    first = await attended(request, anext(pieces, []), service)

    async def lines() -> AsyncGenerator[bytes, None]:
        finished = False
        try:
            piece = first
            while piece:
                yield b"".join(one + b"\n" for one in piece)
                async with asyncio.timeout_at(deadline):
                    piece = await anext(pieces, [])
            finished = True
        except (H3nError, Lost, TimeoutError) as error:
            finished = True
            yield dumped({"error": str(error) or "the time limit has passed"}) + b"\n"
        finally:
            await pieces.aclose()
            if not finished:
                service.metrics.dropped.labels("gone").inc()

    return StreamingResponse(lines(), media_type=JSON_LINES)


def _shown(given: str, most: int) -> str:
    """Return one line of at most so many characters: a client's own megabytes do not go back to it."""
    line = " ".join(given[: 2 * most].split())
    return line if len(line) <= most else f"{line[:most]} ..."


def _refusal(status: int, reason: str, name: str | None = None, headers: dict[str, str] | None = None) -> Response:
    said = _shown(reason, LONGEST_REASON)
    content = {"error": said} if name is None else {"error": said, "field": _shown(name, LONGEST_NAME)}
    return JSONResponse(content, status_code=status, headers=headers)


async def _invalid(_: Request, error: Any) -> Response:
    """Answer 422 with the first thing that is wrong with a body, named by where it stands."""
    first = error.errors()[0]
    said = MESSAGES.get(first["type"], first["msg"])
    place = [str(one) for one in first["loc"] if one not in ("body", "query") and not str(one).startswith("list[")]
    if first["type"] == "json_invalid":
        return _refusal(422, f"body: not JSON at character {place[0]}: {first['ctx']['error']}", "body")
    name = ".".join(place) or "body"
    return _refusal(422, f"{name}: {said}", name)


async def _by_status(request: Request, error: Any) -> Response:
    """Answer as the framework wants to, in our form: a path that is not there, JSON of too many levels or digits."""
    if error.status_code == 400:
        return _refusal(422, "body: JSON with numbers too long or nested too deeply", "body")
    if error.status_code == 404:
        paths = sorted(request.app.openapi()["paths"])
        return _refusal(404, f"not found; accepted: {', '.join(paths)}", headers=error.headers)
    methods = request.app.openapi()["paths"].get(request.url.path)
    allowed = {"allow": ", ".join(sorted(methods)).upper()} if error.status_code == 405 and methods else error.headers
    return _refusal(error.status_code, error.detail.lower(), headers=allowed)


async def _refused(_: Request, error: Any) -> Response:
    return _refusal(error.status, str(error), error.field)


async def _failed(_: Request, error: Any) -> Response:
    name = "constraints" if isinstance(error, DecodeError) else None
    return _refusal(422, str(error), name)


async def _full(_: Request, error: Any) -> Response:
    return _refusal(429, str(error), headers={"retry-after": str(error.seconds)})


async def _lost(_: Request, error: Any) -> Response:
    return _refusal(500, str(error))


async def _too_slow(_: Request, error: Any) -> Response:
    return _refusal(504, str(error))


async def _went_away(_: Request, error: Any) -> Response:  # noqa: ARG001
    return Response(status_code=CLIENT_GONE)


async def _unexpected(_: Request, error: Any) -> Response:  # noqa: ARG001
    return _refusal(500, "an error inside the service; its log says more")


HANDLERS: dict[int | type[Exception], Callable[[Request, Any], Coroutine[Any, Any, Response]]] = {
    RequestValidationError: _invalid,
    HTTPException: _by_status,
    Refused: _refused,
    H3nError: _failed,
    Full: _full,
    Lost: _lost,
    TooSlow: _too_slow,
    Gone: _went_away,
    Exception: _unexpected,
}
