"""Work can be stopped: it is given up with its client or its time, and everything in a request has a limit."""

from __future__ import annotations

import gzip
import re
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import fields as dataclass_fields
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("fastapi", reason="needs the extra serve")

from h3n.parser import Parser
from h3n.serve import ServiceLimits, Settings
from h3n.serve.fields import FIELDS
from h3n.serve.pool import THREADS
from tests.serve.conftest import Running
from tests.serve.test_pressure import Sent, wait_for

Start = Callable[..., AbstractContextManager[Running]]
DOCS = Path(__file__).parents[2] / "docs" / "serving.md"


class Slow:
    """A field that waits for its gate, and counts how often it was asked for."""

    def __init__(self) -> None:
        self.gate, self.entered = threading.Event(), threading.Event()
        self.asked = 0

    def __call__(self, *_: Any) -> str:
        self.asked += 1
        self.entered.set()
        assert self.gate.wait(30)
        return "drawn"


@pytest.fixture
def slow(monkeypatch: pytest.MonkeyPatch) -> Iterator[Slow]:
    field = Slow()
    monkeypatch.setitem(FIELDS, "svg", field)
    yield field
    field.gate.set()


SENTENCES: dict[str, Any] = {"words": [["a"]] * 50, "fields": ["svg", "pretty"]}


def idle(service: Running) -> bool:
    return service.app.state.service.pool.working == 0


@pytest.mark.parametrize("stream", [False, True])
def test_drawing_ends_with_its_time(start: Start, parser: Parser, slow: Slow, stream: bool) -> None:
    with start({"tiny": parser}, Settings(limits=ServiceLimits(seconds=0.5))) as service:
        assert service.send("/v1/parse", {**SENTENCES, "stream": stream})[0] == 504
        slow.gate.set()
        wait_for(lambda: idle(service))
        assert slow.asked == 1  # of 50: it asked between two fields
        assert service.send("/v1/parse", SENTENCES)[0] == 200


@pytest.mark.parametrize("stream", [False, True])
def test_drawing_ends_with_its_client(start: Start, parser: Parser, slow: Slow, stream: bool) -> None:
    with start({"tiny": parser}) as service:
        with Sent(service, 50, fields=["svg"], stream=stream):
            assert slow.entered.wait(30)
        wait_for(lambda: 'why="gone"} 1' in service.app.state.service.metrics.text())
        slow.gate.set()
        wait_for(lambda: idle(service))
        assert slow.asked == 1


def test_work_that_cannot_be_stopped_does_not_make_more_threads(start: Start, parser: Parser, slow: Slow) -> None:
    before = threading.active_count()
    with start({"tiny": parser}, Settings(limits=ServiceLimits(seconds=0.3))) as service:
        for _ in range(THREADS + 3):
            assert service.send("/v1/parse", SENTENCES)[0] == 504
        assert service.app.state.service.pool.working == THREADS
        assert threading.active_count() <= before + THREADS + 3  # the service's own, and that of batches
        assert service.send("/v1/parse", {"text": "A dog."})[0] == 200  # others are answered
        slow.gate.set()
        wait_for(lambda: idle(service))


def test_a_treebank_without_sentences_ends_with_its_time(start: Start, parser: Parser) -> None:
    with start({"tiny": parser}, Settings(limits=ServiceLimits(seconds=0.3))) as service:
        blank = gzip.compress(b"\n" * (30 << 20))
        assert service.send("/v1/treebank?name=x.conllu.gz", blank)[0] == 504
        wait_for(lambda: idle(service))


def test_parsing_ends_when_nobody_waits(start: Start, parser: Parser) -> None:
    class Endless:
        engine, precision, segmenter, decoder_for = (
            parser.engine,
            parser.precision,
            parser.segmenter,
            parser.decoder_for,
        )
        parsed = 0
        entered, gate = threading.Event(), threading.Event()

        def parse(self, sentences: Any, **options: Any) -> Any:
            for result in parser.parse(list(sentences), **options):
                self.parsed += 1
                self.entered.set()
                assert self.gate.wait(30)
                yield result

    endless = Endless()
    with start({"tiny": endless}, Settings(window=0)) as service:
        with Sent(service, 50):
            assert endless.entered.wait(30)
        wait_for(lambda: 'why="gone"} 1' in service.app.state.service.metrics.text())
        endless.gate.set()
        assert service.send("/v1/parse", {"words": ["a"]})[0] == 200
    assert endless.parsed == 2


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"text": "a", "fields": ["svg"] * 10_000}, "fields"),
        ({"text": "a", "fields": ["svg", "heads", "svg"]}, "fields"),
        ({"words": ["a", "b"], "constraints": [{"forbid_arcs": [[0, 1], [0, 1]]}]}, "constraints.0.forbid_arcs"),
        ({"words": ["a", "b"], "constraints": [{}, {"require_spans": [[0, 2]] * 2}]}, "constraints.1.require_spans"),
        ({"words": ["a", "b"], "constraints": [{"forbid_arcs": [[0, 1]]}] * 2}, "constraints"),
    ],
)
def test_nothing_is_named_twice(service: Running, body: Any, field: str) -> None:
    status, answer, _ = service.send("/v1/parse", body)
    assert (status, answer["field"], "comes twice" in answer["error"]) == (422, field, True)


