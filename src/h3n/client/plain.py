"""The client of plain programs: a call returns when the answer is there."""

from __future__ import annotations

import contextlib
import http.client
import time
from collections.abc import Iterator, Sequence
from typing import Any

from h3n.client.shared import (
    LATER,
    Address,
    Sentences,
    body_of,
    listed,
    refusal,
    seconds_to_wait,
    sentence_of,
    unreachable,
)


class Client:
    """Parses by a service. A connection is kept and used again; each thread needs a client of its own."""

    def __init__(self, url: str = "http://localhost:8000", *, timeout: float = 60.0, retries: int = 5) -> None:
        self.address = Address.of(url)
        self.timeout = timeout
        self.retries = retries
        kind = http.client.HTTPSConnection if self.address.secure else http.client.HTTPConnection
        self._connection = kind(self.address.host, self.address.port, timeout=timeout)

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self._connection.close()

    def parse(
        self,
        source: str | Sequence[str] | None = None,
        *,
        words: Sequence[str] | Sequence[Sequence[str]] | None = None,
        model: str | None = None,
        decoder: str | None = None,
        head_score: str | None = None,
        style: str | None = None,
        constraints: Sequence[dict[str, Any]] | None = None,
        fields: Sequence[str] | None = None,
    ) -> Sentences:
        """Return the sentences of a text, of several texts, or of given words."""
        options = {"model": model, "decoder": decoder, "head_score": head_score, "style": style}
        body = body_of(source, words, {**options, "constraints": constraints, "fields": fields})
        return listed(self.address, self._content(self._answer("POST", "/v1/parse", body)), "sentences")

    def stream(
        self,
        texts: Sequence[str],
        *,
        model: str | None = None,
        decoder: str | None = None,
        head_score: str | None = None,
        style: str | None = None,
        fields: Sequence[str] | None = None,
    ) -> Iterator[dict[str, Any]]:
        """Yield the sentences of several texts as they are parsed."""
        options = {"model": model, "decoder": decoder, "head_score": head_score, "style": style, "fields": fields}
        answer = self._answer("POST", "/v1/parse", body_of(texts, None, {**options, "stream": True}))
        try:
            while line := self._line(answer):
                yield sentence_of(self.address, line)
        finally:
            if not answer.isclosed():
                self.close()  # what is left is not wanted, and must not be taken for the next answer

    def models(self) -> list[dict[str, Any]]:
        """Return the models of the service."""
        return listed(self.address, self._content(self._answer("GET", "/v1/models")), "models")

    def _content(self, answer: http.client.HTTPResponse) -> bytes:
        with self._said():
            return answer.read()

    def _line(self, answer: http.client.HTTPResponse) -> bytes:
        with self._said():
            return answer.readline()

    @contextlib.contextmanager
    def _said(self) -> Iterator[None]:
        """Say in one line what is wrong with the content of an answer."""
        try:
            yield
        except (http.client.HTTPException, OSError, ValueError) as error:  # a chunk may have any size, in words too
            self.close()
            raise unreachable(self.address, error) from None

    def _answer(self, method: str, path: str, body: bytes | None = None) -> http.client.HTTPResponse:
        for attempt in range(self.retries + 1):
            answer = self._sent(method, path, body)
            if answer.status == 200:
                return answer
            content = self._content(answer)
            if answer.status not in LATER or attempt == self.retries:
                raise refusal(self.address, answer.status, content)
            time.sleep(seconds_to_wait(answer.getheader("retry-after")))
        raise AssertionError("unreachable")

    def _sent(self, method: str, path: str, body: bytes | None) -> http.client.HTTPResponse:
        headers = {"Content-Type": "application/json"} if body is not None else {}
        for again in (True, False):
            fresh = self._connection.sock is None
            try:
                self._connection.request(method, self.address.path + path, body, headers)
                return self._connection.getresponse()
            except (http.client.HTTPException, OSError, ValueError) as error:
                self.close()
                # A kept connection may have been closed by the other side meanwhile: that is not a failure.
                if fresh or not again or isinstance(error, TimeoutError):
                    raise unreachable(self.address, error) from None
        raise AssertionError("unreachable")
