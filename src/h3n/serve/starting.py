"""The application while its models are loaded: it is alive, but not ready."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from contextlib import AsyncExitStack
from typing import Any

from h3n.serve.guard import HEADERS, RETRY_SECONDS, Message, Receive, Send, refuse
from h3n.serve.pool import Pool, Ticket
from h3n.serve.settings import Settings, refusal_of

ALIVE = "/healthz"


class Starting:
    """An ASGI application that is made in a thread: it answers 503 until then, and `/healthz` with 200 all the time.

    ``ready`` is called when it is made. If that fails, ``error`` holds why, and ``failed`` is called.
    """

    def __init__(
        self, make: Callable[[], Any], *, settings: Settings, ready: Callable[[], None], failed: Callable[[], None]
    ) -> None:
        self._make, self._settings, self._ready, self._failed = make, settings, ready, failed
        self._pool = Pool()
        self._app: Any = None
        self.error: Exception | None = None

    @property
    def busy(self) -> bool:
        """Whether a thread still works for the application, or on making it."""
        service = self._app.state.service if self._app is not None else None
        return self._pool.working > 0 or (service is not None and (service.pool.working > 0 or service.batcher.alive))

    def count_refusal(self, status: int) -> None:
        """Count what was refused before it was a request."""
        if self._app is not None:
            self._app.state.service.metrics.requests.labels("other", str(status)).inc()

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._live(receive, send)
        elif self._app is not None:
            await self._app(scope, receive, send)
        elif scope["type"] == "http":
            refusal = refusal_of(scope["headers"], self._settings)
            await (_answer(scope["path"], send) if refusal is None else refuse(send, refusal))

    async def _live(self, receive: Receive, send: Send) -> None:
        await receive()
        async with AsyncExitStack() as lifespan:
            loading = asyncio.create_task(self._load(lifespan))
            await send({"type": "lifespan.startup.complete"})
            await receive()
            loading.cancel()
            await asyncio.gather(loading, return_exceptions=True)
        await send({"type": "lifespan.shutdown.complete"})

    async def _load(self, lifespan: AsyncExitStack) -> None:
        try:
            app = await self._pool.run(_made, self._make)
        except Exception as error:
            self.error = error
            self._failed()
            return
        await lifespan.enter_async_context(app.router.lifespan_context(app))
        self._app = app
        self._ready()


def _made(_: Ticket, make: Callable[[], Any]) -> Any:
    return make()


async def _answer(path: str, send: Send) -> None:
    alive = path == ALIVE
    content = {"status": "alive"} if alive else {"error": "the models are being loaded", "status": "not ready"}
    body = json.dumps(content).encode()
    headers = {**HEADERS, "content-type": "application/json", "content-length": str(len(body)), "connection": "close"}
    if not alive:
        headers["retry-after"] = str(RETRY_SECONDS)
    encoded = [(name.encode(), value.encode()) for name, value in headers.items()]
    await send({"type": "http.response.start", "status": 200 if alive else 503, "headers": encoded})
    await send({"type": "http.response.body", "body": body})
