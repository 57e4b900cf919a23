"""Connections: heads that are huge, half sent or wrong, answers that nobody reads, and too many at once."""

from __future__ import annotations

import json
import socket
from collections.abc import Callable
from contextlib import AbstractContextManager, ExitStack, suppress

import pytest

pytest.importorskip("fastapi", reason="needs the extra serve")

from h3n.parser import Parser
from h3n.serve import ServiceLimits, Settings
from tests.serve.conftest import Running
from tests.serve.test_pressure import wait_for

Start = Callable[..., AbstractContextManager[Running]]
GET = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n"
POST = b"POST /v1/parse HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"


def connected(service: Running) -> socket.socket:
    return socket.create_connection(("127.0.0.1", service.port), timeout=30)


def answer(service: Running, *sent: bytes) -> tuple[int, str]:
    """Return status and error of the answer to these bytes; the connection is closed by the service."""
    with connected(service) as client:
        for piece in sent:
            client.sendall(piece)
        received = b"".join(iter(lambda: client.recv(65536), b""))
    head, _, content = received.partition(b"\r\n\r\n")
    said = json.loads(content)
    assert "\n" not in said["error"]
    return int(head.split()[1]), said["error"]


@pytest.mark.parametrize(
    ("sent", "status"),
    [
        (b"Content-Length: " + b"9" * 5_000 + b"\r\n\r\n", 400),
        (b"Content-Length: " + b"0" * 5_000 + b"\r\n\r\n", 400),
        (b"Content-Length: 99999999999999999999\r\n\r\n", 400),
        (b"Content-Length: 9999999999999999999\r\n\r\n", 413),
        (b"Content-Length: -1\r\n\r\n", 400),
        (b"Content-Length: 1\r\nContent-Length: 2\r\n\r\n", 400),
        (b"Host: other\r\nContent-Length: 1\r\n\r\na", 400),
        (b"no colon\r\n\r\n", 400),
        (b"X: " + b"a" * 70_000 + b"\r\n\r\n", 431),
        (b"".join(b"X%d: a\r\n" % number for number in range(10_000)) + b"\r\n", 431),
        (b"X" * 70_000, 431),
    ],
    ids=lambda value: value[:24].decode() if isinstance(value, bytes) else str(value),
)
def test_wrong_heads_are_refused_in_one_line(service: Running, sent: bytes, status: int) -> None:
    assert answer(service, POST + sent)[0] == status
    assert service.send("/healthz")[0] == 200


