"""The Python client against a real service: answers, streams, errors, patience."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from contextlib import AbstractContextManager

import pytest

pytest.importorskip("fastapi", reason="needs the extra serve")

from h3n.client import AsyncClient, Client
from h3n.errors import ServiceError, UsageError
from h3n.parser import Parser
from h3n.serve import ServiceLimits, Settings
from tests.serve.conftest import GatedParser, Running

TEXTS = ["The old dog sees a cat. The cat sleeps.", "A dog barks."]


def test_sentences_are_those_of_the_parser(service: Running, parser: Parser) -> None:
    expected = [(result.source, result.brackets()) for result in parser.parse(iter(TEXTS))]
    with Client(service.url) as client:
        whole = client.parse(TEXTS, fields=["brackets"])
        lines = list(client.stream(TEXTS, fields=["brackets"]))
        again = client.parse(TEXTS[1])
        names = [model["name"] for model in client.models()]
        words = client.parse(words=["A", "dog", "barks", "."], decoder="mst")
    assert [(one["source"], one["brackets"]) for one in whole] == expected
    assert lines == whole
    assert again[0]["text"] == "A dog barks."
    assert names == ["tiny", "other"]
    assert "tree" not in words[0]


def test_asynchronous_client_answers_the_same_and_many_at_once(service: Running) -> None:
    with Client(service.url) as client:
        expected = [client.parse(f"The cat {i} sleeps.") for i in range(20)]
        lines = list(client.stream(TEXTS))

    async def work() -> None:
        client = AsyncClient(service.url)
        answers = await asyncio.gather(*(client.parse(f"The cat {i} sleeps.") for i in range(20)))
        assert answers == expected
        assert [sentence async for sentence in client.stream(TEXTS)] == lines
        assert [model["name"] for model in await client.models()] == ["tiny", "other"]
        with pytest.raises(ServiceError, match="422: model: unknown model 'xx'"):
            await client.parse("a", model="xx")

    asyncio.run(work())


def test_stream_that_is_left_does_not_disturb_the_next_call(service: Running) -> None:
    with Client(service.url) as client:
        for sentence in client.stream(TEXTS * 50):
            assert sentence["source"] == 0
            break
        assert client.parse("A dog barks.")[0]["words"] == ["A", "dog", "barks", "."]


def test_errors_are_one_line_with_a_status(service: Running) -> None:
    with Client(service.url) as client:
        with pytest.raises(ServiceError, match="422: decoder: unknown decoder 'xx'") as error:
            client.parse("a", decoder="xx")
        assert error.value.status == 422
        with pytest.raises(UsageError, match="either a text"):
            client.parse()
    with pytest.raises(UsageError, match="not the address of a service"):
        Client("localhost:8000")


def test_service_that_is_not_there_is_said() -> None:
    with Client("http://127.0.0.1:1") as client, pytest.raises(ServiceError, match="cannot be reached") as error:
        client.models()
    assert error.value.status is None
    with pytest.raises(ServiceError, match="cannot be reached"):
        asyncio.run(AsyncClient("http://127.0.0.1:1").models())


def test_full_service_is_asked_again(start: Callable[..., AbstractContextManager[Running]], gated: GatedParser) -> None:
    settings = Settings(limits=ServiceLimits(queue_words=1), window=0)
    answers: list[int] = []

    def ask(words: int) -> None:
        with Client(service.url) as client:
            answers.append(len(client.parse(words=[["a"]] * words, fields=[])))

    with start({"tiny": gated}, settings) as service:
        threads = [threading.Thread(target=ask, args=(words,)) for words in (1, 2)]
        threads[0].start()
        assert gated.entered.wait(30)
        threads[1].start()
        with Client(service.url, retries=0) as hasty:
            while service.app.state.service.metrics.queue_words._value.get() != 2:
                threads[1].join(0.01)
            with pytest.raises(ServiceError, match="429"):
                hasty.parse(words=["b"])
        opener = threading.Timer(0.3, gated.gate.set)
        opener.start()
        ask(3)
        for thread in [*threads, opener]:
            thread.join()
        assert sorted(answers) == [1, 2, 3]
        assert 'status="429"} 2' in service.app.state.service.metrics.text()
