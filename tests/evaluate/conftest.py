"""A reader of its own, so that a fault in `h3n.formats` cannot hide one in the scores."""

from __future__ import annotations

import lzma
from collections.abc import Callable
from pathlib import Path

import pytest

from h3n.errors import Place
from h3n.formats.rows import inserts_of
from h3n.trees import Dependencies, Sentence

SAMPLES = Path(__file__).with_name("samples")


@pytest.fixture(scope="session")
def samples() -> Path:
    return SAMPLES


@pytest.fixture(scope="session")
def conllu() -> Callable[[str], list[Sentence]]:
    """Return a function from CoNLL-U text to sentences."""
    return parse_conllu


@pytest.fixture(scope="session")
def conllu_file() -> Callable[[Path], list[Sentence]]:
    def read(path: Path) -> list[Sentence]:
        raw = path.read_bytes()
        return parse_conllu((lzma.decompress(raw) if path.suffix == ".xz" else raw).decode())

    return read


def parse_conllu(text: str) -> list[Sentence]:
    blocks = [block.split("\n") for block in text.strip("\n").split("\n\n") if block]
    return [parse_block(block, number) for number, block in enumerate(blocks, start=1)]


def parse_block(lines: list[str], number: int) -> Sentence:
    rows = [line.split("\t") for line in lines if not line.startswith("#")]
    words = [row for row in rows if row[0].isdigit()]
    inserts: list[tuple[int, str]] = []
    seen = 0
    for row in rows:
        if row[0].isdigit():
            seen += 1
        else:
            inserts.append((seen, "\t".join(row)))
    columns = list(zip(*words, strict=True))
    return Sentence(
        words=columns[1],
        lemmas=columns[2],
        upos=columns[3],
        tags=columns[4],
        features=columns[5],
        dependencies=Dependencies(tuple(int(head) - 1 for head in columns[6]), columns[7]),
        inserts=inserts_of(inserts, len(words), Place("x", number)),
        place=Place("sample.conllu", number),
    )
