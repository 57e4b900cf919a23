"""A model of torch that parses, for tests."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from h3n.model import Model
from h3n.parser import Parser, Result
from h3n.trees import Sentence


def parse(model: Model, sentences: Iterable[Sentence | Sequence[str]], **options: Any) -> list[Result]:
    """Return sentences, or lists of words, parsed by a model as it is."""
    parser = Parser(model.engine)
    given = [one if isinstance(one, Sentence) else Sentence(words=tuple(one)) for one in sentences]
    return parser.parse_batch(given, parser.options(**options))
