"""Running the application: a socket, uvicorn, and an end that finishes what is under way."""

from __future__ import annotations

import signal
import socket
from collections.abc import Callable
from typing import Any

import uvicorn

from h3n.errors import UsageError
from h3n.files import reason
from h3n.serve.starting import Starting


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


def run(
    make: Callable[[], Any], bound: socket.socket, *, ready: Callable[[], None], patience: float, log: str = "warning"
) -> None:
    """Serve the application that is made until a signal comes; then answer what is under way.

    That takes at most ``patience`` seconds. ``ready`` is called when the application is there; if it cannot be made,
    the reason is raised.
    """
    if signal.getsignal(signal.SIGTERM) is not signal.SIG_IGN:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)  # uvicorn sends the signal again when all is done
    starting = Starting(make, ready=ready, failed=lambda: setattr(server, "should_exit", True))
    config = uvicorn.Config(
        starting,
        log_level=log,
        use_colors=False,
        access_log=log in ("info", "debug"),
        timeout_graceful_shutdown=max(1, round(patience)),
        server_header=False,
        lifespan="on",
    )
    server = uvicorn.Server(config)
    server.run(sockets=[bound])
    if starting.error is not None:
        raise starting.error
