"""The thread that parses may fail or be gone, and the clock may jump: requests are answered all the same."""

from __future__ import annotations

import socket
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from itertools import cycle
from typing import Any

import pytest

pytest.importorskip("fastapi", reason="needs the extra serve")

from h3n.parser import Parser
from h3n.serve import ServiceLimits, Settings
from h3n.serve import batching as batching_module
from tests.serve.conftest import Running

Start = Callable[..., AbstractContextManager[Running]]
LOST = "the thread that parsed these sentences failed; the log of the service says more"


class Deadly:
    """A parser at whose word `die` the thread comes to an end that nobody expects."""

    def __init__(self, parser: Parser, how: BaseException) -> None:
        self.parser, self.how = parser, how

    def __getattr__(self, name: str) -> Any:
        return getattr(self.parser, name)

    def parse(self, sentences: Any, **options: Any) -> Any:
        sentences = list(sentences)
        if any("die" in sentence.words for sentence in sentences):
            raise self.how
        return self.parser.parse(sentences, **options)


def answers(service: Running) -> bool:
    status, answer, _ = service.send("/v1/parse", {"words": ["a", "b"]})
    return status == 200 and len(answer["sentences"]) == 1


@pytest.mark.parametrize(
    "how", [SystemExit(3), KeyboardInterrupt(), GeneratorExit()], ids=lambda how: type(how).__name__
)
def test_a_thread_that_fails_is_said_in_one_line_and_begins_anew(
    start: Start, parser: Parser, how: BaseException
) -> None:
    with start({"tiny": Deadly(parser, how)}, Settings(window=0)) as service:
        for _ in range(2):
            assert service.send("/v1/parse", {"words": ["die"]})[:2] == (500, {"error": LOST})
            assert service.send("/v1/parse", {"words": ["die"], "stream": True})[:2] == (500, {"error": LOST})
            assert answers(service)
        assert service.send("/readyz")[0] == 200


def test_a_stream_that_is_cut_off_says_so_in_its_last_line(start: Start, parser: Parser) -> None:
    settings = Settings(window=0, batch_words=1)
    with start({"tiny": Deadly(parser, SystemExit(3))}, settings) as service:
        _, said, _ = service.send("/v1/parse", {"words": [["a"], ["die"], ["b"]], "fields": ["text"], "stream": True})
        assert said.splitlines()[-1] == f'{{"error":"{LOST}"}}'
        assert answers(service)


class Gone:
    """A thread that was there and is not any more."""

    ident = 1

    def is_alive(self) -> bool:
        return False


def test_a_thread_that_is_gone_is_replaced(start: Start, parser: Parser) -> None:
    with start({"tiny": parser}, Settings(window=0)) as service:
        batcher = service.app.state.service.batcher
        first = batcher._thread
        batcher._thread = Gone()
        assert service.send("/readyz")[0] == 503
        assert answers(service)
        assert service.send("/readyz")[0] == 200
        batcher._thread.name = "second"  # both end with the service
        batcher.close()
        first.join(30)
        assert not first.is_alive()


def test_what_fails_outside_of_parsing_fails_its_request_alone(
    start: Start, parser: Parser, monkeypatch: pytest.MonkeyPatch
) -> None:
    with start({"tiny": parser}, Settings(window=0)) as service:
        with monkeypatch.context() as patch:
            patch.setattr(batching_module, "_groups", lambda _: 1 / 0)
            assert service.send("/v1/parse", {"words": ["a"]})[:2] == (500, {"error": LOST})
        assert answers(service)


def jumping() -> Iterator[float]:
    return cycle([0.0, 4e9, 1e9, -1e6])


def test_the_clock_may_jump(start: Start, parser: Parser, monkeypatch: pytest.MonkeyPatch) -> None:
    """Time limits are kept by a clock that nobody sets: neither a request nor its end depends on the time of day."""
    settings = Settings(limits=ServiceLimits(seconds=30), window=0.01)
    with start({"tiny": parser}, settings) as service:
        times = jumping()
        monkeypatch.setattr(time, "time", lambda: next(times))
        assert all(answers(service) for _ in range(5))
    slow = Settings(limits=ServiceLimits(seconds=0.2))
    with start({"tiny": parser}, slow) as service, socket.create_connection(("127.0.0.1", service.port), 30) as client:
        client.sendall(b"POST /v1/parse HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10\r\n\r\n{")
        assert b"408" in client.recv(65536)
