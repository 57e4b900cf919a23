"""A client of `h3n serve`, of the standard library alone: one class for plain programs, one for asyncio.

>>> from h3n.client import Client
>>> with Client("http://localhost:8000") as client:
...     for sentence in client.parse("It smells good."):
...         print(sentence["tree"])

Sentences are dictionaries as `Result.to_dict` makes them, with the number of their text as ``source``. A service that
is full is asked again when it says so; any other refusal is a `ServiceError`.
"""

from __future__ import annotations

import asyncio
import contextlib
import http.client
import json
import ssl
import time
from collections.abc import AsyncGenerator, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias
from urllib.parse import urlsplit

from h3n.errors import ServiceError, UsageError

Sentences: TypeAlias = "list[dict[str, Any]]"
_LATER = (429, 503)  # a service that is full, or that is starting
_LONGEST_WAIT = 30.0


@dataclass(frozen=True, slots=True)
class Address:
    """Where a service is."""

    host: str
    port: int
    secure: bool
    path: str

    @classmethod
    def of(cls, url: str) -> Address:
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise UsageError(f"{url!r} is not the address of a service; expected such as http://localhost:8000")
        secure = parts.scheme == "https"
        return cls(parts.hostname, parts.port or (443 if secure else 80), secure, parts.path.rstrip("/"))

    def __str__(self) -> str:
        return f"http{'s' if self.secure else ''}://{self.host}:{self.port}{self.path}"


def _body(
    source: str | Sequence[str] | None,
    words: Sequence[str] | Sequence[Sequence[str]] | None,
    options: dict[str, Any],
) -> bytes:
    if (source is None) == (words is None):
        raise UsageError("expected either a text, or several, or words")
    body: dict[str, Any] = {name: value for name, value in options.items() if value is not None}
    if words is not None:
        body["words"] = words
    elif isinstance(source, str):
        body["text"] = source
    else:
        body["texts"] = list(source or ())
    return json.dumps(body).encode()


def _wait(header: str | None) -> float:
    try:
        return min(_LONGEST_WAIT, max(0.0, float(header or 1)))
    except ValueError:
        return 1.0


def _error(address: Address, status: int, content: bytes) -> ServiceError:
    try:
        said = json.loads(content)["error"]
    except (ValueError, KeyError, TypeError):
        said = content[:200].decode(errors="replace").strip() or "no reason given"
    return ServiceError(f"{address} answers {status}: {said}", status=status)


def _line(address: Address, line: bytes) -> dict[str, Any]:
    try:
        sentence: dict[str, Any] = json.loads(line)
    except ValueError:
        raise ServiceError(f"{address} stopped in the middle of a line", status=200) from None
    if "error" in sentence:
        raise ServiceError(f"{address} stopped in the middle: {sentence['error']}", status=200)
    return sentence


class Client:
    """Parses by a service. A connection is kept and used again; each thread needs a client of its own."""

    def __init__(self, url: str = "http://localhost:8000", *, timeout: float = 60.0, retries: int = 5) -> None:
        self.address = Address.of(url)
        self.timeout = timeout
        self.retries = retries
        kind = http.client.HTTPSConnection if self.address.secure else http.client.HTTPConnection
        self._connection = kind(self.address.host, self.address.port, timeout=timeout)

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self._connection.close()

    def parse(
        self,
        source: str | Sequence[str] | None = None,
        *,
        words: Sequence[str] | Sequence[Sequence[str]] | None = None,
        model: str | None = None,
        decoder: str | None = None,
        head_score: str | None = None,
        style: str | None = None,
        constraints: Sequence[dict[str, Any]] | None = None,
        fields: Sequence[str] | None = None,
    ) -> Sentences:
        """Return the sentences of a text, of several texts, or of given words."""
        options = {"model": model, "decoder": decoder, "head_score": head_score, "style": style}
        body = _body(source, words, {**options, "constraints": constraints, "fields": fields})
        answer: Sentences = json.loads(self._answer("POST", "/v1/parse", body).read())["sentences"]
        return answer

    def stream(
        self,
        texts: Sequence[str],
        *,
        model: str | None = None,
        decoder: str | None = None,
        head_score: str | None = None,
        style: str | None = None,
        fields: Sequence[str] | None = None,
    ) -> Iterator[dict[str, Any]]:
        """Yield the sentences of several texts as they are parsed."""
        options = {"model": model, "decoder": decoder, "head_score": head_score, "style": style, "fields": fields}
        answer = self._answer("POST", "/v1/parse", _body(texts, None, {**options, "stream": True}))
        try:
            while line := answer.readline():
                yield _line(self.address, line)
        finally:
            if not answer.isclosed():
                self.close()  # what is left is not wanted, and must not be taken for the next answer

    def models(self) -> list[dict[str, Any]]:
        """Return the models of the service."""
        models: list[dict[str, Any]] = json.loads(self._answer("GET", "/v1/models").read())["models"]
        return models

    def _answer(self, method: str, path: str, body: bytes | None = None) -> http.client.HTTPResponse:
        for attempt in range(self.retries + 1):
            answer = self._sent(method, path, body)
            if answer.status == 200:
                return answer
            content = answer.read()
            if answer.status not in _LATER or attempt == self.retries:
                raise _error(self.address, answer.status, content)
            time.sleep(_wait(answer.getheader("retry-after")))
        raise AssertionError("unreachable")

    def _sent(self, method: str, path: str, body: bytes | None) -> http.client.HTTPResponse:
        headers = {"Content-Type": "application/json"} if body is not None else {}
        for again in (True, False):
            fresh = self._connection.sock is None
            try:
                self._connection.request(method, self.address.path + path, body, headers)
                return self._connection.getresponse()
            except (http.client.HTTPException, OSError) as error:
                self.close()
                # A kept connection may have been closed by the other side meanwhile: that is not a failure.
                if fresh or not again or isinstance(error, TimeoutError):
                    raise _unreachable(self.address, error) from None
        raise AssertionError("unreachable")


