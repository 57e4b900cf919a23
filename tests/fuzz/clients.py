"""What a service may answer, as a target: the clients say in one line what is wrong with it, or return sentences.

A stand-in for the network holds the bytes of the answer, so that hundreds are read in a second.
"""

from __future__ import annotations

import asyncio
from random import Random
from typing import Any
from unittest import mock

import httpcore
import httpx

from h3n.client import Address, AsyncClient, Client
from h3n.client import _seconds_to_wait as seconds_to_wait
from h3n.errors import H3nError
from tests.fuzz.driver import Target, one_line
from tests.fuzz.mutations import mutated, random_text

WHOLE = b'{"model": "en", "sentences": [{"text": "a", "words": ["a"], "heads": [0]}]}'
LINES = b'{"text": "a"}\n{"text": "b"}\n'


def _answer(body: bytes, *headers: str, status: str = "200 OK") -> bytes:
    rows = [f"HTTP/1.1 {status}", "content-type: application/json", *headers, "", ""]
    return "\r\n".join(rows).encode() + body


def _chunked(body: bytes) -> bytes:
    half = len(body) // 2
    return b"".join(b"%x\r\n%b\r\n" % (len(part), part) for part in (body[:half], body[half:], b""))


ANSWERS = [
    _answer(WHOLE, f"content-length: {len(WHOLE)}"),
    _answer(WHOLE),
    _answer(_chunked(WHOLE), "transfer-encoding: chunked"),
    _answer(_chunked(LINES), "transfer-encoding: chunked"),
    _answer(LINES),
    _answer(b'{"error": "full"}', "retry-after: 1", status="429 Too Many Requests"),
    _answer(b'{"error": "text: too long", "field": "text"}', status="413 Too Large"),
    _answer(b'{"text": "a"}\n{"error": "stopped"}\n'),
    _answer(b'{"models": [{"name": "en"}]}'),
    _answer(b"[]"),
    _answer(b'{"sentences": 1}'),
    _answer(b""),
    b"",
]


def _plain(content: bytes) -> Client:
    client = Client("http://localhost:1", retries=1)
    transport = httpx.HTTPTransport()
    transport._pool = httpcore.ConnectionPool(network_backend=httpcore.MockBackend([content]))
    client._http = httpx.Client(base_url=str(client.address), transport=transport)
    return client


def _asynchronous_client(content: bytes) -> AsyncClient:
    client = AsyncClient("http://localhost:1", retries=1)
    transport = httpx.AsyncHTTPTransport()
    transport._pool = httpcore.AsyncConnectionPool(network_backend=httpcore.AsyncMockBackend([content]))
    client._options["transport"] = transport
    return client


def read_answer(content: bytes) -> None:
    """Both clients return what they promise, or raise one line."""
    with mock.patch("h3n.client._seconds_to_wait", _at_once):
        for ask in (
            lambda client: client.parse("a"),
            lambda client: list(client.stream(["a"])),
            lambda client: client.models(),
        ):
            with _plain(content) as client:
                _check(ask, client)
        asyncio.run(_asynchronous(content))


def _at_once(header: str | None) -> float:
    """Wait for nothing; what the header says is read all the same."""
    return 0.0 * seconds_to_wait(header)


def _check(ask: Any, client: Client) -> None:
    with one_line(H3nError):
        _check_kind(ask(client))


def _check_kind(sentences: Any) -> None:
    assert isinstance(sentences, list)
    assert all(isinstance(sentence, dict) for sentence in sentences)


async def _asynchronous(content: bytes) -> None:
    async def streamed(client: AsyncClient) -> list[Any]:
        return [sentence async for sentence in client.stream(["a"])]

    for ask in (lambda client: client.parse("a"), streamed, lambda client: client.models()):
        with one_line(H3nError):
            _check_kind(await ask(_asynchronous_client(content)))


def read_address(content: bytes) -> None:
    """An address is one, and can be written again, or is refused."""
    address = Address.of(content.decode(errors="replace"))
    assert Address.of(str(address)) == address


ADDRESSES = [
    b"http://localhost:8000",
    b"https://[::1]:443/h3n/",
    b"http://user:x@host.example/a?b#c",
    b"HTTP://\xc3\xa9.fr:0",
]


def make_address(chance: Random) -> bytes:
    return random_text(chance) if chance.random() < 0.1 else mutated(ADDRESSES, chance)


CLIENT_TARGETS = {
    "clients": Target(lambda chance: mutated(ANSWERS, chance), read_answer, share=12),
    "addresses": Target(make_address, read_address, share=60),
}
