"""What both clients share: addresses, bodies of requests, and what refusals mean."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias
from urllib.parse import urlsplit

from h3n.errors import ServiceError, UsageError

Sentences: TypeAlias = "list[dict[str, Any]]"
LATER = (429, 503)  # a service that is full, or that is starting
_LONGEST_WAIT = 30.0
_PATH = re.compile(r"[^\s\x00-\x20\x7f]*", re.ASCII)


@dataclass(frozen=True, slots=True)
class Address:
    """Where a service is."""

    host: str
    port: int
    secure: bool
    path: str

    @classmethod
    def of(cls, url: str) -> Address:
        try:
            parts = urlsplit(url)
            host, port = parts.hostname or "", parts.port
            host.encode("idna")
        except ValueError:  # of a port, of brackets, of a name that cannot be looked up
            raise _not_an_address(url) from None
        if parts.scheme not in ("http", "https") or not host or not _PATH.fullmatch(host + parts.path):
            raise _not_an_address(url)
        secure = parts.scheme == "https"
        return cls(host, port or (443 if secure else 80), secure, parts.path.rstrip("/"))

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"http{'s' if self.secure else ''}://{host}:{self.port}{self.path}"


def _not_an_address(url: str) -> UsageError:
    return UsageError(f"{url!r} is not the address of a service; expected such as http://localhost:8000")


def body_of(
    source: str | Sequence[str] | None,
    words: Sequence[str] | Sequence[Sequence[str]] | None,
    options: dict[str, Any],
) -> bytes:
    if (source is None) == (words is None):
        raise UsageError("expected either a text, or several, or words")
    body: dict[str, Any] = {name: value for name, value in options.items() if value is not None}
    if words is not None:
        body["words"] = words
    elif isinstance(source, str):
        body["text"] = source
    else:
        body["texts"] = list(source or ())
    return json.dumps(body).encode()


def seconds_to_wait(header: str | None) -> float:
    try:
        return min(_LONGEST_WAIT, max(0.0, float(header or 1)))
    except ValueError:
        return 1.0


def refusal(address: Address, status: int, content: bytes) -> ServiceError:
    try:
        said = json.loads(content)["error"]
    except (ValueError, KeyError, TypeError, RecursionError):
        said = content[:200].decode(errors="replace")
    return ServiceError(f"{address} answers {status}: {_line(said) or 'no reason given'}", status=status)


def listed(address: Address, content: bytes, name: str) -> Sentences:
    """Return the objects that an answer lists under a name; `ServiceError` if it does not."""
    try:
        answer = json.loads(content)
    except (ValueError, RecursionError) as error:
        raise ServiceError(f"{address} answers what is not JSON: {_line(error)}", status=200) from None
    rows = answer.get(name) if isinstance(answer, dict) else None
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise ServiceError(f"{address} answers without {name}; is it h3n?", status=200)
    return rows


def sentence_of(address: Address, line: bytes) -> dict[str, Any]:
    try:
        sentence = json.loads(line)
    except (ValueError, RecursionError):
        raise ServiceError(f"{address} stopped in the middle of a line", status=200) from None
    if not isinstance(sentence, dict):
        raise ServiceError(f"{address} answers a line that is not an object; is it h3n?", status=200)
    if "error" in sentence:
        raise ServiceError(f"{address} stopped in the middle: {_line(sentence['error'])}", status=200)
    return sentence


def unreachable(address: Address, error: Exception) -> ServiceError:
    why = getattr(error, "strerror", None) or str(error) or type(error).__name__
    return ServiceError(f"{address} cannot be reached: {_line(why)}")


def _line(said: object) -> str:
    """Return what somebody else said as a part of one line."""
    return " ".join(str(said).split())