def _unreachable(address: Address, error: Exception) -> ServiceError:
    why = getattr(error, "strerror", None) or str(error) or type(error).__name__
    return ServiceError(f"{address} cannot be reached: {why}")


class AsyncClient:
    """The same for asyncio. Every call has a connection of its own, so that calls may run at the same time."""

    def __init__(self, url: str = "http://localhost:8000", *, timeout: float = 60.0, retries: int = 5) -> None:
        self.address = Address.of(url)
        self.timeout = timeout
        self.retries = retries

    async def parse(
        self,
        source: str | Sequence[str] | None = None,
        *,
        words: Sequence[str] | Sequence[Sequence[str]] | None = None,
        model: str | None = None,
        decoder: str | None = None,
        head_score: str | None = None,
        style: str | None = None,
        constraints: Sequence[dict[str, Any]] | None = None,
        fields: Sequence[str] | None = None,
    ) -> Sentences:
        """Return the sentences of a text, of several texts, or of given words."""
        options = {"model": model, "decoder": decoder, "head_score": head_score, "style": style}
        body = _body(source, words, {**options, "constraints": constraints, "fields": fields})
        async with self._answer("POST", "/v1/parse", body) as reader:
            answer: Sentences = json.loads(await self._timed(reader.read()))["sentences"]
        return answer

    async def stream(
        self,
        texts: Sequence[str],
        *,
        model: str | None = None,
        decoder: str | None = None,
        head_score: str | None = None,
        style: str | None = None,
        fields: Sequence[str] | None = None,
    ) -> AsyncGenerator[dict[str, Any], None]:
        """Yield the sentences of several texts as they are parsed."""
        options = {"model": model, "decoder": decoder, "head_score": head_score, "style": style, "fields": fields}
        body = _body(texts, None, {**options, "stream": True})
        async with self._answer("POST", "/v1/parse", body) as reader:
            while line := await self._timed(reader.readline()):
                yield _line(self.address, line)

    async def models(self) -> list[dict[str, Any]]:
        """Return the models of the service."""
        async with self._answer("GET", "/v1/models") as reader:
            models: list[dict[str, Any]] = json.loads(await self._timed(reader.read()))["models"]
        return models

    async def _timed(self, work: Any) -> bytes:
        try:
            content: bytes = await asyncio.wait_for(work, self.timeout)
        except (OSError, TimeoutError) as error:
            raise _unreachable(self.address, error) from None
        return content

    @contextlib.asynccontextmanager
    async def _answer(
        self, method: str, path: str, body: bytes | None = None
    ) -> AsyncGenerator[asyncio.StreamReader, None]:
        for attempt in range(self.retries + 1):
            async with self._connection() as (reader, writer):
                writer.write(self._request(method, path, body))
                head = await self._timed(_head(reader))
                status, headers = _parsed_head(head)
                if status == 200:
                    yield reader
                    return
                content = await self._timed(reader.read())
            if status not in _LATER or attempt == self.retries:
                raise _error(self.address, status, content)
            await asyncio.sleep(_wait(headers.get("retry-after")))

    @contextlib.asynccontextmanager
    async def _connection(self) -> AsyncGenerator[tuple[asyncio.StreamReader, asyncio.StreamWriter], None]:
        secure = ssl.create_default_context() if self.address.secure else None
        opening = asyncio.open_connection(self.address.host, self.address.port, ssl=secure, limit=1 << 26)
        try:
            reader, writer = await asyncio.wait_for(opening, self.timeout)
        except (OSError, TimeoutError) as error:
            raise _unreachable(self.address, error) from None
        try:
            yield reader, writer
        finally:
            writer.close()
            with contextlib.suppress(OSError, ssl.SSLError):
                await writer.wait_closed()

    def _request(self, method: str, path: str, body: bytes | None) -> bytes:
        # HTTP/1.0 asks for an answer that simply ends, without chunks.
        lines = [f"{method} {self.address.path}{path} HTTP/1.0", f"Host: {self.address.host}:{self.address.port}"]
        if body is not None:
            lines += ["Content-Type: application/json", f"Content-Length: {len(body)}"]
        return "\r\n".join([*lines, "", ""]).encode() + (body or b"")


async def _head(reader: asyncio.StreamReader) -> bytes:
    try:
        return await reader.readuntil(b"\r\n\r\n")
    except (asyncio.IncompleteReadError, asyncio.LimitOverrunError):
        raise ConnectionResetError("the connection was closed before an answer came") from None


def _parsed_head(head: bytes) -> tuple[int, dict[str, str]]:
    first, *rows = head.decode("latin-1").split("\r\n")
    pairs = (row.partition(":") for row in rows if row)
    return int(first.split()[1]), {name.lower(): value.strip() for name, _, value in pairs}
