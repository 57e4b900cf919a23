"""A parsed corpus read back: sentences as the parser gave them, in every field."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from h3n.corpus.manifest import require_manifest
from h3n.corpus.options import OUTPUTS
from h3n.corpus.storage import Folder, absolute, opened
from h3n.corpus.tables import ADDED, COLUMNS, VERSION, VERSION_KEY, arrow
from h3n.errors import CorruptInput, InputError, Place, UsageError, first_line
from h3n.formats.rows import inserts_of
from h3n.parser import Arc, LabelledSpan, Result
from h3n.trees import (
    HELPER,
    TOPS,
    Dependencies,
    EmptyWord,
    HeadedSpan,
    Insert,
    JointTree,
    MultiwordToken,
    Sentence,
    tree_of,
)

ROWS = 500  # rows in memory


@dataclass(frozen=True, slots=True)
class CorpusSentence:
    """A parsed sentence, the document it is in, its number there, and where its words begin and end in it.

    ``lacks`` names the columns that a corpus of an older h3n does not have: what they hold is not in the result.
    """

    document: str
    number: int
    result: Result
    offsets: tuple[tuple[int, int], ...]
    lacks: tuple[str, ...] = ()


def read(folder: str | os.PathLike[str]) -> Iterator[CorpusSentence]:
    """Yield the sentences of a corpus in Parquet in order, with memory for a few hundred; unfinished runs too.

    Results are those that the parser gave, but for ``source``: ``document`` tells what a sentence is from.
    """
    return map(parsed_of, rows_of(folder))


def lacking(folder: str | os.PathLike[str]) -> tuple[str, ...]:
    """Return the columns that a corpus lacks because an older h3n wrote it; mostly none."""
    row = next(rows_of(folder), None)
    return () if row is None else _lacking(row)


def _lacking(row: Mapping[str, Any]) -> tuple[str, ...]:
    return tuple(name for name in ADDED if name not in row)


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
                yield from _rows_of_shard(handle, out.at(name))


def _rows_of_shard(handle: Any, name: str) -> Iterator[dict[str, Any]]:
    pyarrow = arrow()
    try:
        # Without threads: one that lets go of a file's bytes while Python ends takes the process down.
        table = pyarrow.parquet.ParquetFile(handle, pre_buffer=False)
        _check_version(table.schema_arrow.metadata or {}, name)
        for batch in table.iter_batches(batch_size=ROWS, use_threads=False):
            yield from batch.to_pylist()
    except (pyarrow.ArrowException, OSError) as error:  # what the storage fails at is an InputError, and not meant
        raise CorruptInput(f"{name}: cannot be read: {first_line(error)}; remove it and repeat the run") from None


def _check_version(metadata: Mapping[bytes, bytes], name: str) -> None:
    version = metadata.get(VERSION_KEY, b"1").decode(errors="replace")
    if not version.isdecimal() or int(version) > VERSION:
        raise InputError(f"{name}: a table of version {version}; this h3n reads versions up to {VERSION}")


def parsed_of(row: Mapping[str, Any]) -> CorpusSentence:
    """Return a row as a parsed sentence."""
    if lacks := _lacking(row):
        row = {**dict.fromkeys(lacks), **_spacing(row), **row}
    governors, relations = tuple(row["governors"]), tuple(row["relations"])
    dependencies = Dependencies(governors, relations) if governors else None
    spans = tuple(LabelledSpan(s["start"], s["end"], s["label"], s["head"], s["confidence"]) for s in row["spans"])
    words, tags, upos = tuple(row["words"]), tuple(row["tags"]) or None, tuple(row["upos"]) or None
    leaf_tags = tags or upos or ("",) * len(words)
    nested = _nested(row, spans)
    columns: dict[str, Any] = {name: tuple(row[name] or ()) or None for name in COLUMNS}
    sentence = Sentence(
        words=words,
        tags=tags,
        upos=upos,
        **columns,
        tree=tree_of(nested, words, leaf_tags, top=row["top"]) if nested else None,
        dependencies=dependencies,
        comments=tuple(row["comments"]),
        inserts=_inserts(row),
        place=Place(row["file"], row["line"]) if row["file"] is not None else None,
    )
    joint = None
    if nested and dependencies is not None and "helpers" not in lacks:
        joint = JointTree(words, leaf_tags, nested, relations, row["top"])
    arcs = map(Arc, range(len(governors)), governors, relations, row["arc_confidences"])
    result = Result(
        sentence=sentence, joint=joint, spans=spans, arcs=tuple(arcs), score=row["score"] or 0.0, note=row["note"]
    )
    offsets = tuple(zip(row["starts"], row["ends"], strict=True))
    return CorpusSentence(row["document"], row["sentence"], result, offsets, lacks)


def _inserts(row: Mapping[str, Any]) -> tuple[Insert, ...]:
    inserts = row["inserts"] or ()
    if inserts and "row" in inserts[0]:  # version 2
        rows = [(insert["before"], insert["row"]) for insert in inserts]
        return inserts_of(rows, len(row["words"]), Place(row["file"] or row["document"], row["line"] or 1))
    return tuple(map(_insert, inserts))


def _insert(row: Mapping[str, Any]) -> Insert:
    rest = row["form"], row["misc"], tuple(row["columns"])
    if row["end"] is not None:
        return MultiwordToken(row["start"], row["end"], *rest)
    return EmptyWord(row["start"], row["number"], *rest)


def _nested(row: Mapping[str, Any], spans: tuple[LabelledSpan, ...]) -> tuple[HeadedSpan, ...]:
    """Return all spans, outer before inner, helper spans among them. No two cover the same words."""
    helpers = (HeadedSpan(s["start"], s["end"], HELPER, s["head"]) for s in row["helpers"] or ())
    named = (HeadedSpan(s.start, s.end, s.label, -1 if s.head is None else s.head) for s in spans)
    return tuple(sorted((*helpers, *named), key=lambda span: (span.start, -span.end)))


def _spacing(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return what the offsets of a table of version 1 tell of columns it lacks: where words touch, and a top label."""
    gaps = [after - end for end, after in zip(row["ends"], row["starts"][1:], strict=False)]
    misc = ["SpaceAfter=No" if gap <= 0 else "_" if gap == 1 else "SpacesAfter=" + r"\s" * gap for gap in gaps]
    label = (row["brackets"] or "").lstrip("(").partition(" ")[0]
    return {
        "misc": [*misc, "_"] if any(column != "_" for column in misc) else [],
        "comments": [f"# start_char = {row['starts'][0]}", f"# text = {row['text']}"],
        "top": label if label in TOPS else None,
    }
