"""Running the application: a socket, uvicorn, and an end that comes in time and finishes what it can."""

from __future__ import annotations

import signal
import socket
from asyncio import Protocol
from collections.abc import Callable
from functools import partial
from types import FrameType
from typing import Any, cast

import uvicorn

from h3n.errors import UsageError
from h3n.files import reason
from h3n.serve.ending import end, end_later, killed_after_signal
from h3n.serve.protocol import Connection
from h3n.serve.settings import Settings
from h3n.serve.starting import Starting

GRACE = 10.0  # seconds from the signal to the end of the process, whatever is under way
ANSWERING = 6  # of these, to answer requests
LAST_RESORT, KILLED = 8.0, 9.0  # after these the process ends where it stands, or is killed


def bind(host: str, port: int) -> socket.socket:
    """Return a listening socket; port 0 takes a free one."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family, backlog=1024)
    except (OSError, OverflowError) as error:
        why = reason(error).partition(" (while")[0] if isinstance(error, OSError) else "ports are 0 to 65535"
        raise UsageError(f"cannot listen on {host}, port {port}: {why}") from None


def address(bound: socket.socket) -> str:
    """Return where the service is reached."""
    host, port = bound.getsockname()[:2]
    return f"http://{f'[{host}]' if ':' in host else host}:{port}"


def server_of(
    app: Any, settings: Settings, *, refused: Callable[[int], None] = lambda _: None, log: str = "warning"
) -> uvicorn.Server:
    """Return a server for the application. ``refused`` is told of what is refused before it is a request."""
    config = uvicorn.Config(
        app,
        http=cast(type[Protocol], partial(Connection, limits=settings.limits, refused=refused)),
        loop="asyncio",  # others take the descriptor that tells of signals for themselves
        ws="none",
        log_level=log,
        use_colors=False,
        access_log=log in ("info", "debug"),
        timeout_graceful_shutdown=ANSWERING,
        server_header=False,
        proxy_headers=False,
        lifespan="on",
    )
    return _Server(config)


class _Server(uvicorn.Server):
    """A server that a signal ends in time, even if a thread does not."""

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        if not self.should_exit:
            end_later(LAST_RESORT)
        super().handle_exit(sig, frame)


def run(
    make: Callable[[], Any],
    bound: socket.socket,
    *,
    ready: Callable[[], None],
    settings: Settings,
    log: str = "warning",
) -> None:
    """Serve the application that is made until a signal comes; then answer what is under way.

    The process ends within ``GRACE`` seconds of the signal, be the work done or not. ``ready`` is called when the
    application is there; if it cannot be made, the reason is raised.
    """
    if signal.getsignal(signal.SIGTERM) is not signal.SIG_IGN:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)  # uvicorn sends the signal again when all is done
    starting = Starting(make, settings=settings, ready=ready, failed=lambda: setattr(server, "should_exit", True))
    server = server_of(starting, settings, refused=starting.count_refusal, log=log)
    with killed_after_signal(KILLED):
        server.run(sockets=[bound])
    if starting.error is not None:
        raise starting.error
    if starting.busy:  # a thread in native code, while the interpreter is taken down around it, may crash
        end(0)
