"""What both clients share: addresses, bodies of requests, and what refusals mean."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias
from urllib.parse import urlsplit

from h3n.errors import ServiceError, UsageError

Sentences: TypeAlias = "list[dict[str, Any]]"
LATER = (429, 503)  # a service that is full, or that is starting
_LONGEST_WAIT = 30.0


@dataclass(frozen=True, slots=True)
class Address:
    """Where a service is."""

    host: str
    port: int
    secure: bool
    path: str

    @classmethod
    def of(cls, url: str) -> Address:
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise UsageError(f"{url!r} is not the address of a service; expected such as http://localhost:8000")
        secure = parts.scheme == "https"
        return cls(parts.hostname, parts.port or (443 if secure else 80), secure, parts.path.rstrip("/"))

    def __str__(self) -> str:
        return f"http{'s' if self.secure else ''}://{self.host}:{self.port}{self.path}"


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
    except (ValueError, KeyError, TypeError):
        said = content[:200].decode(errors="replace").strip() or "no reason given"
    return ServiceError(f"{address} answers {status}: {said}", status=status)


def sentence_of(address: Address, line: bytes) -> dict[str, Any]:
    try:
        sentence: dict[str, Any] = json.loads(line)
    except ValueError:
        raise ServiceError(f"{address} stopped in the middle of a line", status=200) from None
    if "error" in sentence:
        raise ServiceError(f"{address} stopped in the middle: {sentence['error']}", status=200)
    return sentence


def unreachable(address: Address, error: Exception) -> ServiceError:
    why = getattr(error, "strerror", None) or str(error) or type(error).__name__
    return ServiceError(f"{address} cannot be reached: {why}")
