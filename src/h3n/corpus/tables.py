"""Parquet and Arrow files as input: rows with a text, and perhaps an id."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, BinaryIO

from h3n.corpus.options import Options
from h3n.corpus.pieces import Piece
from h3n.corpus.storage import opened
from h3n.errors import CorruptInput, InputError, MissingExtra, UsageError

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
        raise CorruptInput(f"{place}: cannot be read: {(str(error).splitlines() or ['damaged'])[0]}") from None


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
        raise InputError(f"{url}: not a file of {kind}: {str(error).splitlines()[0]}") from None
    schema = table.schema_arrow if kind == "parquet" else table.schema
    if options.text_column not in schema.names:
        known = ", ".join(schema.names)
        raise UsageError(f"{url}: no column {options.text_column!r} (--text-column); it has: {known}")
    kinds = schema.field(options.text_column).type
    if kinds not in (pyarrow.string(), pyarrow.large_string(), pyarrow.string_view()):
        raise UsageError(f"{url}: column {options.text_column!r} holds {kinds}; expected strings")
    return table
