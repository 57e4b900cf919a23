"""Characters that no format can show: what separates columns and lines, NUL, and halves of surrogate pairs.

They can come in through JSON lines, whose escapes spell anything, and from a program that makes sentences. Readers
refuse them as damage, writers as a sentence that cannot be written, so that whatever is written can be read again.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import chain

from h3n.errors import TreeError
from h3n.trees import Sentence

_NEVER = re.compile("[\0\n\r\ud800-\udfff]")
_IN_COLUMNS = re.compile("[\0\t\n\r\ud800-\udfff]")
_NAMES = {"\0": "a NUL character", "\t": "a tab", "\n": "a line end", "\r": "a carriage return"}
COLUMNS = ("tags", "upos", "lemmas", "features", "enhanced", "misc")


def fault_in_line(text: str) -> str | None:
    """Return what cannot stand in a line of a file, or None."""
    return _fault(_NEVER.search(text), text)


def fault_in_column(text: str) -> str | None:
    """Return what cannot stand in a column of a CoNLL row, or None."""
    return _fault(_IN_COLUMNS.search(text), text)


def _fault(match: re.Match[str] | None, text: str) -> str | None:
    if match is None:
        return None
    shown = text if len(text) <= 40 else text[:40] + "..."
    return f"{_NAMES.get(match[0], 'half a surrogate pair')} in {shown!r}"


def is_writable(sentence: Sentence) -> bool:
    """Return whether every format that has room for the parts of a sentence can show them."""
    try:
        check_lengths(sentence)
    except TreeError:
        return False
    return fault_of(sentence) is None


def fault_of(sentence: Sentence) -> str | None:
    """Return what makes the words, columns, comments or other rows of a sentence impossible to write, or None."""
    if "" in sentence.words:
        return f"word {sentence.words.index('') + 1} is empty"
    columns = [sentence.words, *(getattr(sentence, name) or () for name in COLUMNS)]
    if sentence.dependencies is not None:
        columns.append(sentence.dependencies.relations)
    if sentence.soft_labels is not None:
        columns.append(sentence.soft_labels.names)
    if _IN_COLUMNS.search("".join(chain.from_iterable(columns))):
        return _first(map(fault_in_column, chain.from_iterable(columns)))
    for comment in sentence.comments:
        if not comment.startswith("#"):
            return f"a comment that does not begin with #: {comment[:40]!r}"
    cells = chain.from_iterable((insert.form, insert.misc, *insert.columns) for insert in sentence.inserts)
    return _first(chain(map(fault_in_line, sentence.comments), map(fault_in_column, cells)))


def _first(faults: Iterable[str | None]) -> str | None:
    return next((fault for fault in faults if fault is not None), None)


def check_lengths(sentence: Sentence) -> None:
    """Raise unless every column has a value for each word."""
    n = len(sentence)
    for name in COLUMNS:
        values = getattr(sentence, name)
        if values is not None and len(values) != n:
            raise TreeError(f"{len(values)} {name} for {n} words")
    if sentence.dependencies is not None:
        for values in (sentence.dependencies.governors, sentence.dependencies.relations):
            if len(values) != n:
                raise TreeError(f"dependencies of {len(values)} words for a sentence of {n}")
