"""The same sentences with every instruction set that this machine has: parses must be equal to the last bit."""

from __future__ import annotations

import os
from collections.abc import Container, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from h3n.parser import Result


def parse_with_all(
    model: str, sentences: Sequence[str | list[str]], *, skipped: Container[str] = ()
) -> dict[str, list[Result]]:
    """Return the parses in 8 bits by each instruction set but those skipped, the best one first."""
    from h3n.engine.native import targets
    from h3n.parser import load

    parses = {}
    for name in targets():
        if name in skipped:
            continue
        with _chosen(name):
            parser = load(model, precision="int8")
        parses[name] = list(parser.parse(sentences))
    return parses


@contextmanager
def _chosen(name: str) -> Iterator[None]:
    from h3n.engine.native import CHOICE

    before = os.environ.get(CHOICE)
    os.environ[CHOICE] = name
    try:
        yield
    finally:
        del os.environ[CHOICE]
        if before is not None:
            os.environ[CHOICE] = before