def test_no_annotator_is_named_twice(service: Running) -> None:
    path = "/?properties=%7B%22annotators%22:%22parse,parse%22%7D"
    status, answer, _ = service.send(path, b"a", headers={"Content-Type": "text/plain"})
    assert (status, answer["field"]) == (422, "properties.annotators")


@pytest.mark.parametrize(
    "body",
    [
        b'{"text": "a", "fields": [%b]}' % b",".join([b'"svg"'] * 500_000),
        b'{"text": "a", "constraints": [%b]}' % b",".join([b"{}"] * 1_000_000),
        b'{"words": [%b]}' % b",".join([b"1"] * 1_000_000),
        b"{%b}" % b",".join(b'"%d":0' % number for number in range(300_000)),
        b'{"text": ' + b"[" * 1_000_000,
    ],
    ids=lambda body: body[:16].decode(),
)
def test_a_body_of_very_many_values_is_refused_before_it_is_read(service: Running, body: bytes) -> None:
    status, answer, _ = service.send("/v1/parse", body)
    assert (status, answer["field"]) == (413, "body")
    assert "values" in answer["error"]


def test_commas_in_a_text_are_not_values(start: Start, parser: Parser) -> None:
    with start({"tiny": parser}, Settings(limits=ServiceLimits(values=100))) as service:
        assert service.send("/v1/parse", {"text": 'a, "b", [c], \\ {d}. ' * 50, "fields": []})[0] == 200


def nested(levels: int) -> dict[str, Any]:
    return {"sentence": {"version": 1, "words": ["a"], "tree": "(S " * levels + "(N a)" + ")" * levels}}


@pytest.mark.parametrize(
    ("path", "body", "status", "said"),
    [
        ("/v1/parse", {"text": "a" * 10_001}, 413, "a word of 10001 characters"),
        ("/v1/parse", {"words": ["a" * 10_001]}, 413, "a word of 10001 characters"),
        ("/v1/parse", {"text": "a", "picture": {"fit": 10**400}}, 422, "100000 are accepted"),
        ("/v1/draw", {"sentence": {"version": 1, "words": ["a"]}, "picture": {"fit": 10**6}}, 422, "are accepted"),
        ("/v1/draw", nested(10_001), 413, "10001 phrases"),
        ("/v1/draw", {"sentence": {"version": 1, "words": ["a" * 10_001]}}, 413, "10001 characters in a word"),
        ("/v1/treebank?name=x.conllu.gz", gzip.compress(b"# c\n" * (11 << 20), mtime=0), 413, "when unpacked"),
        ("/v1/treebank?name=x.ptb", b"(S (N a))" * 20_001, 413, "20000 sentences"),
        ("/v1/parse", {"text": "a", "k" * 100_000: 1}, 422, "not a key"),
        ("/v1/parse", {"text": "a", "model": "m\n" * 100_000}, 422, "unknown model"),
    ],
    ids=lambda value: str(value)[:30],
)
def test_everything_in_a_request_has_a_limit(service: Running, path: str, body: Any, status: int, said: str) -> None:
    found, answer, _ = service.send(path, body)
    assert (found, len(answer["error"]) < 1_100, "\n" in answer["error"]) == (status, True, False)
    assert said in answer["error"] or said == "not a key"


def test_all_limits_are_in_the_documentation() -> None:
    rows = dict(re.findall(r"^\| `(\w+)` \| ([\d,.]+)", DOCS.read_text(encoding="utf-8"), flags=re.M))
    limits = {field.name: getattr(ServiceLimits(), field.name) for field in dataclass_fields(ServiceLimits)}
    assert {name: float(rows[name].replace(",", "")) for name in limits if name in rows} == limits
