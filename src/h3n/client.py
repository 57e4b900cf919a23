"""A client of `h3n serve`: one class for plain programs, one for asyncio; `httpx` speaks HTTP for both.

>>> from h3n.client import Client
>>> with Client("http://localhost:8000") as client:
...     for sentence in client.parse("It smells good."):
...         print(sentence["tree"])

Sentences are dictionaries as `Result.to_dict` makes them, with the number of their text as ``source``. A service that
is full or starting is asked again when it says so; any other refusal is a `ServiceError`.
"""

from __future__ import annotations

import asyncio
import json
import re
import ssl
import time
from collections.abc import AsyncGenerator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from typing import Any, TypeAlias
from urllib.parse import urlsplit

from h3n.errors import ServiceError, UsageError, missing_extra

try:
    import httpx
except ModuleNotFoundError as error:
    raise missing_extra(error) from None

__all__ = ["Address", "AsyncClient", "Client", "Sentences"]

Sentences: TypeAlias = "list[dict[str, Any]]"
Words: TypeAlias = "Sequence[str] | Sequence[Sequence[str]]"
_LATER = (429, 503)  # a service that is full, or that is starting
_LONGEST_WAIT = 30.0
_PATH = re.compile(r"[^\s\x00-\x20\x7f]*", re.ASCII)
_HEADERS = {"Accept-Encoding": "identity", "Content-Type": "application/json"}
# The other side may close a kept connection at the moment a request is sent on it.
_CLOSED = (httpx.RemoteProtocolError, httpx.ReadError, httpx.WriteError)
_FAILURES = (httpx.HTTPError, httpx.InvalidURL, httpx.StreamError, OSError, ValueError)


@dataclass(frozen=True, slots=True)
class Address:
    """Where a service is."""

    host: str
    port: int
    secure: bool
    path: str

    @classmethod
    def of(cls, url: str) -> Address:
        try:
            parts = urlsplit(url)
            host, port = parts.hostname or "", parts.port
            host.encode("idna")
            httpx.URL(url)
        except (ValueError, httpx.InvalidURL):  # of a port, of brackets, of a name that cannot be looked up
            raise _not_an_address(url) from None
        if parts.scheme not in ("http", "https") or not host or not _PATH.fullmatch(host + parts.path):
            raise _not_an_address(url)
        secure = parts.scheme == "https"
        return cls(host, port or (443 if secure else 80), secure, parts.path.rstrip("/"))

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"http{'s' if self.secure else ''}://{host}:{self.port}{self.path}"


def _not_an_address(url: str) -> UsageError:
    return UsageError(f"{url!r} is not the address of a service; expected such as http://localhost:8000")