def test_a_request_line_without_end_and_other_languages_are_refused(service: Running) -> None:
    assert answer(service, b"GET /" + b"a" * 100_000)[0] == 431
    assert answer(service, b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03")[0] == 400
    assert answer(service, b"GET /healthz HTTP/1.1\r\n\r\n")[0] == 400  # no Host


def test_a_head_within_the_limit_is_answered(service: Running) -> None:
    assert service.send("/healthz", headers={"X": "a" * 60_000})[0] == 200


def test_a_huge_head_is_not_kept(start: Start, parser: Parser) -> None:
    """What a client goes on sending after its refusal is passed over, and it sees why."""
    with start({"tiny": parser}) as service:
        assert answer(service, GET + b"X: ", *[b"a" * 100_000] * 200)[0] == 431


CHUNKED = POST + b"Transfer-Encoding: chunked\r\n\r\n"
BODY = b'd\r\n{"text": "A"}\r\n'


@pytest.mark.parametrize(
    ("start", "more"),
    [
        (CHUNKED + BODY + b"0\r\n", b"X: y\r\n"),
        (CHUNKED + BODY + b"0\r\nX: ", b"y"),
        (CHUNKED + BODY + b"2;", b"x"),
        (CHUNKED, b"0" * 64),
    ],
    ids=["headers", "a header", "an extension", "a number"],
)
def test_what_stands_behind_a_body_has_the_limit_of_a_head(service: Running, start: bytes, more: bytes) -> None:
    """The service closes the connection: 300 MB of it were kept."""
    with connected(service) as client, suppress(ConnectionError):
        client.sendall(start)
        for _ in range(20):
            client.sendall(more * (10_000 // len(more)))
        while client.recv(65536):
            pass
    assert service.send("/healthz")[0] == 200


def test_headers_behind_a_body_are_passed_over(service: Running) -> None:
    with connected(service) as client:
        client.sendall(CHUNKED.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n") + BODY + b"0\r\nX: y\r\n\r\n")
        assert client.recv(65536).startswith(b"HTTP/1.1 200")


def test_few_requests_are_taken_ahead_of_their_answers(service: Running) -> None:
    last = GET + b"Connection: close\r\n\r\n"
    assert answers_to_many(service, (GET + b"\r\n") * 50 + last) == 51
    assert answers_to_many(service, (GET + b"\r\n") * 5_000 + last) < 1_000
    assert service.send("/healthz")[0] == 200


def answers_to_many(service: Running, sent: bytes) -> int:
    """Return how many answers come to requests that are sent all at once, until the service closes the connection."""
    received = b""
    with connected(service) as client, suppress(ConnectionError):
        client.sendall(sent)
        while piece := client.recv(65536):
            received += piece
    return received.count(b"HTTP/1.1 200")


def test_half_sent_heads_are_given_up(start: Start, parser: Parser) -> None:
    with start({"tiny": parser}, Settings(limits=ServiceLimits(head_seconds=0.3))) as service:
        status, said = answer(service, GET)
        assert (status, said) == (408, "the head was not complete after 0.3 s")
        with connected(service) as client:
            client.sendall(GET + b"\r\n" + GET)  # half of a second one
            received = b"".join(iter(lambda: client.recv(65536), b""))
        assert b"200 OK" in received
        assert b"408" in received
        with connected(service) as client:
            assert client.recv(100) == b""  # nothing was sent


def test_no_more_connections_than_the_limit(start: Start, parser: Parser) -> None:
    with start({"tiny": parser}, Settings(limits=ServiceLimits(connections=3))) as service, ExitStack() as stack:
        for _ in range(3):
            stack.enter_context(connected(service)).sendall(GET)
        with connected(service) as refused:
            assert b"503" in refused.recv(65536)
        stack.close()

        def answered() -> bool:
            with connected(service) as client:
                client.sendall(GET + b"\r\n")
                return b"200 OK" in client.recv(65536)

        wait_for(answered)


def test_an_answer_that_is_not_read_is_given_up(start: Start, parser: Parser) -> None:
    with start({"tiny": parser}, Settings(limits=ServiceLimits(seconds=5, ahead=10_000))) as service:
        words = json.dumps({"words": [["dog"] * 20] * 50, "fields": ["svg", "tikz", "forest"]}).encode()
        with connected(service) as client:
            client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            requests = (POST + b"Content-Length: %d\r\n\r\n" % len(words) + words) * 20
            client.settimeout(120)
            with pytest.raises(OSError, match=r"reset|[Bb]roken pipe"):
                client.sendall(requests * 100)
        assert service.send("/healthz")[0] == 200


def test_bodies_of_all_clients_have_a_limit(start: Start, parser: Parser) -> None:
    with start({"tiny": parser}, Settings(limits=ServiceLimits(bodies=1_000))) as service, connected(service) as client:
        client.sendall(POST + b"Content-Length: 900\r\n\r\n" + b" " * 800)
        wait_for(lambda: service.send("/v1/parse", b'{"text": "a"}' + b" " * 300)[0] == 503)
        status, said, headers = service.send("/v1/parse", b'{"text": "a"}' + b" " * 300)
        assert (status, said["field"], int(headers["retry-after"]) > 0) == (503, "body", True)
        client.close()
        wait_for(lambda: service.send("/v1/parse", b'{"text": "a"}' + b" " * 300)[0] == 200)
