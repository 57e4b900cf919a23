"""A service whose models are being loaded: alive, not ready, and then both."""

from __future__ import annotations

import threading
import time
from typing import Any

import pytest

pytest.importorskip("fastapi", reason="needs the extra serve")

from h3n.client import Client
from h3n.errors import UsageError
from h3n.parser import Parser
from h3n.serve import Settings
from h3n.serve.app import create_app
from h3n.serve.running import address, bind, run, server_of
from h3n.serve.starting import Starting
from tests.serve.conftest import Running


def test_not_ready_until_the_models_are_loaded(parser: Parser) -> None:
    gate, ready = threading.Event(), threading.Event()

    def make() -> Any:
        assert gate.wait(60)
        return create_app({"tiny": parser})

    starting = Starting(make, settings=Settings(), ready=ready.set, failed=lambda: None)
    server = server_of(starting, Settings(), log="critical")
    with bind("127.0.0.1", 0) as bound:
        thread = threading.Thread(target=server.run, kwargs={"sockets": [bound]})
        thread.start()
        try:
            while not server.started:
                assert thread.is_alive()
                time.sleep(0.01)
            service = Running(address(bound), None)
            for path in ("/readyz", "/v1/models", "/"):
                status, answer, headers = service.send(path)
                assert (status, answer["error"]) == (503, "the models are being loaded")
                assert int(headers["retry-after"]) > 0
            assert service.send("/healthz")[:2] == (200, {"status": "alive"})
            answers: list[Any] = []
            with Client(service.url) as client:  # asks again until it is answered
                asking = threading.Thread(target=lambda: answers.extend(client.parse("A dog barks.")))
                asking.start()
                gate.set()
                asking.join()
            assert len(answers) == 1
            assert ready.is_set()
            assert service.send("/readyz")[0] == 200
        finally:
            gate.set()
            server.should_exit = True
            thread.join()


def test_models_that_cannot_be_loaded_end_the_service(monkeypatch: pytest.MonkeyPatch) -> None:
    def make() -> Any:
        raise UsageError("no such model")

    monkeypatch.setattr("signal.signal", lambda *_: None)
    with bind("127.0.0.1", 0) as bound, pytest.raises(UsageError, match="no such model"):
        run(make, bound, ready=lambda: pytest.fail("it is not ready"), settings=Settings(), log="critical")
