"""What the paths answer with, as JSON schemas of the OpenAPI document; `make fuzz-http` checks every answer by them."""

from __future__ import annotations

from typing import Any

from h3n.formats.characters import COLUMNS
from h3n.formats.jsonl import VERSION
from h3n.serve.fields import FIELDS

Schema = dict[str, Any]
TEXT: Schema = {"type": "string"}
NUMBER: Schema = {"type": "number"}
COUNT: Schema = {"type": "integer", "minimum": 0}


def array(items: Schema) -> Schema:
    return {"type": "array", "items": items}


def table(*, optional: Schema | None = None, **required: Schema) -> Schema:
    """Return the schema of an object with these keys and no others."""
    return {
        "type": "object",
        "properties": required | (optional or {}),
        "required": list(required),
        "additionalProperties": False,
    }


def _or_null(schema: Schema) -> Schema:
    return {"anyOf": [schema, {"type": "null"}]}


SPAN = table(label=TEXT, start=COUNT, end=COUNT, head=_or_null(COUNT), confidence=NUMBER)
DISPLACY = table(
    words=array(table(text=TEXT, tag=TEXT)),
    arcs=array(table(start=COUNT, end=COUNT, label=TEXT, dir={"enum": ["left", "right"]})),
)
# Fields that are not a text
_KINDS: dict[str, Schema] = {
    **dict.fromkeys(("words", "tags", "upos", "lemmas", "features", "relations"), array(TEXT)),
    "heads": array(COUNT),
    "offsets": array({"type": "array", "items": COUNT, "minItems": 2, "maxItems": 2}),
    "spans": array(SPAN),
    "helpers": array({"type": "array", "items": COUNT, "minItems": 3, "maxItems": 3}),
    "arc_confidences": array(NUMBER),
    "score": NUMBER,
    "displacy": DISPLACY,
}
SENTENCE = table(
    source=COUNT,
    optional={
        **{name: array(TEXT) for name in (*COLUMNS, "comments")},
        **{name: _or_null(_KINDS.get(name, TEXT)) for name in FIELDS},
        "inserts": array({"type": "array"}),
        "version": {"const": VERSION},
        "note": TEXT,
    },
)
PARSED = table(model=TEXT, decoder=TEXT, sentences=array(SENTENCE))
MODEL = table(
    name=TEXT,
    default={"type": "boolean"},
    decoder=TEXT,
    precision=TEXT,
    head_score=TEXT,
    styles=array(TEXT),
    labels=array(TEXT),
    relations=array(TEXT),
)
MODELS = table(models=array(MODEL), decoders=array(TEXT))
# A sentence as a line of JSON lines holds it: docs/formats.md
TREEBANK = table(
    format=TEXT,
    sentences=array(table(id=TEXT, text=TEXT, sentence={"type": "object"}, disagreements=array(COUNT))),
)
DRAWN = table(
    words=array(TEXT),
    tags=_or_null(array(_or_null(TEXT))),
    spans=array(table(label=TEXT, start=COUNT, end=COUNT, head=_or_null(COUNT))),
    svg=TEXT,
    optional={"heads": array(COUNT), "relations": array(TEXT)},
)
CORENLP: Schema = {"type": "object", "properties": {"sentences": array({"type": "object"})}, "required": ["sentences"]}
STATUS = table(status=TEXT)
PROBLEM = table(
    error={"type": "string", "minLength": 1, "maxLength": 1_100, "pattern": "^[^\\r\\n]*$"},
    optional={"field": TEXT, "status": TEXT},
)


def content(schema: Schema, kind: str = "application/json", example: object = None) -> dict[str, Any]:
    """Return what an answer holds, by its media type."""
    return {kind: {"schema": schema} | ({} if example is None else {"example": example})}


def answers(what: str, body: dict[str, Any], *, links: dict[str, Any] | None = None) -> dict[int | str, Any]:
    """Return what FastAPI is told of the answers of a path: the good one, and refusals."""
    return {
        200: {"description": what, "content": body} | ({} if links is None else {"links": links}),
        "4XX": {"description": "Refused: `error` says why, `field` where.", "content": content(PROBLEM)},
        503: {"description": "Not ready, or too much at once.", "content": content(PROBLEM)},
        504: {"description": "Out of time.", "content": content(PROBLEM)},
    }


def text_body(example: str) -> dict[str, Any]:
    """Return what FastAPI is told of a body that is a text or a file."""
    body = {"text/plain": {"schema": TEXT, "example": example}}
    return {"requestBody": {"required": False, "content": body}}
