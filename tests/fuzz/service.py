"""The HTTP service as a target: inside this process, without a socket."""

from __future__ import annotations

import atexit
import json
from functools import cache
from random import Random
from typing import Any

from h3n.serve.examples import EXAMPLES
from tests.fuzz.driver import Target
from tests.fuzz.mutations import mutated, mutated_table
from tests.fuzz.targets import TARGETS, parser

SENTENCE = {"version": 1, "words": ["a", "b"], "tags": ["X", "Y"], "heads": [0, 1], "relations": ["r", "d"]}
PICTURE = {"theme": "dark", "fit": 400, "confidence": True}
MORE = [
    {"texts": ["It rains.", ""], "model": "tiny", "decoder": "cky", "fields": ["svg", "tikz"], "picture": PICTURE},
    {
        "words": [["a", "b"], ["c"]],
        "decoder": "mst",
        "head_score": "arg-max",
        "style": "x",
        "fields": ["score", "heads"],
    },
]
REQUESTS = {
    "/v1/parse": [*(example["value"] for example in EXAMPLES.values()), *MORE],
    "/v1/draw": [{"sentence": {**SENTENCE, "tree": "(S (X a) (Y b))"}, "picture": PICTURE}],
    "/spacy": [{"text": "It rains.", "model": "tiny"}],
    "/spacy/dep": [{"text": "It rains. It snows."}],
}
PROPERTIES = [{"annotators": "tokenize,parse", "outputFormat": "json", "ssplit.eolonly": "true"}]
REFUSALS = (404, 405, 413, 422, 429)


@cache
def client() -> Any:
    """Return a client of a service in this process."""
    from starlette.testclient import TestClient

    from h3n.serve import Limits, Settings
    from h3n.serve.app import create_app

    settings = Settings(limits=Limits(words=500, sentence_words=100), window=0.0)
    app = create_app({"tiny": parser()}, settings=settings)
    running = TestClient(app, base_url="http://localhost", raise_server_exceptions=True)
    running.__enter__()
    atexit.register(running.__exit__, None, None, None)
    return running


def make(chance: Random) -> bytes:
    """Return a path, a line end and a body."""
    kind = chance.randrange(8)
    if kind == 0:
        name = chance.choice(["brackets", "conllu", "jsonl"])
        ending = {"brackets": "ptb"}.get(name, name)
        return f"/v1/treebank?name=x.{ending}\n".encode() + TARGETS[name].make(chance)
    if kind == 1:
        properties = mutated_table(PROPERTIES, chance).decode(errors="replace")
        path = client().build_request("POST", "/", params={"properties": properties}).url.raw_path
        return bytes(path) + b"\n" + mutated([b"It rains. It (really) snows.\n"], chance)
    path = chance.choice(list(REQUESTS))
    return path.encode() + b"\n" + mutated_table(REQUESTS[path], chance)


def ask(content: bytes) -> None:
    """Every request is answered, or refused with one line that is JSON."""
    path, _, body = content.partition(b"\n")
    answer = client().post(path.decode(), content=body, headers={"content-type": "application/json"})
    if answer.status_code == 200:
        if "json" in answer.headers["content-type"] and "ndjson" not in answer.headers["content-type"]:
            json.loads(answer.content)
        return
    assert answer.status_code in REFUSALS, f"{answer.status_code}: {answer.text[:200]}"
    reason = json.loads(answer.content)["error"]
    assert reason
    assert "\n" not in reason, reason


SERVICE = {"service": Target(make, ask, share=6)}
