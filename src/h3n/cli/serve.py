"""`h3n serve`: the page and the HTTP service."""

from __future__ import annotations

import gc
from collections.abc import Mapping
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from h3n.cli.options import Device, Precision
from h3n.cli.terminal import say
from h3n.errors import MissingExtra, UsageError
from h3n.system import processors

if TYPE_CHECKING:
    from h3n.serve import Settings


def serve(
    model: Annotated[
        list[str] | None,
        typer.Option("--model", "-m", metavar="[NAME=]NAME|DIR", help="A model; several may be given. Default: en."),
    ] = None,
    host: Annotated[str, typer.Option(help="Address to listen on; 0.0.0.0 is reached from other machines.")] = (
        "127.0.0.1"
    ),
    port: Annotated[int, typer.Option(help="Port to listen on; 0 takes a free one.")] = 8000,
    allow_host: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="Another name that the service is reached by; * for any. May be repeated."),
    ] = None,
    allow_origin: Annotated[
        list[str] | None,
        typer.Option(metavar="ORIGIN", help="A site whose pages may ask: https://example.org. May be repeated."),
    ] = None,
    device: Device = "cpu",
    threads: Annotated[
        int | None, typer.Option(min=1, help="Sentences parsed at the same time; by default as many as processors.")
    ] = None,
    precision: Precision = "auto",
    window: Annotated[float, typer.Option(metavar="MS", help="How long a batch waits for other requests.")] = 2.0,
    max_words: Annotated[int, typer.Option(help="Most words of one request.")] = 50_000,
    max_queue: Annotated[int, typer.Option(help="Most words that wait, of all requests.")] = 200_000,
    max_body: Annotated[int, typer.Option(metavar="BYTES", help="Largest body of a request.")] = 4 << 20,
    timeout: Annotated[float, typer.Option(metavar="SECONDS", help="Longest time for one request.")] = 60.0,
    browser: Annotated[bool, typer.Option("--open", help="Open the page in a browser.")] = False,
    log: Annotated[str, typer.Option(help="warning, or info for a line on each request.")] = "warning",
) -> None:
    """Start a page to parse on, and an HTTP service for programs; needs the extra serve.

    Listens on this machine alone unless --host says otherwise. The service has no passwords and no encryption: put it
    behind a proxy that has them. It answers requests that call it localhost, 127.0.0.1, [::1] or what --host says, and
    that come from no page of another site. A signal to end (TERM, Ctrl-C) is obeyed when the requests under way are
    answered, within 10 seconds in any case.

    \b
    Examples:
      h3n serve
      h3n serve --model en --model large=models/my-model --port 8080
      curl -s localhost:8000/v1/parse --json '{"text": "It smells good."}'
    """
    for package in ("fastapi", "httptools", "uvicorn"):
        if find_spec(package) is None:
            raise MissingExtra("the page and the HTTP service", "serve")
    if log not in ("warning", "info", "debug"):
        raise UsageError(f"--log {log}; accepted: warning, info, debug")
    from h3n.serve import ServiceLimits, Settings
    from h3n.serve.running import address, bind, run
    from h3n.serve.settings import LOCAL, host_name

    limits = ServiceLimits(words=max_words, queue_words=max_queue, body=max_body, seconds=timeout)
    settings = Settings(
        limits=limits,
        window=window / 1000,
        hosts=frozenset(map(host_name, [*LOCAL, host, *(allow_host or ())])),
        origins=frozenset(origin.lower().removesuffix("/") for origin in allow_origin or ()),
    )
    named = _named(model or ["en"])
    options = {"device": device, "threads": threads or processors(), "precision": precision}
    bound = bind(host, port)  # before the models are loaded, so that a port in use is said at once

    def announce() -> None:
        say(f"{', '.join(named)} on {address(bound)} (Ctrl-C ends)")
        if browser:
            typer.launch(address(bound))

    run(partial(_application, named, settings, options), bound, ready=announce, settings=settings, log=log)


def _application(named: Mapping[str, str], settings: Settings, options: Mapping[str, Any]) -> Any:
    """Return the application with all its models loaded."""
    from h3n.parser import load
    from h3n.serve.app import create_app

    parsers = {name: load(where, **options) for name, where in named.items()}
    app = create_app(parsers, settings=settings)
    gc.freeze()  # what is loaded stays: nothing in it is garbage
    return app


def _named(models: list[str]) -> dict[str, str]:
    """Return where models are by the names that clients use: given ones, or the last part of a folder's."""
    named: dict[str, str] = {}
    for given in models:
        name, equals, where = given.partition("=")
        if not equals:
            name, where = Path(given).name or given, given
        if name in named:
            raise UsageError(f"--model {given}: the name {name!r} is taken; name it otherwise: --model other={where}")
        named[name] = where
    return named
