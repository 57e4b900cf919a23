"""A shard as a file: Parquet, CoNLL-U, brackets or JSON lines. The same sentences give the same bytes."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any, BinaryIO, TypeAlias

from h3n import outputs, text
from h3n.corpus.documents import Item
from h3n.corpus.tables import arrow, batch_of, row_of, schema
from h3n.outputs import Look, Output
from h3n.parser import Result

_NUMBER = re.compile(r"[A-Za-z]?[-_.]?[0-9]+")
GROUP = 2_000  # sentences of a row group: what is in memory before it is written
Write: TypeAlias = Callable[[Item, Result], None]
Writer: TypeAlias = Callable[[BinaryIO], contextlib.AbstractContextManager[Write]]


@contextlib.contextmanager
def parquet(handle: BinaryIO) -> Iterator[Write]:
    """Yield what writes a sentence into a Parquet file."""
    held: list[dict[str, Any]] = []
    # Every choice is named, so that another version's defaults change nothing; no time stamp goes into the file.
    with arrow().parquet.ParquetWriter(
        handle, schema(), version="2.6", compression="zstd", compression_level=3, data_page_version="1.0"
    ) as writer:

        def write(item: Item, result: Result) -> None:
            held.append(row_of(item.document, item.number, result))
            if len(held) == GROUP:
                writer.write_table(batch_of(held), row_group_size=GROUP)
                held.clear()

        yield write
        if held:
            writer.write_table(batch_of(held), row_group_size=GROUP)


@contextlib.contextmanager
def _text(handle: BinaryIO, output: Output) -> Iterator[Write]:
    """Yield what writes a sentence as text, with the names of document and sentence if the format has a place."""
    named = _namer()

    def write(item: Item, result: Result) -> None:
        handle.write(output.text_of(named(item, result) if output.comments else result, Look()).encode())

    yield write


def _namer() -> Callable[[Item, Result], Result]:
    """Return what gives sentences one after the other the comments by which they are found again."""
    before: list[str] = []

    def named(item: Item, result: Result) -> Result:
        name = " ".join(item.document.split())
        own = result.sentence.sent_id
        kept = (line for line in result.sentence.comments if not line.startswith(("# newdoc", "# sent_id")))
        comments = [f"# sent_id = {_unique(name, item, own)}", *kept]
        if before != [item.document] or item.number == 0:
            comments.insert(0, f"# newdoc id = {name}")
            before[:] = [item.document]
        return replace(result, sentence=replace(result.sentence, comments=tuple(comments)))

    return named


def _unique(document: str, item: Item, own: str | None) -> str:
    """Return a name for a sentence that no other of the corpus has, as long as no two documents have the same name.

    Names of a treebank stay, but for bare numbers, which every file may have.
    """
    if item.sentence.place is None or own is None:
        return text.as_name(f"{document}-{item.number + 1}")
    return text.as_name(f"{document}-{own}") if _NUMBER.fullmatch(own) else own


WRITERS: dict[str, Writer] = {
    "parquet": parquet,
    **{output.name: partial(_text, output=output) for output in outputs.OUTPUTS.values() if output.shard},
}
