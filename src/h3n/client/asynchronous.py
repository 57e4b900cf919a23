"""The client for asyncio."""

from __future__ import annotations

import asyncio
import contextlib
import re
import ssl
from collections.abc import AsyncGenerator, Sequence
from typing import Any

from h3n.client.shared import (
    LATER,
    Address,
    Sentences,
    body_of,
    listed,
    refusal,
    seconds_to_wait,
    sentence_of,
    unreachable,
)

_STATUS = re.compile(r"[1-9][0-9]{2}")


class Body:
    """The content of an answer, which ends with the connection or comes in chunks that say how long they are."""

    def __init__(self, reader: asyncio.StreamReader, *, chunked: bool) -> None:
        self._reader, self._chunked = reader, chunked
        self._rest = b""

    async def whole(self) -> bytes:
        """Return all of it."""
        blocks = []
        while block := await self._block():
            blocks.append(block)
        return b"".join(blocks)

    async def line(self) -> bytes:
        """Return the next line, and nothing at the end."""
        while b"\n" not in self._rest and (block := await self._block()):
            self._rest += block
        line, end, self._rest = self._rest.partition(b"\n")
        return line + end

    async def _block(self) -> bytes:
        if not self._chunked:
            return await self._reader.read(1 << 16)
        try:
            size = int((await self._reader.readline()).partition(b";")[0], 16)
            block = await self._reader.readexactly(size + 2)  # and the end of the line
        except (asyncio.IncompleteReadError, ValueError):
            raise ConnectionResetError("the connection was closed in the middle of an answer") from None
        return block[:-2]


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
        body = body_of(source, words, {**options, "constraints": constraints, "fields": fields})
        async with self._answer("POST", "/v1/parse", body) as content:
            return listed(self.address, await self._timed(content.whole()), "sentences")

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
        body = body_of(texts, None, {**options, "stream": True})
        async with self._answer("POST", "/v1/parse", body) as content:
            while line := await self._timed(content.line()):
                yield sentence_of(self.address, line)

    async def models(self) -> list[dict[str, Any]]:
        """Return the models of the service."""
        async with self._answer("GET", "/v1/models") as content:
            return listed(self.address, await self._timed(content.whole()), "models")

    async def _timed(self, work: Any) -> bytes:
        try:
            content: bytes = await asyncio.wait_for(work, self.timeout)
        except (OSError, TimeoutError) as error:
            raise unreachable(self.address, error) from None
        return content

    @contextlib.asynccontextmanager
    async def _answer(self, method: str, path: str, body: bytes | None = None) -> AsyncGenerator[Body, None]:
        for attempt in range(self.retries + 1):
            async with self._connection() as (reader, writer):
                writer.write(self._request(method, path, body))
                status, headers = self._parsed_head(await self._timed(_head(reader)))
                content = Body(reader, chunked="chunked" in headers.get("transfer-encoding", ""))
                if status == 200:
                    yield content
                    return
                said = await self._timed(content.whole())
            if status not in LATER or attempt == self.retries:
                raise refusal(self.address, status, said)
            await asyncio.sleep(seconds_to_wait(headers.get("retry-after")))

    @contextlib.asynccontextmanager
    async def _connection(self) -> AsyncGenerator[tuple[asyncio.StreamReader, asyncio.StreamWriter], None]:
        secure = ssl.create_default_context() if self.address.secure else None
        opening = asyncio.open_connection(self.address.host, self.address.port, ssl=secure, limit=1 << 26)
        try:
            reader, writer = await asyncio.wait_for(opening, self.timeout)
        except (OSError, TimeoutError) as error:
            raise unreachable(self.address, error) from None
        try:
            yield reader, writer
        finally:
            writer.close()
            with contextlib.suppress(OSError, ssl.SSLError):
                await writer.wait_closed()

    def _parsed_head(self, head: bytes) -> tuple[int, dict[str, str]]:
        first, *rows = head.decode("latin-1").split("\r\n")
        status = first.split()[1:2]
        if not first.startswith("HTTP/") or not status or not _STATUS.fullmatch(status[0]):
            raise unreachable(self.address, ValueError(f"{first[:100]!r} is not the beginning of an answer"))
        pairs = (row.partition(":") for row in rows if row)
        return int(status[0]), {name.lower(): value.strip() for name, _, value in pairs}

    def _request(self, method: str, path: str, body: bytes | None) -> bytes:
        lines = [f"{method} {self.address.path}{path} HTTP/1.1", f"Host: {self.address.host}:{self.address.port}"]
        lines.append("Connection: close")
        if body is not None:
            lines += ["Content-Type: application/json", f"Content-Length: {len(body)}"]
        return "\r\n".join([*lines, "", ""]).encode() + (body or b"")


async def _head(reader: asyncio.StreamReader) -> bytes:
    try:
        return await reader.readuntil(b"\r\n\r\n")
    except (asyncio.IncompleteReadError, asyncio.LimitOverrunError):
        raise ConnectionResetError("the connection was closed before an answer came") from None
