"""The table a parsed corpus is: one row for each sentence, from which its `Result` can be made again.

================  ==========================  ==================================================================
document          string                      the id that was given, or the file and place it comes from
sentence          int32                       its number in the document, from 0
sent_id           string                      its name in the input; null where it has none
text              string                      as it was written, as far as that is known
words             list of string
starts, ends      list of int64               characters of every word in the document's text
tags, upos        list of string              part-of-speech tags, of the treebank and universal; empty: none
governors         list of int32               the governor of each word, from 0; -1 is the root
relations         list of string
arc_confidences   list of double
spans             list of struct              label, start, end, head, confidence; outer before inner
helpers           list of struct              start, end, head of the spans that are in the joint tree alone
top               string                      the label over the whole tree; null where there is none
brackets          string                      the phrase structure in Penn notation; empty where there is none
score             double                      of the parse, as the decoder has it
note              string                      why the sentence was not parsed; null where it was
lemmas, features, list of string              as they stood in the input or were predicted; empty: none
enhanced, misc
comments          list of string              lines of CoNLL-U: sent_id, newpar, newdoc, start_char, text
inserts           list of struct              multiword tokens (start, end) and empty words (start: words before it,
                                              number), with form, misc, and the columns LEMMA to DEPS of CoNLL-U
file, line        string, int64               where a sentence of a treebank stood; null elsewhere
================  ==========================  ==================================================================

A list with a value for every word is empty where the input or the model has none. The version stands in the metadata
of every file; one without it is of version 1, which had four digits of a confidence and no columns out of `ADDED`. In
version 2 ``inserts`` had ``before`` and ``row``, a row of CoNLL-U.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, BinaryIO

from h3n.corpus.options import Options
from h3n.corpus.storage import Piece, opened
from h3n.errors import CorruptInput, InputError, MissingExtra, TreeError, UsageError, first_line
from h3n.parser import Result
from h3n.trees import HELPER, EmptyWord, MultiwordToken, top_of

VERSION = 3
VERSION_KEY = b"h3n.corpus"  # in the metadata of a file
COLUMNS = ("lemmas", "features", "enhanced", "misc")  # of a sentence, as they are
ADDED = ("sent_id", "helpers", "top", "score", *COLUMNS, "comments", "inserts", "file", "line")  # by version 2


def schema() -> Any:
    """Return the schema of pyarrow."""
    pa = arrow()
    strings, words, numbers = pa.list_(pa.string()), pa.list_(pa.int32()), pa.list_(pa.float64())
    place = [("start", pa.int32()), ("end", pa.int32()), ("head", pa.int32())]
    span = pa.struct([("label", pa.string()), *place, ("confidence", pa.float64())])
    numbers_of = [("start", pa.int32()), ("end", pa.int32()), ("number", pa.int32())]
    insert = pa.struct([*numbers_of, ("form", pa.string()), ("misc", pa.string()), ("columns", strings)])
    return pa.schema(
        [
            ("document", pa.string()),
            ("sentence", pa.int32()),
            ("sent_id", pa.string()),
            ("text", pa.string()),
            ("words", strings),
            ("starts", pa.list_(pa.int64())),
            ("ends", pa.list_(pa.int64())),
            ("tags", strings),
            ("upos", strings),
            ("governors", words),
            ("relations", strings),
            ("arc_confidences", numbers),
            ("spans", pa.list_(span)),
            ("helpers", pa.list_(pa.struct(place))),
            ("top", pa.string()),
            ("brackets", pa.string()),
            ("score", pa.float64()),
            ("note", pa.string()),
            *((name, strings) for name in COLUMNS),
            ("comments", strings),
            ("inserts", pa.list_(insert)),
            ("file", pa.string()),
            ("line", pa.int64()),
        ],
        metadata={VERSION_KEY: str(VERSION)},
    )


def row_of(document: str, number: int, result: Result) -> dict[str, Any]:
    """Return a parsed sentence as a row."""
    sentence, offsets, joint = result.flat, result.offsets, result.joint
    helpers = [span for span in joint.spans if span.label == HELPER] if joint is not None else []
    has_tree = bool(result.spans or helpers)
    place = sentence.place
    return {
        "document": document,
        "sentence": number,
        "sent_id": sentence.sent_id,
        "text": result.text,
        "words": sentence.words,
        "starts": [start for start, _ in offsets],
        "ends": [end for _, end in offsets],
        "tags": result.tags,
        "upos": result.upos,
        "governors": result.governors,
        "relations": result.relations,
        "arc_confidences": [arc.confidence for arc in result.arcs],
        "spans": [
            {
                "label": span.label,
                "start": span.start,
                "end": span.end,
                "head": span.head,
                "confidence": span.confidence,
            }
            for span in result.spans
        ],
        "helpers": [{"start": span.start, "end": span.end, "head": span.head} for span in helpers],
        "top": joint.top if joint is not None else top_of(result.tree) if has_tree and result.tree else None,
        "brackets": _brackets(result) if has_tree else "",
        "score": result.score,
        "note": result.note,
        **{name: getattr(sentence, name) or () for name in COLUMNS},
        "comments": sentence.comments,
        "inserts": [
            {
                "start": insert.before,
                "end": insert.end if isinstance(insert, MultiwordToken) else None,
                "number": insert.number if isinstance(insert, EmptyWord) else None,
                "form": insert.form,
                "misc": insert.misc,
                "columns": insert.columns,
            }
            for insert in sentence.inserts
        ],
        "file": place.file if place is not None else None,
        "line": place.line if place is not None else None,
    }


def _brackets(result: Result) -> str | None:
    """Return the phrase structure in brackets; None where a word cannot be shown in them."""
    try:
        return result.brackets()
    except TreeError:
        return None


def batch_of(rows: Iterable[dict[str, Any]]) -> Any:
    """Return rows as a table of pyarrow."""
    return arrow().Table.from_pylist(list(rows), schema=schema())


ROWS = 1_000  # rows in memory


def arrow() -> Any:
    """Return pyarrow, or say how to get it."""
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise MissingExtra("corpora in Parquet and Arrow files", "corpus") from None
    return pyarrow


def parts_of(url: str, kind: str, options: Options) -> tuple[int, ...]:
    """Return the bytes of every row group of a Parquet file, or of every batch of an Arrow file."""
    with opened(url) as handle:
        table = _table(handle, url, kind, options)
        if kind == "parquet":
            groups = range(table.metadata.num_row_groups)
            return tuple(table.metadata.row_group(at).total_byte_size for at in groups)
        count = int(table.num_record_batches)
        return (handle.seek(0, 2) // max(1, count),) * count


def read_rows(piece: Piece, options: Options) -> Iterator[tuple[int, str | None, str | None]]:
    """Yield number, id and text of the rows in some of a table's parts; None is what is missing or not text."""
    with opened(piece.url, name=piece.name) as handle:
        table = _table(handle, piece.name, piece.format, options)
        number = 0
        for part in range(piece.end):
            if piece.format == "parquet" and part < piece.start:
                number += table.metadata.row_group(part).num_rows
                continue
            for batch in _sound(_batches(table, piece.format, options, part), f"{piece.name}: part {part + 1}"):
                if part < piece.start:
                    number += batch.num_rows
                    continue
                texts = batch.column(options.text_column)
                names = batch.column(options.id_column) if options.id_column in batch.schema.names else None
                for at in range(batch.num_rows):
                    name = None if names is None else names[at].as_py()
                    yield number, None if name is None else str(name), _text(texts[at])
                    number += 1


