"""What a run is asked for: the options that decide what is written, and nothing about who does the work.

The same input, model and options give the same bytes, however many processes or machines share the work.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from h3n import outputs
from h3n.errors import UnknownName, UsageError
from h3n.text import NEWLINES

# The format of an input -> the endings of its files, endings of compression aside.
INPUTS: dict[str, tuple[str, ...]] = {
    "text": (".txt", ".text"),
    "paragraphs": (),
    "lines": (),
    "words": (),
    "conllu": (".conllu",),
    "jsonl": (".jsonl", ".ndjson"),
    "parquet": (".parquet", ".pq"),
    "arrow": (".arrow", ".feather", ".ipc"),
}
TABLES = ("parquet", "arrow")
# The format of the output -> the ending of its shards.
OUTPUTS = {"parquet": ".parquet"} | {output.name: output.shard for output in outputs.OUTPUTS.values() if output.shard}
SMALLEST, LARGEST, PIECES = 1 << 15, 1 << 22, 64  # bytes of a shard at least and at most, and shards wanted


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """How to read, parse and write; ``input_format`` None is by the endings, ``shard_size`` 0 by the input's size."""

    input_format: str | None = None
    output_format: str = "parquet"
    newlines: str = "paragraph"
    text_column: str = "text"
    id_column: str = "id"
    decoder: str | None = None
    style: str | None = None
    retag: bool = False
    keep_arcs: bool = False
    min_confidence: float = 0.0
    soft_labels: bool = False
    precision: str = "auto"
    device: str = "cpu"
    max_words: int = 2_000
    max_pieces: int = 1_000
    shard_size: int = 0

    def __post_init__(self) -> None:
        if self.input_format is not None and self.input_format not in INPUTS:
            raise UnknownName("input format", self.input_format, INPUTS)
        if self.output_format not in OUTPUTS:
            raise UnknownName("output format", self.output_format, OUTPUTS)
        if self.newlines not in NEWLINES:
            raise UnknownName("newlines", self.newlines, NEWLINES)
        if not 0.0 <= self.min_confidence <= 1.0:
            raise UsageError(f"a mean confidence of {self.min_confidence:g}; between 0 and 1 is accepted")
        if self.soft_labels and self.output_format != "jsonl":
            raise UsageError(
                f"soft labels in the format {self.output_format}; expected jsonl, which has a place for them"
            )
        if self.shard_size < 0:
            raise UsageError(f"a shard size of {self.shard_size} bytes; 0 (by the input's size) or more is accepted")

    def as_table(self) -> dict[str, Any]:
        return asdict(self)


def size_of_shards(total: int) -> int:
    """Return how many bytes of input make a shard: the same for the same input, so that it does not matter who works.

    A small input is cut small, so that several processes have something to do; a large one so that little work is
    lost with a process.
    """
    return min(LARGEST, max(SMALLEST, total // PIECES))


_UNITS = {"": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30}


def read_size(text: str) -> int:
    """Return the bytes that a size such as ``500k``, ``4M`` or ``4MB`` stands for."""
    number = text.strip().lower().removesuffix("b").rstrip("kmg")
    unit = text.strip().lower().removesuffix("b")[len(number) :]
    if not number.isdecimal() or unit not in _UNITS:
        raise UsageError(f"a size of {text!r}; accepted: bytes, or a number with k, M or G, such as 4M")
    return int(number) * _UNITS[unit]
