"""Running the application: a socket, uvicorn, and an end that finishes what is under way."""

from __future__ import annotations

import signal
import socket
from typing import Any

import uvicorn

from h3n.errors import UsageError
from h3n.files import reason


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


def run(app: Any, bound: socket.socket, *, patience: float, log: str = "warning") -> None:
    """Serve until a signal comes; then answer what is under way, for at most ``patience`` seconds."""
    if signal.getsignal(signal.SIGTERM) is not signal.SIG_IGN:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)  # uvicorn sends the signal again when all is done
    config = uvicorn.Config(
        app,
        log_level=log,
        access_log=log in ("info", "debug"),
        timeout_graceful_shutdown=max(1, round(patience)),
        server_header=False,
        lifespan="on",
    )
    uvicorn.Server(config).run(sockets=[bound])
