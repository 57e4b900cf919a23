"""A parsed corpus read back: sentences as the parser gave them."""

from __future__ import annotations

import io
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from h3n import formats
from h3n.corpus.manifest import require_manifest
from h3n.corpus.options import OUTPUTS
from h3n.corpus.storage import Folder, absolute, opened
from h3n.corpus.tables import arrow
from h3n.errors import UsageError
from h3n.formats import Reading
from h3n.parser import Arc, LabelledSpan, Result
from h3n.trees import Dependencies, Sentence

ROWS = 500  # rows in memory


@dataclass(frozen=True, slots=True)
class Parsed:
    """A parsed sentence, the document it is in, its number there, and where its words begin and end in it."""

    document: str
    number: int
    result: Result
    offsets: tuple[tuple[int, int], ...]


def read(folder: str | os.PathLike[str]) -> Iterator[Parsed]:
    """Yield the sentences of a corpus in Parquet in order, with memory for a few hundred; unfinished runs too."""
    return map(parsed_of, rows_of(folder))


def rows_of(folder: str | os.PathLike[str]) -> Iterator[dict[str, Any]]:
    """Yield the same as rows: what stands in the files."""
    out = Folder(absolute(os.fspath(folder)))
    kind = require_manifest(out)["options"]["output_format"]
    if kind != "parquet":
        raise UsageError(f"{out.url}: written as {kind}, which h3n.formats.read reads; expected a corpus in Parquet")
    return _rows(out)


def _rows(out: Folder) -> Iterator[dict[str, Any]]:
    for name in out.names():
        if name.startswith("part-") and name.endswith(OUTPUTS["parquet"]):
            with opened(out.at(name)) as handle:
                # Without threads: one that lets go of a file's bytes while Python ends takes the process down.
                table = arrow().parquet.ParquetFile(handle, pre_buffer=False)
                for batch in table.iter_batches(batch_size=ROWS, use_threads=False):
                    yield from batch.to_pylist()


def parsed_of(row: Mapping[str, Any]) -> Parsed:
    """Return a row as a parsed sentence."""
    governors, relations = tuple(row["governors"]), tuple(row["relations"])
    tree = None
    if row["brackets"]:
        (bracketed,) = formats.read(io.StringIO(row["brackets"]), format="brackets", options=Reading(layout="free"))
        tree = bracketed.tree
    sentence = Sentence(
        words=tuple(row["words"]),
        tags=tuple(row["tags"]) or None,
        upos=tuple(row["upos"]) or None,
        tree=tree,
        dependencies=Dependencies(governors, relations) if governors else None,
        comments=(f"# text = {row['text']}",),
    )
    spans = (LabelledSpan(s["start"], s["end"], s["label"], s["head"], s["confidence"]) for s in row["spans"])
    arcs = map(Arc, range(len(governors)), governors, relations, row["arc_confidences"])
    result = Result(sentence=sentence, spans=tuple(spans), arcs=tuple(arcs), note=row["note"])
    offsets = tuple(zip(row["starts"], row["ends"], strict=True))
    return Parsed(row["document"], row["sentence"], result, offsets)