class Client:
    """Parses by a service. Connections are kept and used again."""

    def __init__(self, url: str = "http://localhost:8000", *, timeout: float = 60.0, retries: int = 5) -> None:
        self.address = Address.of(url)
        self.retries = retries
        self._http = httpx.Client(**_options(self.address, timeout))

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self._http.close()

    def parse(
        self,
        source: str | Sequence[str] | None = None,
        *,
        words: Words | None = None,
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
        return _listed(self.address, self._content("POST", "/v1/parse", body), "sentences")

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
        with self._answer("POST", "/v1/parse", _body(texts, None, {**options, "stream": True})) as answer:
            rest = b""
            for block in answer.iter_bytes():
                *lines, rest = (rest + block).split(b"\n")
                for line in lines:
                    yield _sentence(self.address, line)
            if rest:
                yield _sentence(self.address, rest)

    def models(self) -> list[dict[str, Any]]:
        """Return the models of the service."""
        return _listed(self.address, self._content("GET", "/v1/models"), "models")

    def _content(self, method: str, path: str, body: bytes | None = None) -> bytes:
        with self._answer(method, path, body) as answer:
            return answer.read()

    @contextmanager
    def _answer(self, method: str, path: str, body: bytes | None) -> Iterator[httpx.Response]:
        with _one_line(self.address):
            for attempt in range(self.retries + 1):
                answer = self._send(self._http.build_request(method, path, content=body))
                try:
                    if answer.status_code == 200:
                        yield answer
                        return
                    content = answer.read()
                finally:
                    answer.close()
                if answer.status_code not in _LATER or attempt == self.retries:
                    raise _refusal(self.address, answer.status_code, content)
                time.sleep(_seconds_to_wait(answer.headers.get("retry-after")))

    def _send(self, request: httpx.Request) -> httpx.Response:
        try:
            return self._http.send(request, stream=True)
        except _CLOSED:
            return self._http.send(request, stream=True)


class AsyncClient:
    """The same for asyncio. Every call has a connection of its own, so that calls may run at the same time."""

    def __init__(self, url: str = "http://localhost:8000", *, timeout: float = 60.0, retries: int = 5) -> None:
        self.address = Address.of(url)
        self.retries = retries
        self._options = _options(self.address, timeout)

    async def parse(
        self,
        source: str | Sequence[str] | None = None,
        *,
        words: Words | None = None,
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
        async with self._answer("POST", "/v1/parse", body) as answer:
            return _listed(self.address, await answer.aread(), "sentences")

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
        async with self._answer("POST", "/v1/parse", _body(texts, None, {**options, "stream": True})) as answer:
            rest = b""
            async for block in answer.aiter_bytes():
                *lines, rest = (rest + block).split(b"\n")
                for line in lines:
                    yield _sentence(self.address, line)
            if rest:
                yield _sentence(self.address, rest)

    async def models(self) -> list[dict[str, Any]]:
        """Return the models of the service."""
        async with self._answer("GET", "/v1/models") as answer:
            return _listed(self.address, await answer.aread(), "models")

    @asynccontextmanager
    async def _answer(self, method: str, path: str, body: bytes | None = None) -> AsyncGenerator[httpx.Response, None]:
        with _one_line(self.address):
            for attempt in range(self.retries + 1):
                async with (
                    httpx.AsyncClient(**self._options) as client,
                    client.stream(method, path, content=body) as answer,
                ):
                    if answer.status_code == 200:
                        yield answer
                        return
                    content = await answer.aread()
                if answer.status_code not in _LATER or attempt == self.retries:
                    raise _refusal(self.address, answer.status_code, content)
                await asyncio.sleep(_seconds_to_wait(answer.headers.get("retry-after")))


def _options(address: Address, timeout: float) -> dict[str, Any]:
    """Return what both clients of httpx are made with. No proxy stands between a program and its service."""
    verify = ssl.create_default_context() if address.secure else False
    return {"base_url": str(address), "timeout": timeout, "verify": verify, "headers": _HEADERS, "trust_env": False}


@contextmanager
def _one_line(address: Address) -> Iterator[None]:
    """Report in one line what is wrong with a connection or an answer."""
    try:
        yield
    except _FAILURES as error:
        why = getattr(error, "strerror", None) or str(error) or type(error).__name__
        raise ServiceError(f"{address} cannot be reached: {_line(why)}") from None


def _body(
    source: str | Sequence[str] | None,
    words: Words | None,
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


def _seconds_to_wait(header: str | None) -> float:
    try:
        return min(_LONGEST_WAIT, max(0.0, float(header or 1)))
    except ValueError:
        return 1.0


def _refusal(address: Address, status: int, content: bytes) -> ServiceError:
    try:
        said = json.loads(content)["error"]
    except (ValueError, KeyError, TypeError, RecursionError):
        said = content[:200].decode(errors="replace")
    return ServiceError(f"{address} answers {status}: {_line(said) or 'no reason given'}", status=status)


def _listed(address: Address, content: bytes, name: str) -> Sentences:
    """Return the objects that an answer lists under a name; `ServiceError` if it does not."""
    try:
        answer = json.loads(content)
    except (ValueError, RecursionError) as error:
        raise ServiceError(f"{address} answers what is not JSON: {_line(error)}", status=200) from None
    rows = answer.get(name) if isinstance(answer, dict) else None
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise ServiceError(f"{address} answers without {name}; is it h3n?", status=200)
    return rows


def _sentence(address: Address, line: bytes) -> dict[str, Any]:
    try:
        sentence = json.loads(line)
    except (ValueError, RecursionError):
        raise ServiceError(f"{address} stopped in the middle of a line", status=200) from None
    if not isinstance(sentence, dict):
        raise ServiceError(f"{address} answers a line that is not an object; is it h3n?", status=200)
    if "error" in sentence:
        raise ServiceError(f"{address} stopped in the middle: {_line(sentence['error'])}", status=200)
    return sentence


def _line(said: object) -> str:
    """Return what somebody else said as a part of one line."""
    return " ".join(str(said).split())
