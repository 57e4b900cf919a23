"""The ASGI application: which path is answered by what."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

from fastapi import FastAPI, Request, Response
from fastapi.middleware.cors import CORSMiddleware
from fastapi.responses import HTMLResponse, JSONResponse, PlainTextResponse

import h3n
from h3n.decode import DECODERS
from h3n.parser import Parser
from h3n.serve.answers import HANDLERS, JSON_LINES, attended, streamed, whole
from h3n.serve.compatible import add_compatible_routes
from h3n.serve.examples import ANSWER, EXAMPLES, PROBLEMS
from h3n.serve.guard import Guard
from h3n.serve.metrics import CONTENT_TYPE_LATEST
from h3n.serve.page import add_page_routes
from h3n.serve.reference import reference_page
from h3n.serve.requests import ParseRequest
from h3n.serve.schemas import MODELS, PARSED, STATUS, TEXT, answers, content
from h3n.serve.service import Service
from h3n.serve.settings import Settings

METHODS = ("GET", "POST")
CLOSING_SECONDS = 1.0  # for the batch in hand when nobody waits for it any more
DESCRIPTION = """Phrase structure and dependencies of sentences at once, as one head-driven tree.

Errors are JSON objects with the keys `error`, one line, and `field`, the part of the request that is wrong."""


def create_app(parsers: Mapping[str, Parser], *, settings: Settings | None = None) -> Any:
    """Return the application that answers with these parsers; the first is used where no model is named."""
    service = Service(parsers, settings or Settings())

    @asynccontextmanager
    async def lifespan(_: Any) -> AsyncIterator[None]:
        service.batcher.start()
        yield
        service.batcher.close(CLOSING_SECONDS)

    app = FastAPI(
        title="h3n",
        version=h3n.__version__,
        description=DESCRIPTION,
        lifespan=lifespan,
        docs_url=None,  # the usual pages load scripts from elsewhere
        redoc_url=None,
        exception_handlers=HANDLERS,
    )
    app.state.service = service
    add_routes(app)
    if origins := sorted(service.settings.origins):
        app.add_middleware(CORSMiddleware, allow_origins=origins, allow_methods=METHODS, allow_headers=["content-type"])
    app.add_middleware(Guard, settings=service.settings, metrics=service.metrics)
    return app


def add_routes(app: Any) -> None:
    """Add all paths to the application."""
    parsed = content(PARSED, example=ANSWER) | content({}, JSON_LINES)
    app.add_api_route(
        "/v1/parse",
        parse,
        methods=["POST"],
        operation_id="parse",
        summary="Parse a text, several texts, or sentences that are split into words",
        responses=answers("The sentences.", parsed) | PROBLEMS,
        openapi_extra={"requestBody": {"content": {"application/json": {"examples": EXAMPLES}}}},
    )
    named = {"operationId": "parse", "requestBody": {"text": "It rains.", "model": "$response.body#/models/0/name"}}
    listed = answers("The models.", content(MODELS), links={"parse": named})
    app.add_api_route("/v1/models", models, summary="The models, and what each can be asked for", responses=listed)
    alive = answers("It is.", content(STATUS))
    app.add_api_route("/healthz", health, summary="Whether the process is alive", responses=alive)
    app.add_api_route("/readyz", ready, summary="Whether it parses: 503 while it starts and ends", responses=alive)
    app.add_api_route(
        "/metrics",
        metrics,
        response_class=PlainTextResponse,
        summary="Numbers for Prometheus",
        responses=answers("The numbers.", content(TEXT, "text/plain")),
    )
    add_compatible_routes(app)
    add_page_routes(app)
    app.add_api_route("/docs", docs, response_class=HTMLResponse, include_in_schema=False)


def service_of(request: Request) -> Service:
    service: Service = request.app.state.service
    return service


async def parse(request: Request, body: ParseRequest) -> Response:
    """Answer with trees.

    Exactly one of `text`, `texts` and `words` is given. `words` is one sentence, or a list of them. `fields` names
    what is wanted of each sentence. With `stream`, or the header `Accept: application/x-ndjson`, the answer is JSON
    lines, one sentence on each, sent as they are parsed.
    """
    service = service_of(request)
    if body.stream or JSON_LINES in request.headers.get("accept", ""):
        return await streamed(request, body, service)
    answer = await attended(request, whole(body, service), service)
    return Response(answer, media_type="application/json")


async def models(request: Request) -> Response:
    """Answer with the names of the models, the default first, with labels, relations and styles."""
    return JSONResponse({"models": service_of(request).about(), "decoders": list(DECODERS)})


async def health() -> Response:
    """Answer 200."""
    return JSONResponse({"status": "alive"})


async def ready(request: Request) -> Response:
    """Answer 200 if requests are parsed, and otherwise 503."""
    if service_of(request).batcher.working:
        return JSONResponse({"status": "ready"})
    return JSONResponse({"error": "the service is ending", "status": "not ready"}, status_code=503)


async def metrics(request: Request) -> Response:
    """Answer with counters, gauges and histograms."""
    return Response(service_of(request).metrics.text(), media_type=CONTENT_TYPE_LATEST)


async def docs(request: Request) -> Response:
    """Answer with a page that describes all of this."""
    return HTMLResponse(reference_page(request.app.openapi()))
