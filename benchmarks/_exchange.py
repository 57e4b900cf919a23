"""Requests that no proper client sends: byte by byte, cut off, foreign, or too large. For `benchmarks.soak`."""

from __future__ import annotations

import asyncio
import contextlib
import re
from collections import Counter
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from h3n.client import Address
from h3n.serve.settings import ServiceLimits

PATIENCE = 120.0  # seconds for an answer
PAUSE = 0.02  # seconds between two bytes of a slow client


@asynccontextmanager
async def connection(address: Address) -> AsyncGenerator[tuple[asyncio.StreamReader, asyncio.StreamWriter], None]:
    reader, writer = await asyncio.open_connection(address.host, address.port)
    try:
        yield reader, writer
    finally:
        writer.close()


def head(
    address: Address, length: int | str | None, *more: str, host: str | None = None, path: str = "/v1/parse"
) -> bytes:
    """Return the head of a request to parse; without a length the body comes in chunks."""
    size = "Transfer-Encoding: chunked" if length is None else f"Content-Length: {length}"
    kind = "application/json" if path == "/v1/parse" else "text/plain"
    lines = [f"POST {path} HTTP/1.1", f"Host: {host or address.host}", f"Content-Type: {kind}", "Connection: close"]
    return "\r\n".join([*lines, *more, size, "", ""]).encode()


async def answer(reader: asyncio.StreamReader) -> tuple[int, bytes]:
    """Return status and content."""
    said = await asyncio.wait_for(reader.read(-1), PATIENCE)
    start, _, content = said.partition(b"\r\n\r\n")
    if not start:
        raise EOFError("closed without an answer")
    return int(start.split()[1]), content


async def send_slowly(address: Address, body: bytes) -> tuple[int, bytes]:
    """Send a body byte by byte and return what comes back."""
    async with connection(address) as (reader, writer):
        writer.write(head(address, len(body)))
        for at in range(len(body)):
            writer.write(body[at : at + 1])
            await writer.drain()
            await asyncio.sleep(PAUSE)
        return await answer(reader)


async def stop_in_the_middle(address: Address, body: bytes) -> None:
    """Send half of a body and go away."""
    async with connection(address) as (_, writer):
        writer.write(head(address, len(body)) + body[: len(body) // 2])
        await writer.drain()
        await asyncio.sleep(PAUSE)


async def send_raw(address: Address, content: bytes) -> int:
    """Send bytes and return the status of the answer."""
    async with connection(address) as (reader, writer):
        with contextlib.suppress(ConnectionError):  # the answer may come before all is sent
            writer.write(content)
            await writer.drain()
        return (await answer(reader))[0]


async def leave_unread(address: Address, content: bytes) -> None:
    """Send a request, do not read its answer for a while, and go away."""
    async with connection(address) as (_, writer):
        writer.write(content)
        await writer.drain()
        await asyncio.sleep(PAUSE * 50)


async def announce_too_much(address: Address) -> int:
    """Announce a body over the limit, send nothing of it, and return the status of the answer."""
    async with connection(address) as (reader, writer):
        writer.write(head(address, ServiceLimits().body + 1))
        return (await answer(reader))[0]


async def send_too_much(address: Address) -> int:
    """Send one byte more than is accepted, in chunks, and return the status of the answer."""
    async with connection(address) as (reader, writer):
        writer.write(head(address, None))
        block = b" " * (1 << 16)
        for _ in range(ServiceLimits().body >> 16):
            writer.write(b"%x\r\n%b\r\n" % (len(block), block))
            await writer.drain()
        writer.write(b"1\r\n \r\n")
        return (await answer(reader))[0]


async def metrics(address: Address) -> Counter[int]:
    """Return how many requests to parse the service counted, by the status of its answer."""
    async with connection(address) as (reader, writer):
        writer.write(f"GET /metrics HTTP/1.1\r\nHost: {address.host}\r\nConnection: close\r\n\r\n".encode())
        _, content = await answer(reader)
    counted: Counter[int] = Counter()
    for status, count in re.findall(
        r'^h3n_requests_total\{[^}]*status="(\d+)"\} (\d+)', content.decode(), re.MULTILINE
    ):
        counted[int(status)] += int(count)
    return counted
