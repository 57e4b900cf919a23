"""The service under pressure: a full queue, requests that take too long, clients that go away."""

from __future__ import annotations

import json
import socket
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

import pytest

pytest.importorskip("fastapi", reason="needs the extra serve")

from h3n.parser import Parser
from h3n.serve import ServiceLimits, Settings
from tests.serve.conftest import GatedParser, Running

Start = Callable[..., AbstractContextManager[Running]]


def test_full_service_answers_429_with_retry_after(start: Start, gated: GatedParser) -> None:
    settings = Settings(limits=ServiceLimits(queue_words=3), window=0)
    with start({"tiny": gated}, settings) as service, Sent(service, 1), Sent(service, 2, after=gated.entered):
        wait_for(lambda: "h3n_queue_words 2.0" in service.app.state.service.metrics.text())
        status, answer, headers = service.send("/v1/parse", {"words": ["a", "b"]})
        assert status == 429
        assert int(headers["retry-after"]) >= 1
        assert "waiting" in answer["error"]
        gated.gate.set()


def test_request_that_takes_too_long_is_answered_504_and_dropped(start: Start, gated: GatedParser) -> None:
    with start({"tiny": gated}, Settings(limits=ServiceLimits(seconds=0.2))) as service:
        status, answer, _ = service.send("/v1/parse", {"words": ["a"]})
        assert status == 504
        assert "0.2 s" in answer["error"]
        assert service.send("/v1/parse", {"words": ["a"], "stream": True})[0] == 504
        assert 'h3n_dropped_requests_total{why="time"} 2.0' in service.send("/metrics")[1]
        gated.gate.set()


def test_work_of_a_client_that_is_gone_is_dropped(start: Start, gated: GatedParser) -> None:
    with start({"tiny": gated}, Settings(window=0)) as service:
        with Sent(service, 1) as first:
            assert gated.entered.wait(30)
            with Sent(service, 2):
                wait_for(lambda: service.app.state.service.metrics.queue_words._value.get() == 2)
            wait_for(lambda: service.app.state.service.metrics.queue_words._value.get() == 0)  # its socket is closed
            gated.gate.set()
            assert b"200 OK" in first.connection.recv(65536)
        wait_for(lambda: 'why="gone"} 1' in service.app.state.service.metrics.text())
    assert gated.parsed == 1


def test_body_that_never_comes_is_given_up(start: Start, parser: Parser) -> None:
    settings = Settings(limits=ServiceLimits(seconds=0.2))
    with start({"tiny": parser}, settings) as service, socket.create_connection(("127.0.0.1", service.port)) as client:
        client.sendall(b"POST /v1/parse HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10\r\n\r\n{")
        assert b"408" in client.recv(65536)


class Sent:
    """A request of some words that was sent on a connection of its own, its answer not read yet."""

    def __init__(self, service: Running, words: int, after: Any = None, **options: Any) -> None:
        if after is not None:
            assert after.wait(30)
        body = json.dumps({"words": [["a"]] * words, "fields": [], **options}).encode()
        self.connection = socket.create_connection(("127.0.0.1", service.port), timeout=30)
        head = ["POST /v1/parse HTTP/1.1", "Host: localhost", "Content-Type: application/json"]
        self.connection.sendall("\r\n".join([*head, f"Content-Length: {len(body)}", "", ""]).encode() + body)

    def __enter__(self) -> Sent:
        return self

    def __exit__(self, *_: object) -> None:
        self.connection.close()


def wait_for(condition: Callable[[], bool]) -> None:
    until = time.monotonic() + 30
    while not condition():
        assert time.monotonic() < until
        time.sleep(0.01)
