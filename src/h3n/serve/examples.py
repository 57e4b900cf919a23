"""Requests and answers as the reference shows them; a test sends every request."""

from __future__ import annotations

from typing import Any

from h3n.serve.schemas import PROBLEM, content

EXAMPLES: dict[str, Any] = {
    "text": {"summary": "A text", "value": {"text": "She is carefully making the cake. It smells good."}},
    "words": {"summary": "Words", "value": {"words": ["It", "smells", "good", "."], "fields": ["brackets", "heads"]}},
    "constraints": {
        "summary": "Constraints: a phrase that must be there, an arc that must not",
        "value": {
            "words": ["We", "saw", "stars"],
            "constraints": [{"require_spans": [[1, 3]], "forbid_arcs": [[0, 2]]}],
        },
    },
    "stream": {
        "summary": "Several texts as JSON lines",
        "value": {"texts": ["It rains.", "It snows."], "fields": ["words", "heads", "relations"], "stream": True},
    },
}

ANSWER: dict[str, Any] = {
    "model": "en",
    "decoder": "auto",
    "sentences": [
        {
            "source": 0,
            "version": 1,
            "words": ["It", "rains", "."],
            "heads": [2, 0, 2],
            "relations": ["nsubj", "root", "punct"],
            "tree": "(ROOT (S (NP (PRP It)) (VP (VBZ rains)) (. .)))",
            "text": "It rains.",
            "offsets": [[0, 2], [3, 8], [8, 9]],
        }
    ],
}


def _problem(description: str, error: str) -> dict[str, Any]:
    return {"description": description, "content": content(PROBLEM, example={"error": error})}


PROBLEMS: dict[int | str, dict[str, Any]] = {
    413: _problem("More than the limits allow.", "text: 60000 words; at most 50000 are accepted in one request"),
    422: _problem("Something in the request is wrong; it is named.", "model: unknown model 'xx'; known: en"),
    429: _problem("Too much is waiting; Retry-After says when.", "too many sentences are waiting; try again in 3 s"),
    504: _problem("Out of time.", "no answer within 60 s, which is the limit"),
}
