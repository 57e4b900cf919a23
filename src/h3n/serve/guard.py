"""What stands around every request: the limit on its body, headers for safety, and the counting.

Bodies are read whole before anything looks at them, as all of them are limited; what comes after the body is passed on,
so that the answering function can wait for the client to go away.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any, TypeAlias

from h3n.serve.metrics import Metrics
from h3n.serve.settings import Limits

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


class _Gone(Exception):
    """The client went away before its request was complete."""


class _TooLarge(Exception):
    """A body beyond the limit."""


class Guard:
    """An ASGI application around another one."""

    def __init__(self, app: Application, *, limits: Limits, metrics: Metrics) -> None:
        self.app, self.limits, self.metrics = app, limits, metrics

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        start, status = time.perf_counter(), 500

        async def sent(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                message["headers"] = [*message.get("headers", ()), *_HEADERS]
            await send(message)

        try:
            await self._limited(scope, receive, sent)
        except _Gone:
            status = 499
        finally:
            path = getattr(scope.get("route"), "path", "other")  # a route's, never what a client made up
            self.metrics.requests.add(1, path, str(status))
            self.metrics.request_seconds.observe(time.perf_counter() - start)

    async def _limited(self, scope: Message, receive: Receive, send: Send) -> None:
        try:
            async with asyncio.timeout(self.limits.seconds):
                body = await self._body(scope, receive)
        except _TooLarge:
            await _refuse(send, 413, f"body: more than {self.limits.body} bytes, which is the limit")
            return
        except TimeoutError:
            await _refuse(send, 408, f"body: not complete after {self.limits.seconds:g} s")
            return
        given = False

        async def replayed() -> Message:
            nonlocal given
            if given:
                return await receive()
            given = True
            return {"type": "http.request", "body": body, "more_body": False}

        await self.app(scope, replayed, send)

    async def _body(self, scope: Message, receive: Receive) -> bytes:
        length = dict(scope["headers"]).get(b"content-length", b"0")
        if not length.isdigit() or int(length) > self.limits.body:
            raise _TooLarge
        body = bytearray()
        while True:
            message = await receive()
            if message["type"] == "http.disconnect":
                raise _Gone
            body += message.get("body", b"")
            if len(body) > self.limits.body:
                raise _TooLarge
            if not message.get("more_body", False):
                return bytes(body)


async def _refuse(send: Send, status: int, reason: str) -> None:
    content = json.dumps({"error": reason, "field": "body"}).encode()
    # What is left of the body is not read, so the connection cannot serve another request.
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(content)).encode())]
    await send({"type": "http.response.start", "status": status, "headers": [*headers, (b"connection", b"close")]})
    await send({"type": "http.response.body", "body": content})
