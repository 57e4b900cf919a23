"""How much a service takes on, whom it answers, and how it gathers batches.

It answers by the name that a request calls it by, and by the page that the request comes from. A page of another site
reaches a service on this machine in two ways: by a name of its own that it lets lead here (DNS rebinding), which the
header Host shows, and by asking across sites, which the header Origin shows.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from typing import NamedTuple

from h3n.errors import UsageError

LOCAL = ("localhost", "127.0.0.1", "[::1]")  # the names that every service is reached by
ANY = "*"
_NAME = re.compile(r"\[[0-9a-f:.]+\]|[^\s:/\[\]@]+")
_ORIGIN = re.compile(r"null|[a-z][a-z0-9+.-]*://(?:\[[0-9a-f:.]+\]|[^\s:/\[\]@]+)(?::\d{1,5})?")


@dataclass(frozen=True, slots=True)
class ServiceLimits:
    """All limits of a service, each of them in docs/serving.md with the status of the refusal."""

    # a connection
    head: int = 64 << 10  # bytes of a request's first line and headers
    head_seconds: float = 10.0  # from the first byte of a head to its last
    ahead: int = 100  # requests that a client sends before it has the answers to those before
    connections: int = 1_000
    # a request
    body: int = 4 << 20  # bytes
    bodies: int = 256 << 20  # bytes of all bodies that are here at a time
    values: int = 100_000  # of a JSON body: its strings, numbers, lists and objects
    seconds: float = 60.0  # for one request, waiting included
    # what is to be parsed
    texts: int = 2_000
    words: int = 50_000
    sentence_words: int = 1_000
    exact_words: int = 200  # of a sentence for `hpsg`, whose time grows with the fourth power
    word_characters: int = 10_000
    constraints: int = 200
    queue_words: int = 200_000  # of all requests that wait
    # what is to be read and drawn
    treebank_bytes: int = 40 << 20  # unpacked
    treebank_sentences: int = 20_000
    treebank_words: int = 500_000
    phrases: int = 10_000  # of a sentence that has a tree already
    picture_width: int = 100_000  # pixels


@dataclass(frozen=True, slots=True)
class Settings:
    """Options of a service. A batch waits for company at most ``window`` seconds.

    Requests are answered that name one of ``hosts`` (`*`: any) as the service's, and come from no page, from a page of
    the service itself, or from one of ``origins``.
    """

    limits: ServiceLimits = field(default_factory=ServiceLimits)
    window: float = 0.002
    batch_words: int = 4_000
    hosts: frozenset[str] = frozenset(LOCAL)
    origins: frozenset[str] = frozenset()

    def __post_init__(self) -> None:
        if self.window < 0:
            raise UsageError(f"a window of {self.window:g} seconds; 0 or more is accepted")
        numbers = {f.name: getattr(self.limits, f.name) for f in fields(ServiceLimits)} | {
            "batch_words": self.batch_words
        }
        for name, number in numbers.items():
            if number <= 0:
                raise UsageError(f"{name} is {number:g}; more than 0 is accepted")
        for host in self.hosts:
            if not _NAME.fullmatch(host):
                raise UsageError(f"the host {host!r}; expected a name or an address without scheme and port, or {ANY}")
        for origin in self.origins:
            if not _ORIGIN.fullmatch(origin):
                raise UsageError(f"the origin {origin!r}; expected one such as https://example.org:8080, or null")


def host_name(address: str) -> str:
    """Return an address as the header Host has it: in lower case, and in brackets where it has colons."""
    return f"[{address.lower()}]" if ":" in address and not address.startswith("[") else address.lower()


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
