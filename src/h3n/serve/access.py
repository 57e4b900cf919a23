"""Whom the service answers: by the name that a request calls it by, and by the page that the request comes from.

A page of another site reaches a service on this machine in two ways: by a name of its own that it lets lead here (DNS
rebinding), which the header Host shows, and by asking across sites, which the header Origin shows.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from h3n.serve.settings import ANY, Settings

_HOST = re.compile(r"(\[[0-9a-f:.]+\]|[^:\[\]]*)(?::\d{1,5})?")
SHOWN = 100  # characters of a header in a message


class Refusal(NamedTuple):
    """Why a request is not answered: the status, the part that is wrong, and the reason."""

    status: int
    field: str
    reason: str


def refusal_of(headers: Sequence[tuple[bytes, bytes]], settings: Settings) -> Refusal | None:
    """Return why a request with these headers is not answered, None if it is."""
    hosts = _values(headers, b"host")
    if len(hosts) != 1:
        return Refusal(400, "host", f"{len(hosts)} headers of this name; expected one")
    (host,) = hosts
    match = _HOST.fullmatch(host)
    if match is None or (match[1] not in settings.hosts and ANY not in settings.hosts):
        return Refusal(403, "host", f"this service is not called {host[:SHOWN]!a}; --allow-host adds a name")
    for origin in _values(headers, b"origin"):
        if origin not in settings.origins and origin not in (f"http://{host}", f"https://{host}"):
            return Refusal(
                403, "origin", f"pages of {origin[:SHOWN]!a} are not answered; --allow-origin adds an origin"
            )
    return None


def _values(headers: Sequence[tuple[bytes, bytes]], name: bytes) -> list[str]:
    return [value.decode("latin-1").strip().lower() for key, value in headers if key == name]
