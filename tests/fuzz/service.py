"""The HTTP service as two targets: inside this process without a socket, and as bytes that come over one."""

from __future__ import annotations

import atexit
import contextlib
import http.client
import json
import socket
import threading
from functools import cache
from random import Random
from typing import Any

from h3n.serve.examples import EXAMPLES
from tests.fuzz.driver import Target
from tests.fuzz.mutations import mutated, mutated_table
from tests.fuzz.targets import TARGETS, parser

SENTENCE = {"version": 1, "words": ["a", "b"], "tags": ["X", "Y"], "heads": [0, 1], "relations": ["r", "d"]}
PICTURE = {"theme": "dark", "fit": 400, "confidence": True}
MORE = [
    {"texts": ["It rains.", ""], "model": "tiny", "decoder": "cky", "fields": ["svg", "tikz"], "picture": PICTURE},
    {
        "words": [["a", "b"], ["c"]],
        "decoder": "mst",
        "head_score": "arg-max",
        "style": "x",
        "fields": ["score", "heads"],
    },
]
REQUESTS = {
    "/v1/parse": [*(example["value"] for example in EXAMPLES.values()), *MORE],
    "/v1/draw": [{"sentence": {**SENTENCE, "tree": "(S (X a) (Y b))"}, "picture": PICTURE}],
    "/spacy": [{"text": "It rains.", "model": "tiny"}],
    "/spacy/dep": [{"text": "It rains. It snows."}],
}
PROPERTIES = [{"annotators": "tokenize,parse", "outputFormat": "json", "ssplit.eolonly": "true"}]
REFUSALS = (404, 405, 413, 422, 429)


@cache
def client() -> Any:
    """Return a client of a service in this process."""
    from starlette.testclient import TestClient

    from h3n.serve import ServiceLimits, Settings
    from h3n.serve.app import create_app

    settings = Settings(limits=ServiceLimits(words=500, sentence_words=100), window=0.0)
    app = create_app({"tiny": parser()}, settings=settings)
    running = TestClient(app, base_url="http://localhost", raise_server_exceptions=True)
    running.__enter__()
    atexit.register(running.__exit__, None, None, None)
    return running


def make(chance: Random) -> bytes:
    """Return a path, a line end and a body."""
    kind = chance.randrange(8)
    if kind == 0:
        name = chance.choice(["brackets", "conllu", "jsonl"])
        ending = {"brackets": "ptb"}.get(name, name)
        return f"/v1/treebank?name=x.{ending}\n".encode() + TARGETS[name].make(chance)
    if kind == 1:
        properties = mutated_table(PROPERTIES, chance).decode(errors="replace")
        path = client().build_request("POST", "/", params={"properties": properties}).url.raw_path
        return bytes(path) + b"\n" + mutated([b"It rains. It (really) snows.\n"], chance)
    path = chance.choice(list(REQUESTS))
    return path.encode() + b"\n" + mutated_table(REQUESTS[path], chance)


def ask(content: bytes) -> None:
    """Every request is answered, or refused with one line that is JSON."""
    path, _, body = content.partition(b"\n")
    answer = client().post(path.decode(), content=body, headers={"content-type": "application/json"})
    if answer.status_code == 200:
        if "json" in answer.headers["content-type"] and "ndjson" not in answer.headers["content-type"]:
            json.loads(answer.content)
        return
    assert answer.status_code in REFUSALS, f"{answer.status_code}: {answer.text[:200]}"
    reason = json.loads(answer.content)["error"]
    assert reason
    assert "\n" not in reason, reason


def _raw(method: str, path: str, *headers: str, body: bytes = b"") -> bytes:
    lines = [f"{method} {path} HTTP/1.1", "Host: localhost", *headers]
    if body:
        lines += ["Content-Type: application/json", f"Content-Length: {len(body)}"]
    return "\r\n".join([*lines, "", ""]).encode() + body


RAW = [
    _raw("GET", "/healthz"),
    _raw("GET", "/v1/models", "Origin: https://other.example", "Accept: */*"),
    _raw("POST", "/v1/parse", "Expect: 100-continue", body=b'{"text": "It rains.", "fields": ["svg"]}'),
    _raw("POST", "/v1/parse", "Accept: application/x-ndjson", body=b'{"words": ["a", "b"]}'),
    _raw("POST", "/?properties=%7B%7D", "Transfer-Encoding: chunked") + b"3\r\na b\r\n0\r\n\r\n",
    _raw("OPTIONS", "*", "Connection: Upgrade", "Upgrade: websocket") + _raw("GET", "/docs"),
]
WAITING = {"head_seconds": 0.2, "seconds": 0.5}  # so that what is half sent takes little time
BEFORE = (400, 403, 408, 431, 503, 504)  # refusals that come before an answer is thought of


@cache
def port() -> int:
    """Return where a service of this process listens."""
    from h3n.serve import ServiceLimits, Settings
    from h3n.serve.app import create_app
    from h3n.serve.running import bind, server_of

    settings = Settings(limits=ServiceLimits(words=500, sentence_words=100, **WAITING), window=0.0)
    bound = bind("127.0.0.1", 0)
    server = server_of(create_app({"tiny": parser()}, settings=settings), settings, log="critical")
    thread = threading.Thread(target=server.run, kwargs={"sockets": [bound]}, daemon=True)
    thread.start()
    while not server.started:
        thread.join(0.01)

    def stop() -> None:
        server.should_exit = True
        thread.join()

    atexit.register(stop)
    return int(bound.getsockname()[1])


def send(content: bytes) -> None:
    """Whatever comes over a socket is answered, or refused with one line that is JSON, or the connection is closed."""
    with socket.create_connection(("127.0.0.1", port()), timeout=20) as connection:
        with contextlib.suppress(ConnectionError):
            connection.sendall(content)
        answer = http.client.HTTPResponse(connection, method="HEAD" if content.startswith(b"HEAD ") else None)
        try:
            answer.begin()
            said = answer.read()
        except (ConnectionError, http.client.RemoteDisconnected):
            return
        except http.client.HTTPException as error:
            raise AssertionError(f"not an answer: {error!r}") from None
    if answer.status >= 300:
        assert answer.status in (*REFUSALS, *BEFORE), f"{answer.status}: {said[:200]!r}"
        assert answer.status == 405 or not said or "\n" not in json.loads(said)["error"]


def make_raw(chance: Random) -> bytes:
    return mutated(RAW, chance)


SERVICE = {"service": Target(make, ask, share=6), "http": Target(make_raw, send)}
