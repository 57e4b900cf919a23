"""Many clients at once: every answer belongs to its question. `benchmarks/serving.py` does the same at length."""

from __future__ import annotations

import asyncio
import re

import pytest

pytest.importorskip("fastapi", reason="needs the extra serve")

from h3n.parser import Parser
from h3n.serve import Settings
from tests.serve.conftest import run_service


def test_answers_belong_to_their_questions(parser: Parser) -> None:
    from benchmarks.serving import load, questions

    texts = questions(300)
    assert len(set(texts)) == 300
    with run_service({"tiny": parser}, Settings(window=0.01)) as service:
        taken = asyncio.run(load(service.url, texts, clients=16))
        metrics = service.send("/metrics")[1]
    assert len(taken) == 300
    batches = re.search(r"h3n_batch_sentences_count (\d+)", metrics)
    assert batches is not None
    assert int(batches[1]) < 150  # clients share batches


def test_answer_to_another_question_is_noticed() -> None:
    from benchmarks.serving import check

    check("A dog.", [{"text": "A dog.", "words": ["A", "dog", "."], "heads": [2, 0, 2]}])
    with pytest.raises(SystemExit, match="asked: A cat"):
        check("A cat.", [{"text": "A dog.", "words": ["A", "dog", "."], "heads": [2, 0, 2]}])
