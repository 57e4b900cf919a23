"""Sentences of a parsed corpus by a pattern over both trees at once (`h3n.convert.rules.finding`)."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from h3n.convert.rules.finding import Columns, Linked, compiled, fitting, link
from h3n.corpus.reading import CorpusSentence, parsed_of, rows_of

COLUMNS = ("words", "tags", "upos", "lemmas", "features", "governors", "relations")


@dataclass(frozen=True, slots=True)
class Hit:
    """A phrase or word that a pattern fits, from ``start`` up to ``end``, and the row of its sentence."""

    label: str
    start: int
    end: int
    row: Mapping[str, Any]

    @property
    def words(self) -> str:
        return " ".join(self.row["words"][self.start : self.end])

    @property
    def parsed(self) -> CorpusSentence:
        """The sentence as `h3n.corpus.read` gives it."""
        return parsed_of(self.row)


def find(folder: str | os.PathLike[str], pattern: str) -> Iterator[Hit]:
    """Return all that a pattern fits in a corpus in Parquet, in order, an outer phrase before what is in it."""
    fits = compiled(pattern)
    return (
        Hit(node.label, node.start, node.end, row) for row in rows_of(folder) for node in fitting(linked(row), fits)
    )


def linked(row: Mapping[str, Any]) -> Linked:
    """Return the nodes of a sentence; tables of an older h3n lack some columns."""
    spans = [(span["start"], span["end"], span["label"], span["head"]) for span in row["spans"]]
    return link(Columns(**{name: row.get(name) or () for name in COLUMNS}, spans=spans))
