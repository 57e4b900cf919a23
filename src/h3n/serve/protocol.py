"""A connection with the limits that uvicorn's lacks: the size of a head, the time it takes, and that of its answer.

A head is a request's first line and its headers. uvicorn keeps what it has of one for as long as the client likes, an
answer for a client that does not read it, headers behind a body, and all requests that are sent ahead of their answers.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from http import HTTPStatus
from typing import Any

import httptools
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from h3n.serve.guard import HEADERS
from h3n.serve.settings import ServiceLimits

HEAD_STEP, BODY_STEP = 1 << 10, 1 << 16  # bytes: a head is measured in steps
LINGER = 2.0  # seconds that a refused client has to read why; what it sends meanwhile is passed over


class Connection(HttpToolsProtocol):
    """A client's connection. ``refused`` is told the status of what is refused before it is a request."""

    def __init__(self, *arguments: Any, limits: ServiceLimits, refused: Callable[[int], None], **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._limits, self._tell = limits, refused
        self._in_head = True  # or between two requests
        self._head_bytes = 0
        self._frame_bytes = 0  # of a body in chunks: what came since its last byte, such as headers behind it
        self._refused = False
        self._head_timer: asyncio.TimerHandle | None = None
        self._unread_timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        transport.set_write_buffer_limits(high=0)  # so that we are told of every answer that is not taken at once
        if len(self.connections) > self._limits.connections:
            self._refuse(503, f"{self._limits.connections} connections are open, which is the limit")
        else:
            self._time_head()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_timing_head()
        self._stop_timing_answer()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        if self._refused:
            return
        self._unset_keepalive_if_required()
        at = 0
        while at < len(data) and not self._refused and not self.transport.is_closing():
            step = HEAD_STEP if self._in_head else BODY_STEP
            self._feed(data[at : at + step])
            at += step

    def _feed(self, piece: bytes) -> None:
        if self._in_head:
            self._head_bytes += len(piece)
            if self._head_timer is None:
                self._time_head()
        else:
            self._frame_bytes += len(piece)
        try:
            self.parser.feed_data(piece)
        except httptools.HttpParserUpgrade:
            pass  # there is nothing else to speak than HTTP/1.1: the request is answered as it is
        except httptools.HttpParserError as error:
            self._refuse(400, f"not a request of HTTP/1.1: {error}")
            return
        if max(self._head_bytes if self._in_head else 0, self._frame_bytes) > self._limits.head:
            self._refuse(431, f"a head of more than {self._limits.head} bytes, which is the limit")
        elif len(self.pipeline) > self._limits.ahead:
            self._refuse(429, f"more than {self._limits.ahead} requests ahead of their answers, which is the limit")

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self._head_bytes = max(self._head_bytes, 1)
        if self._head_timer is None:  # behind another request
            self._time_head()

    def on_header(self, name: bytes, value: bytes) -> None:
        if self._in_head:  # nobody asks for what stands behind a body
            super().on_header(name, value)

    def on_body(self, body: bytes) -> None:
        self._frame_bytes = 0
        super().on_body(body)

    def on_headers_complete(self) -> None:
        self._in_head, self._head_bytes = False, 0
        self._stop_timing_head()
        super().on_headers_complete()

    def on_message_complete(self) -> None:
        self._in_head, self._frame_bytes = True, 0
        super().on_message_complete()

    def _time_head(self) -> None:
        self._head_timer = self.loop.call_later(self._limits.head_seconds, self._head_is_late)

    def _stop_timing_head(self) -> None:
        if self._head_timer is not None:
            self._head_timer.cancel()
            self._head_timer = None

    def _head_is_late(self) -> None:
        if self._answering:  # what comes behind a request may have to wait for it
            self._time_head()
        elif self._head_bytes:
            self._refuse(408, f"the head was not complete after {self._limits.head_seconds:g} s")
        else:
            self.transport.close()

    @property
    def _answering(self) -> bool:
        return self.cycle is not None and not self.cycle.response_complete

    def _refuse(self, status: int, reason: str) -> None:
        self._refused = True
        self._stop_timing_head()
        if self._answering:
            self.transport.close()
            return
        self._tell(status)
        content = json.dumps({"error": " ".join(reason.split())}).encode()
        headers = {**HEADERS, "content-type": "application/json", "content-length": str(len(content))}
        lines = [f"HTTP/1.1 {status} {HTTPStatus(status).phrase}", "connection: close"]
        lines += [f"{name}: {value}" for name, value in headers.items()]
        self.transport.write("\r\n".join([*lines, "", ""]).encode() + content)
        # Closing at once, with bytes of the client still unread, would reset the connection: it would not see why.
        self.transport.write_eof()
        self.loop.call_later(LINGER, self.transport.close)

    def pause_writing(self) -> None:
        self._unread_timer = self.loop.call_later(self._limits.seconds, self.transport.abort)
        super().pause_writing()

    def resume_writing(self) -> None:
        self._stop_timing_answer()
        super().resume_writing()

    def _stop_timing_answer(self) -> None:
        if self._unread_timer is not None:
            self._unread_timer.cancel()
            self._unread_timer = None
