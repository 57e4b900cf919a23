"""What a service may answer, as a target: the clients say in one line what is wrong with it, or return sentences.

The socket is a stand-in that holds the bytes of the answer, so that thousands are read in a second.
"""

from __future__ import annotations

import asyncio
import http.client
import io
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from random import Random
from typing import Any
from unittest import mock

from h3n.client import Address, AsyncClient, Client, asynchronous, plain
from h3n.client.shared import seconds_to_wait
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


class Socket:
    """As much of a socket as `http.client` needs."""

    def __init__(self, content: bytes) -> None:
        self._content = content

    def makefile(self, *_: Any, **__: Any) -> io.BufferedReader:
        return io.BufferedReader(io.BytesIO(self._content))  # type: ignore[arg-type]

    def sendall(self, _: bytes) -> None:
        pass

    def close(self) -> None:
        pass


def _plain(content: bytes) -> Client:
    client = Client("http://localhost:1", retries=1)

    def connect(connection: http.client.HTTPConnection) -> None:
        connection.sock = Socket(content)  # type: ignore[assignment]

    client._connection.connect = connect.__get__(client._connection)  # type: ignore[method-assign]
    return client


class Asynchronous(AsyncClient):
    """A client whose connections bring an answer that is here already."""

    content = b""

    @asynccontextmanager
    async def _connection(self) -> AsyncGenerator[tuple[asyncio.StreamReader, Any], None]:
        reader = asyncio.StreamReader(limit=1 << 16)
        reader.feed_data(self.content)
        reader.feed_eof()
        yield reader, mock.Mock()


def read_answer(content: bytes) -> None:
    """Both clients return what they promise, or raise one line."""
    with (
        mock.patch.object(plain, "seconds_to_wait", _at_once),
        mock.patch.object(asynchronous, "seconds_to_wait", _at_once),
    ):
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
    client = Asynchronous("http://localhost:1", retries=1)
    client.content = content

    async def streamed() -> list[Any]:
        return [sentence async for sentence in client.stream(["a"])]

    for ask in (lambda: client.parse("a"), streamed, client.models):
        with one_line(H3nError):
            _check_kind(await ask())


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
