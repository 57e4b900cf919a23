"""Short ways to read and write text."""

from __future__ import annotations

import io

from h3n import formats
from h3n.errors import FormatError
from h3n.formats import Reading, Writing
from h3n.trees import Sentence


def parse(text: str | bytes, name: str, options: Reading | None = None) -> list[Sentence]:
    source = io.BytesIO(text if isinstance(text, bytes) else text.encode())
    return list(formats.read(source, format=name, options=options or Reading()))


def show(sentences: list[Sentence], name: str, options: Writing | None = None) -> str:
    stream = io.StringIO()
    formats.write(sentences, stream, format=name, options=options or Writing())
    return stream.getvalue()


def problems(text: str | bytes, name: str) -> tuple[list[FormatError], list[Sentence]]:
    """Return every problem in the text, and the sentences that are sound."""
    found: list[FormatError] = []
    return found, parse(text, name, Reading(on_problem=found.append))
