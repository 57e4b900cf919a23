"""What stands around every request: whom it is from, the limits on its body, headers for safety, and the counting.

Bodies are read whole before anything looks at them, as all of them are limited; what comes after the body is passed on,
so that the answering function can wait for the client to go away.
"""

from __future__ import annotations

import asyncio
import json
import re
import time
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any, TypeAlias

from h3n.serve.metrics import Metrics
from h3n.serve.settings import Refusal, Settings, refusal_of

Message: TypeAlias = MutableMapping[str, Any]
Receive: TypeAlias = Callable[[], Awaitable[Message]]
Send: TypeAlias = Callable[[Message], Awaitable[None]]
Application: TypeAlias = Callable[[Message, Receive, Send], Awaitable[None]]

HEADERS = {
    "content-security-policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob: data:; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
}
_HEADERS = [(name.encode(), value.encode()) for name, value in HEADERS.items()]
_STRING = re.compile(rb'"(?:[^"\\]|\\.)*"', re.DOTALL)
LONGEST_NUMBER = 19  # digits of a Content-Length: more is none
RETRY_SECONDS = 2


class _Gone(Exception):
    """The client went away before its request was complete."""


class _Refused(Exception):
    """A request that is not read to its end."""

    def __init__(self, status: int, reason: str, field: str = "body") -> None:
        super().__init__(reason)
        self.refusal = Refusal(status, field, reason)


class Guard:
    """An ASGI application around another one."""

    def __init__(self, app: Application, *, settings: Settings, metrics: Metrics) -> None:
        self.app, self.settings, self.limits, self.metrics = app, settings, settings.limits, metrics
        self._held = 0  # bytes of bodies

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        start, status, started = time.perf_counter(), 500, False

        async def sent(message: Message) -> None:
            nonlocal status, started
            if message["type"] == "http.response.start":
                status, started = message["status"], True
                message["headers"] = [*message.get("headers", ()), *_HEADERS]
            await send(message)

        try:
            await self._limited(scope, receive, sent)
        except _Gone:
            status = 499
        except asyncio.CancelledError:  # the service ends, and what is under way takes too long
            if not started:
                await refuse(sent, Refusal(503, "service", "it ends before this is done"))
        finally:
            path = getattr(scope.get("route"), "path", "other")  # a route's, never what a client made up
            self.metrics.requests.labels(path, str(status)).inc()
            self.metrics.request_seconds.observe(time.perf_counter() - start)

    async def _limited(self, scope: Message, receive: Receive, send: Send) -> None:
        if (refusal := refusal_of(scope["headers"], self.settings)) is not None:
            await refuse(send, refusal)
            return
        body = bytearray()
        try:
            try:
                async with asyncio.timeout(self.limits.seconds):
                    await self._read(scope, receive, body)
                self._check_values(scope, body)
            except TimeoutError:
                raise _Refused(408, f"not complete after {self.limits.seconds:g} s") from None
            await self.app(scope, _replayed(bytes(body), receive), send)
        except _Refused as error:
            await refuse(send, error.refusal)
        finally:
            self._held -= len(body)

    async def _read(self, scope: Message, receive: Receive, body: bytearray) -> None:
        length = dict(scope["headers"]).get(b"content-length", b"0")
        if not length.isdigit() or len(length) > LONGEST_NUMBER:
            raise _Refused(400, "not a number of bytes", "content-length")
        if int(length) > self.limits.body:
            raise self._too_large()
        more = True
        while more:
            message = await receive()
            if message["type"] == "http.disconnect":
                raise _Gone
            piece = message.get("body", b"")
            body += piece
            self._held += len(piece)
            if len(body) > self.limits.body:
                raise self._too_large()
            if self._held > self.limits.bodies:
                raise _Refused(503, f"{self.limits.bodies} bytes of requests are here already, which is the limit")
            more = message.get("more_body", False)

    def _too_large(self) -> _Refused:
        return _Refused(413, f"more than {self.limits.body} bytes, which is the limit")

    def _check_values(self, scope: Message, body: bytearray) -> None:
        """Refuse JSON of very many values before it is read: checking each of a million takes seconds."""
        most = self.limits.values
        if len(body) <= most or b"json" not in dict(scope["headers"]).get(b"content-type", b"").lower():
            return
        bare = _STRING.sub(b"", body)
        if sum(bare.count(mark) for mark in (b",", b"[", b"{")) > most:
            raise _Refused(413, f"more than {most} values, which is the limit")


def _replayed(body: bytes, receive: Receive) -> Receive:
    """Return a function that gives the body, and then what comes after it."""
    given = False

    async def replayed() -> Message:
        nonlocal given
        if given:
            return await receive()
        given = True
        return {"type": "http.request", "body": body, "more_body": False}

    return replayed


async def refuse(send: Send, refusal: Refusal) -> None:
    """Answer a request that was not read to its end."""
    status, name, reason = refusal
    content = json.dumps({"error": f"{name}: {reason}", "field": name}).encode()
    # What is left of the body is not read, so the connection cannot serve another request.
    headers = {"content-type": "application/json", "content-length": str(len(content)), "connection": "close"}
    if status == 503:
        headers["retry-after"] = str(RETRY_SECONDS)
    encoded = [(key.encode(), value.encode()) for key, value in headers.items()]
    await send({"type": "http.response.start", "status": status, "headers": encoded})
    await send({"type": "http.response.body", "body": content})
