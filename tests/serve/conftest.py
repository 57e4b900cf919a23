"""A service that runs in this process, on a port of its own, with a model that was trained in seconds."""

from __future__ import annotations

import json
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from h3n.parser import Parser, load
from h3n.serve import Settings


@dataclass(frozen=True)
class Running:
    """A service that answers, and its insides."""

    url: str
    app: Any

    @property
    def port(self) -> int:
        return int(self.url.rsplit(":", 1)[1])

    def send(
        self, path: str, body: object = None, *, headers: Mapping[str, str] | None = None
    ) -> tuple[int, Any, Mapping[str, str]]:
        """Return status, content and headers of an answer; a body that is not bytes is sent as JSON."""
        data = body if isinstance(body, bytes | None) else json.dumps(body).encode()
        request = urllib.request.Request(self.url + path, data, {"Content-Type": "application/json", **(headers or {})})
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                status, content, found = answer.status, answer.read(), answer.headers
        except urllib.error.HTTPError as error:
            with error:
                status, content, found = error.code, error.read(), error.headers
        is_json = found.get("content-type", "").startswith("application/json")
        return status, json.loads(content) if is_json else content.decode(), found


@contextmanager
def run_service(parsers: Mapping[str, Any], settings: Settings | None = None) -> Iterator[Running]:
    from h3n.serve.app import create_app
    from h3n.serve.running import address, bind, server_of

    settings = settings or Settings()
    app = create_app(parsers, settings=settings)
    bound = bind("127.0.0.1", 0)
    server = server_of(app, settings, log="critical")
    thread = threading.Thread(target=server.run, kwargs={"sockets": [bound]})
    thread.start()
    try:
        while not server.started:
            assert thread.is_alive()
            time.sleep(0.01)
        yield Running(address(bound), app)
    finally:
        server.should_exit = True
        thread.join()
        bound.close()


@pytest.fixture(scope="session")
def parser(tiny_model: Path) -> Parser:
    return load(tiny_model)


@pytest.fixture(scope="session")
def service(parser: Parser) -> Iterator[Running]:
    with run_service({"tiny": parser, "other": parser}) as running:
        yield running


class GatedParser:
    """A parser that waits until a gate opens, so that a test decides how long parsing takes."""

    def __init__(self, parser: Parser) -> None:
        self.parser = parser
        self.gate, self.entered = threading.Event(), threading.Event()
        self.parsed = 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self.parser, name)

    def parse(self, sentences: Any, **options: Any) -> Any:
        self.entered.set()
        assert self.gate.wait(30)
        sentences = list(sentences)
        self.parsed += len(sentences)
        return self.parser.parse(sentences, **options)


@pytest.fixture
def gated(parser: Parser) -> Iterator[GatedParser]:
    parser_with_gate = GatedParser(parser)
    yield parser_with_gate
    parser_with_gate.gate.set()


@pytest.fixture
def start() -> Callable[..., AbstractContextManager[Running]]:
    return run_service
