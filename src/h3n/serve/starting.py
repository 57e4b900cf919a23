"""The application while its models are loaded: it is alive, but not ready."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from contextlib import AsyncExitStack
from typing import Any

from h3n.serve.guard import HEADERS, Message, Receive, Send

ALIVE = "/healthz"
RETRY_SECONDS = 2


class Starting:
    """An ASGI application that is made in a thread: it answers 503 until then, and `/healthz` with 200 all the time.

    ``ready`` is called when it is made. If that fails, ``error`` holds why, and ``failed`` is called.
    """

    def __init__(self, make: Callable[[], Any], *, ready: Callable[[], None], failed: Callable[[], None]) -> None:
        self._make, self._ready, self._failed = make, ready, failed
        self._app: Any = None
        self.error: Exception | None = None

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._live(receive, send)
        elif self._app is not None:
            await self._app(scope, receive, send)
        elif scope["type"] == "http":
            await _answer(scope["path"], send)

    async def _live(self, receive: Receive, send: Send) -> None:
        await receive()
        async with AsyncExitStack() as lifespan:
            loading = asyncio.create_task(self._load(lifespan))
            await send({"type": "lifespan.startup.complete"})
            await receive()
            await loading
        await send({"type": "lifespan.shutdown.complete"})

    async def _load(self, lifespan: AsyncExitStack) -> None:
        try:
            app = await asyncio.to_thread(self._make)
        except Exception as error:
            self.error = error
            self._failed()
            return
        await lifespan.enter_async_context(app.router.lifespan_context(app))
        self._app = app
        self._ready()


async def _answer(path: str, send: Send) -> None:
    alive = path == ALIVE
    content = {"status": "alive"} if alive else {"error": "the models are being loaded", "status": "not ready"}
    body = json.dumps(content).encode()
    headers = {**HEADERS, "content-type": "application/json", "content-length": str(len(body))}
    if not alive:
        headers["retry-after"] = str(RETRY_SECONDS)
    encoded = [(name.encode(), value.encode()) for name, value in headers.items()]
    await send({"type": "http.response.start", "status": 200 if alive else 503, "headers": encoded})
    await send({"type": "http.response.body", "body": body})
