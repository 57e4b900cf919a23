"""The table a parsed corpus is: one row for each sentence, from which its `Result` can be made again.

================  ==========================  ==================================================================
document          string                      the id that was given, or the file and place it comes from
sentence          int32                       its number in the document, from 0
sent_id           string                      its name in the input; null where it has none
text              string                      as it was written, as far as that is known
words             list of string
starts, ends      list of int64               characters of every word in the document's text
tags, upos        list of string              part-of-speech tags, of the treebank and universal; empty: none
governors         list of int32               the word each word hangs on, from 0; -1 is the root
relations         list of string
arc_confidences   list of double
spans             list of struct              label, start, end, head, confidence; outer before inner
helpers           list of struct              start, end, head of the spans that are in the joint tree alone
top               string                      the label over the whole tree; null where there is none
brackets          string                      the phrase structure in Penn notation; empty where there is none
score             double                      of the parse, as the decoder has it
note              string                      why the sentence was not parsed; null where it was
lemmas, features, list of string              as they stood in the input, a value for every word; empty: none
enhanced, misc
comments          list of string              lines of CoNLL-U: sent_id, newpar, newdoc, start_char, text
inserts           list of struct              before, row: lines of CoNLL-U that are not words (multiword ranges)
file, line        string, int64               where a sentence of a treebank stood; null elsewhere
================  ==========================  ==================================================================

A list with a value for every word is empty where the input or the model has none. The version stands in the metadata
of every file; one without it is of version 1, which had four digits of a confidence and no columns out of `ADDED`.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from h3n.corpus.tables import arrow
from h3n.errors import TreeError
from h3n.parser import Result
from h3n.trees import HELPER, top_of

VERSION = 2
VERSION_KEY = b"h3n.corpus"  # in the metadata of a file
COLUMNS = ("lemmas", "features", "enhanced", "misc")  # of a sentence, as they are
ADDED = ("sent_id", "helpers", "top", "score", *COLUMNS, "comments", "inserts", "file", "line")  # by version 2


def schema() -> Any:
    """Return the schema of pyarrow."""
    pa = arrow()
    strings, words, numbers = pa.list_(pa.string()), pa.list_(pa.int32()), pa.list_(pa.float64())
    place = [("start", pa.int32()), ("end", pa.int32()), ("head", pa.int32())]
    span = pa.struct([("label", pa.string()), *place, ("confidence", pa.float64())])
    insert = pa.struct([("before", pa.int32()), ("row", pa.string())])
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
        "inserts": [{"before": insert.before, "row": insert.row} for insert in sentence.inserts],
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
