"""The description of the service as a page, made of its OpenAPI document; it needs no script."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from html import escape
from typing import Any


def reference_page(document: dict[str, Any]) -> str:
    """Return an HTML page of all paths with their examples."""
    return "\n".join(_lines(document)) + "\n"


def _lines(document: dict[str, Any]) -> Iterator[str]:
    about = document["info"]
    yield '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">'
    yield '<meta name="viewport" content="width=device-width, initial-scale=1">'
    yield f"<title>{escape(about['title'])}: the HTTP service</title>"
    yield '<link rel="stylesheet" href="/static/page.css">\n</head>\n<body>\n<main>'
    yield f"<h1>{escape(about['title'])} {escape(about['version'])}</h1>"
    yield from (f"<p>{_prose(part)}</p>" for part in about["description"].split("\n\n"))
    yield '<p><a href="/openapi.json">openapi.json</a></p>'
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            yield from _operation(path, method.upper(), operation)
    yield "<h2>Parts of a request</h2>"
    for name, schema in document.get("components", {}).get("schemas", {}).items():
        yield from _schema(name, schema)
    yield "</main>\n</body>\n</html>"


def _operation(path: str, method: str, operation: dict[str, Any]) -> Iterator[str]:
    yield f"<h2><code>{method} {escape(path)}</code></h2>"
    yield f"<p>{_prose(operation.get('summary', ''))}. {_prose(operation.get('description', ''))}</p>"
    for media in operation.get("requestBody", {}).get("content", {}).values():
        for example in media.get("examples", {}).values():
            yield f"<h3>{escape(example['summary'])}</h3>{_shown(example['value'])}"
    for status, answer in operation.get("responses", {}).items():
        for media in answer.get("content", {}).values():
            if "example" in media:
                yield f"<h3>{escape(status)}: {escape(answer['description'])}</h3>{_shown(media['example'])}"


def _schema(name: str, schema: dict[str, Any]) -> Iterator[str]:
    if "properties" not in schema or name.endswith("ValidationError"):
        return
    yield f"<h3>{escape(name)}</h3><p>{_prose(schema.get('description', ''))}</p><ul>"
    for key, value in schema["properties"].items():
        yield f"<li><code>{escape(key)}</code>: {escape(_type(value))}</li>"
    yield "</ul>"


def _type(schema: dict[str, Any]) -> str:
    if "anyOf" in schema:
        return " or ".join(_type(one) for one in schema["anyOf"] if one.get("type") != "null")
    if "$ref" in schema:
        return str(schema["$ref"]).rsplit("/", 1)[-1]
    if schema.get("type") == "array":
        inner = schema.get("prefixItems") or [schema.get("items", {})]
        return f"list of {', '.join(_type(one) for one in inner)}"
    return str(schema.get("type", "anything"))


def _prose(text: str) -> str:
    """Return a text as HTML, with `code` set as code."""
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", escape(text))


def _shown(value: object) -> str:
    return f"<pre><code>{escape(json.dumps(value, ensure_ascii=False, indent=1))}</code></pre>"