def _sound(batches: Iterator[Any], place: str) -> Iterator[Any]:
    """Yield the batches; damage that pyarrow meets is `CorruptInput`."""
    try:
        yield from batches
    except (arrow().ArrowException, OSError) as error:  # what the storage fails at is an InputError, and not meant
        raise CorruptInput(f"{place}: cannot be read: {first_line(error)}") from None


def _text(cell: Any) -> str | None:
    try:
        text: str | None = cell.as_py()
    except UnicodeDecodeError:
        return None
    return text


def _batches(table: Any, kind: str, options: Options, part: int) -> Iterator[Any]:
    if kind == "arrow":
        yield table.get_batch(part)
        return
    names = [name for name in (options.text_column, options.id_column) if name in table.schema_arrow.names]
    yield from table.iter_batches(batch_size=ROWS, row_groups=[part], columns=names, use_threads=False)


def _table(handle: BinaryIO, url: str, kind: str, options: Options) -> Any:
    pyarrow = arrow()
    try:
        table = (
            pyarrow.parquet.ParquetFile(handle, pre_buffer=False)
            if kind == "parquet"
            else pyarrow.ipc.open_file(handle)
        )
    except pyarrow.ArrowException as error:
        raise InputError(f"{url}: not a file of {kind}: {first_line(error)}") from None
    schema = table.schema_arrow if kind == "parquet" else table.schema
    if options.text_column not in schema.names:
        known = ", ".join(schema.names)
        raise UsageError(f"{url}: no column {options.text_column!r} (--text-column); it has: {known}")
    kinds = schema.field(options.text_column).type
    if kinds not in (pyarrow.string(), pyarrow.large_string(), pyarrow.string_view()):
        raise UsageError(f"{url}: column {options.text_column!r} holds {kinds}; expected strings")
    return table
