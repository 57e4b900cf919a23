"""The table a parsed corpus is: one row for each sentence.

================  ==========================  ==================================================================
document          string                      the id that was given, or the file and place it comes from
sentence          int32                       its number in the document, from 0
text              string                      as it was written, as far as that is known
words             list of string
starts, ends      list of int64               characters of every word in the document's text
tags, upos        list of string              part-of-speech tags, of the treebank and universal; empty: none
governors         list of int32               the word each word hangs on, from 0; -1 is the root
relations         list of string
arc_confidences   list of float
spans             list of struct              label, start, end, head, confidence; outer before inner
brackets          string                      the phrase structure in Penn notation
note              string                      why the sentence was not parsed; null where it was
================  ==========================  ==================================================================
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from h3n.corpus.tables import arrow
from h3n.parser import Result

DIGITS = 4  # of a confidence: more say nothing


def schema() -> Any:
    """Return the schema of pyarrow."""
    pa = arrow()
    strings, words = pa.list_(pa.string()), pa.list_(pa.int32())
    span = pa.struct(
        [
            ("label", pa.string()),
            ("start", pa.int32()),
            ("end", pa.int32()),
            ("head", pa.int32()),
            ("confidence", pa.float32()),
        ]
    )
    return pa.schema(
        [
            ("document", pa.string()),
            ("sentence", pa.int32()),
            ("text", pa.string()),
            ("words", strings),
            ("starts", pa.list_(pa.int64())),
            ("ends", pa.list_(pa.int64())),
            ("tags", strings),
            ("upos", strings),
            ("governors", words),
            ("relations", strings),
            ("arc_confidences", pa.list_(pa.float32())),
            ("spans", pa.list_(span)),
            ("brackets", pa.string()),
            ("note", pa.string()),
        ]
    )


def row_of(document: str, number: int, result: Result) -> dict[str, Any]:
    """Return a parsed sentence as a row."""
    offsets = result.offsets
    return {
        "document": document,
        "sentence": number,
        "text": result.text,
        "words": result.words,
        "starts": [start for start, _ in offsets],
        "ends": [end for _, end in offsets],
        "tags": result.tags,
        "upos": result.upos,
        "governors": result.governors,
        "relations": result.relations,
        "arc_confidences": [round(arc.confidence, DIGITS) for arc in result.arcs],
        "spans": [
            {
                "label": span.label,
                "start": span.start,
                "end": span.end,
                "head": span.head,
                "confidence": round(span.confidence, DIGITS),
            }
            for span in result.spans
        ],
        "brackets": result.brackets(),
        "note": result.note,
    }


def batch_of(rows: Iterable[dict[str, Any]]) -> Any:
    """Return rows as a table of pyarrow."""
    return arrow().Table.from_pylist(list(rows), schema=schema())
