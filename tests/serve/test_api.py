"""The service over HTTP: answers, errors that name the field, limits."""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("fastapi", reason="needs the extra serve")

from h3n.parser import Parser, load
from h3n.serve import ServiceLimits, Settings
from h3n.serve.examples import EXAMPLES
from h3n.serve.fields import FIELDS
from tests.serve.conftest import Running

TEXT = "The old dog sees a cat. The cat sleeps."
WORDS = ["The", "old", "dog", "sees", "a", "cat", "."]
Start = Callable[..., AbstractContextManager[Running]]


def as_json(content: Any) -> Any:
    return json.loads(json.dumps(content))


def test_answer_is_that_of_the_parser(service: Running, parser: Parser) -> None:
    status, answer, _ = service.send("/v1/parse", {"text": TEXT})
    assert status == 200
    expected = [as_json({"source": 0, **result.to_dict(digits=4)}) for result in parser.parse(TEXT)]
    assert len(expected) == 2
    assert answer == {"model": "tiny", "decoder": parser.engine.decoder_for(None), "sentences": expected}


def test_texts_and_lists_of_words_say_where_a_sentence_is_from(service: Running) -> None:
    _, answer, _ = service.send("/v1/parse", {"texts": [TEXT, "", "A dog barks."], "fields": ["words"]})
    assert [one["source"] for one in answer["sentences"]] == [0, 0, 2]
    _, answer, _ = service.send("/v1/parse", {"words": [WORDS, ["Dogs", "sleep"]], "fields": ["words"]})
    assert answer["sentences"] == [{"source": 0, "words": WORDS}, {"source": 1, "words": ["Dogs", "sleep"]}]


def test_every_field_can_be_asked_for(service: Running, parser: Parser) -> None:
    _, answer, _ = service.send("/v1/parse", {"words": WORDS, "fields": list(FIELDS), "decoder": "hpsg"})
    (result,) = parser.parse(words=WORDS, decoder="hpsg")
    (sentence,) = answer["sentences"]
    assert set(sentence) == {"source", *FIELDS}
    assert {name for name, value in sentence.items() if value is None} == {"lemmas", "features"}  # of this model
    assert sentence["brackets"] == result.brackets()
    assert sentence["conllu"] == result.conllu()
    assert sentence["svg"] == result.svg()
    arcs = {(arc["start"], arc["end"]) for arc in sentence["displacy"]["arcs"]}
    assert arcs == {tuple(sorted((arc.word, arc.governor))) for arc in result.arcs if arc.governor >= 0}


def test_sentence_that_the_parser_refuses_says_so(start: Start, tiny_model: Path) -> None:
    with start({"tiny": load(tiny_model, max_words=3)}) as service:
        _, answer, _ = service.send("/v1/parse", {"words": WORDS, "fields": ["brackets"]})
    (sentence,) = answer["sentences"]
    assert sentence["brackets"] is None
    assert "7 words" in sentence["note"]


def test_what_a_decoder_does_not_find_is_null(service: Running) -> None:
    body = {"words": WORDS, "decoder": "mst", "fields": ["brackets", "forest", "heads"]}
    _, answer, _ = service.send("/v1/parse", body)
    (sentence,) = answer["sentences"]
    assert sentence["brackets"] is None
    assert sentence["forest"] is None
    assert len(sentence["heads"]) == len(WORDS)


def test_constraints_hold_for_their_sentence_alone(service: Running, parser: Parser) -> None:
    plain = list(parser.parse(TEXT, decoder="hpsg"))
    arc = plain[1].arcs[0]
    body = {
        "text": TEXT,
        "decoder": "hpsg",
        "constraints": [{"sentence": 1, "forbid_arcs": [[arc.governor, arc.word]]}],
    }
    _, answer, _ = service.send("/v1/parse", body)
    first, second = answer["sentences"]
    assert first["heads"] == list(plain[0].heads)
    assert second["heads"][arc.word] != plain[1].heads[arc.word]


def test_conflict_is_said_with_the_constraints_that_contradict(service: Running) -> None:
    options = [{"require_spans": [[0, 2], [1, 3]], "forbid_arcs": [[5, 4]]}]
    status, answer, _ = service.send("/v1/parse", {"words": WORDS, "constraints": options})
    assert status == 422
    assert answer["field"] == "constraints"
    assert "span (0, 2) required; span (1, 3) required" in answer["error"]
    assert "arc" not in answer["error"].partition("contradict")[2]


@pytest.mark.parametrize(
    ("body", "field", "said"),
    [
        ({}, "text", "expected one of text, texts, words"),
        ({"text": "a", "words": ["b"]}, "words", "text and words given"),
        ({"text": 3}, "text", "string"),
        ({"text": "a", "constraint": []}, "constraint", "not a key that is known"),
        ({"text": "a", "picture": {"size": 3}}, "picture.size", "not a key that is known"),
        ([], "body", "not a JSON object"),
        ({"text": "a", "constraints": [3]}, "constraints.0", "not a JSON object"),
        ({"text": "a", "style": "xx"}, "style", "known: none"),
        ({"texts": ["a", 3]}, "texts.1", "string"),
        ({"words": ["a", ""]}, "words.1", "empty word"),
        ({"words": [["a"], ["b", " "]]}, "words.1.1", "empty word"),
        ({"text": "\ud800 a"}, "text", "surrogate"),
        ({"text": "a", "model": "xx"}, "model", "known: other, tiny"),
        ({"text": "a", "decoder": "xx"}, "decoder", "known: auto, cky"),
        ({"text": "a", "head_score": "xx"}, "head_score", "known: arg-max"),
        ({"text": "a", "fields": ["xx"]}, "fields", "known: arc_confidences"),
        ({"text": "a", "constraints": [{"sentence": 7, "forbid_arcs": [[0, 1]]}]}, "constraints.0.sentence", "7"),
        ({"text": "a", "constraints": [{"forbid_arcs": [[0]]}]}, "constraints.0.forbid_arcs.0.1", "required"),
        ({"words": ["a"], "constraints": [{"forbid_arcs": [[0, 9]]}]}, "constraints", "1 words"),
        ({"words": ["a"], "decoder": "mst", "constraints": [{"forbid_spans": [[0, 1]]}]}, "constraints", "no spans"),
        ({"text": "a", "fields": ["svg"], "picture": {"theme": "xx"}}, "picture.theme", "known: auto"),
        ({"text": "a", "fields": ["svg"], "picture": {"fit": 3}}, "picture.fit", "3 pixels"),
        (b"{", "body", "not JSON at character 1"),
    ],
)
def test_bad_input_is_422_and_names_the_field(service: Running, body: Any, field: str, said: str) -> None:
    status, answer, _ = service.send("/v1/parse", body)
    assert status == 422, answer
    assert (answer["field"], said in answer["error"], "\n" in answer["error"]) == (field, True, False), answer


@pytest.mark.parametrize(
    ("path", "body", "status"),
    [
        ("/nothing", None, 404),
        ("/v1/parse", None, 405),
        ("/v1/parse", b'{"text": ' + b"[" * 50_000, 422),
        ("/v1/parse", b'{"text": ' + b"1" * 10_000 + b"}", 422),
        ("/?properties=" + "%5B" * 20_000, b"a", 422),
        ("/v1/draw", b'{"sentence": {"words": ' + b"1" * 10_000 + b"}}", 422),
    ],
)
def test_every_refusal_has_the_same_form(service: Running, path: str, body: bytes | None, status: int) -> None:
    found, answer, _ = service.send(path, body)
    assert found == status
    assert isinstance(answer["error"], str)
    assert "\n" not in answer["error"]


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ({"text": "a " * 31}, "31 words or more; at most 30"),
        ({"texts": ["a"] * 4}, "4 texts; at most 3"),
        ({"words": [["a"]] * 4}, "4 sentences; at most 3"),
        ({"words": ["a"] * 21}, "a sentence of 21 words; at most 20"),
        ({"words": ["a"] * 11, "decoder": "hpsg"}, "a sentence of 11 words; at most 10"),
        ({"words": ["a"] * 9, "constraints": [{"forbid_arcs": [[0, 1]] * 6}]}, "more than 5 constraints"),
        ({"text": "a" * 3000}, "more than 2000 bytes"),
    ],
)
def test_limits_are_413(start: Start, parser: Parser, body: Any, said: str) -> None:
    limits = ServiceLimits(body=2000, texts=3, words=30, sentence_words=20, exact_words=10, constraints=5)
    with start({"tiny": parser}, Settings(limits=limits)) as service:
        status, answer, _ = service.send("/v1/parse", body)
        assert status == 413
        assert said in answer["error"]
        assert service.send("/v1/parse", {"text": "A dog."})[0] == 200


def test_streamed_lines_are_the_sentences_of_the_whole_answer(service: Running) -> None:
    body = {"texts": [TEXT] * 3, "fields": ["words", "heads"]}
    _, whole, _ = service.send("/v1/parse", body)
    status, lines, headers = service.send("/v1/parse", {**body, "stream": True})
    assert status == 200
    assert headers["content-type"].startswith("application/x-ndjson")
    assert [json.loads(line) for line in lines.splitlines()] == whole["sentences"]
    _, accepted, _ = service.send("/v1/parse", body, headers={"Accept": "application/x-ndjson"})
    assert accepted == lines


def test_stream_that_cannot_start_is_an_error_as_usual(service: Running) -> None:
    options = [{"require_spans": [[0, 2], [1, 3]]}]
    status, answer, _ = service.send("/v1/parse", {"words": WORDS, "constraints": options, "stream": True})
    assert status == 422
    assert "contradict" in answer["error"]


@pytest.mark.parametrize("name", EXAMPLES)
def test_examples_of_the_reference_work(service: Running, name: str) -> None:
    assert service.send("/v1/parse", EXAMPLES[name]["value"])[0] == 200


def test_models_health_readiness_and_reference(service: Running) -> None:
    _, answer, _ = service.send("/v1/models")
    assert [(one["name"], one["default"]) for one in answer["models"]] == [("tiny", True), ("other", False)]
    assert "NP" in answer["models"][0]["labels"]
    assert service.send("/healthz")[0] == service.send("/readyz")[0] == 200
    _, document, _ = service.send("/openapi.json")
    assert "/v1/parse" in document["paths"]
    examples = document["paths"]["/v1/parse"]["post"]["requestBody"]["content"]["application/json"]["examples"]
    assert set(examples) == set(EXAMPLES)
    status, page, _ = service.send("/docs")
    assert status == 200
    assert "POST /v1/parse" in page
    assert "<script" not in page
    assert "carefully making" in page


def test_unknown_paths_and_methods_are_refused(service: Running) -> None:
    status, answer = service.send("/v1/nothing")[:2]
    assert status == 404
    assert "/v1/parse" in str(answer)
    assert service.send("/v1/parse")[0] == 405
    for path, methods in (("/", "GET, POST"), ("/v1/parse", "POST"), ("/healthz", "GET")):
        request = urllib.request.Request(service.url + path, method="DELETE")
        with pytest.raises(urllib.error.HTTPError) as refused:
            urllib.request.urlopen(request, timeout=60)
        assert (refused.value.code, refused.value.headers["allow"]) == (405, methods)
        refused.value.close()
    assert service.send("/static/../app.py")[0] == 404


def test_metrics_count_requests_sentences_and_batches(start: Start, parser: Parser) -> None:
    with start({"tiny": parser}) as service:
        service.send("/v1/parse", {"text": TEXT})
        service.send("/v1/parse", {"text": 3})
        service.send("/made-up-by-a-client")
        _, text, headers = service.send("/metrics")
    lines = text.splitlines()
    assert headers["content-type"].startswith("text/plain; version=")
    assert 'h3n_requests_total{path="/v1/parse",status="200"} 1.0' in lines
    assert 'h3n_requests_total{path="/v1/parse",status="422"} 1.0' in lines
    assert 'h3n_requests_total{path="other",status="404"} 1.0' in lines
    assert "h3n_sentences_total 2.0" in lines
    assert "h3n_batch_sentences_count 1.0" in lines
    assert 'h3n_request_seconds_bucket{le="+Inf"} 3.0' in lines
    assert "h3n_queue_words 0.0" in lines


def test_every_answer_forbids_inline_script(service: Running) -> None:
    for path in ("/docs", "/v1/models", "/nothing"):
        policy = service.send(path)[2]["content-security-policy"]
        assert "script-src 'self'" in policy
        assert "unsafe" not in policy


def test_a_line_end_may_end_a_sentence(service: Running) -> None:
    asked = {"text": "so tired of\nthe dog. Really!", "fields": ["text"]}
    _, answer, _ = service.send("/v1/parse", asked)
    assert [one["text"] for one in answer["sentences"]] == ["so tired of the dog.", "Really!"]
    _, answer, _ = service.send("/v1/parse", asked | {"newlines": "sentence"})
    assert [one["text"] for one in answer["sentences"]] == ["so tired of", "the dog.", "Really!"]
    status, answer, _ = service.send("/v1/parse", asked | {"newlines": "page"})
    assert status == 422
    assert answer["field"] == "newlines"
