"""Results as tables, for pandas and polars: a row for each word, or a row for each phrase.

Words, sentences and phrases are counted from 0. ``text`` is the number of the input, ``sentence`` that of the sentence
in the whole table, ``governor`` a word of the sentence (-1 for the root word), ``head`` and ``parent`` the head word of
a phrase and the phrase around it. What was not found is missing, never a number that could be taken for one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from importlib import import_module
from typing import Any, TypeAlias

from h3n.errors import MissingExtra, UnknownName
from h3n.parser.results import Result

Columns: TypeAlias = dict[str, type]
Row: TypeAlias = tuple[Any, ...]

# fmt: off
WORD_COLUMNS: Columns = {
    "text": int, "sentence": int, "word": int, "form": str, "start": int, "end": int,
    "lemma": str, "tag": str, "upos": str, "features": str, "governor": int, "relation": str, "confidence": float,
}
PHRASE_COLUMNS: Columns = {
    "text": int, "sentence": int, "phrase": int, "label": str, "start": int, "end": int,
    "head": int, "parent": int, "words": str, "confidence": float,
}
# fmt: on


def word_rows(results: Iterable[Result]) -> Iterator[Row]:
    """Yield a row for each word, with the columns `WORD_COLUMNS`; start and end are the word's in its text."""
    for number, result in enumerate(results):
        nothing = [None] * len(result)
        arcs: list[Row] = [(arc.governor, arc.relation, arc.confidence) for arc in result.arcs]
        arcs = arcs or [(None, None, None)] * len(result)
        given = [column or nothing for column in (result.lemmas, result.tags, result.upos, result.features)]
        columns = zip(result.words, result.offsets, zip(*given, strict=True), arcs, strict=True)
        for word, (form, offsets, cells, arc) in enumerate(columns):
            yield (result.source, number, word, form, *offsets, *cells, *arc)


def phrase_rows(results: Iterable[Result]) -> Iterator[Row]:
    """Yield a row for each phrase, outer before inner, with the columns `PHRASE_COLUMNS`; start and end are words."""
    for number, result in enumerate(results):
        around: list[int] = []  # the phrases that the next one may lie in, the innermost last
        for phrase, span in enumerate(result.spans):
            while around and result.spans[around[-1]].end <= span.start:
                around.pop()
            parent = around[-1] if around else None
            words = " ".join(result.words[span.start : span.end])
            place = (result.source, number, phrase, span.label, span.start, span.end)
            yield (*place, span.head, parent, words, span.confidence)
            around.append(phrase)


ROWS: dict[str, tuple[Columns, Callable[[Iterable[Result]], Iterator[Row]]]] = {
    "words": (WORD_COLUMNS, word_rows),
    "phrases": (PHRASE_COLUMNS, phrase_rows),
}


def frame(results: Iterable[Result], *, rows: str = "words", library: str = "pandas") -> Any:
    """Return a data frame of pandas or polars with a row for each word or for each phrase.

    The columns and their types are the same whatever the results are, even if there are none.
    """
    if rows not in ROWS:
        raise UnknownName("rows", rows, ROWS)
    if library not in LIBRARIES:
        raise UnknownName("library", library, LIBRARIES)
    columns, make_rows = ROWS[rows]
    try:
        module = import_module(library)
    except ImportError:
        raise MissingExtra(f"tables of {library}", library) from None
    table = list(make_rows(results))
    values = list(zip(*table, strict=True)) or [()] * len(columns)
    return LIBRARIES[library](module, columns, values)


def _pandas(pandas: Any, columns: Columns, values: list[Row]) -> Any:
    # These types know missing values: without them a column of numbers with one missing would become one of floats.
    types = {int: "Int64", float: "Float64", str: "string"}
    return pandas.DataFrame(
        {
            name: pandas.Series(list(cells), dtype=types[kind])
            for (name, kind), cells in zip(columns.items(), values, strict=True)
        }
    )


def _polars(polars: Any, columns: Columns, values: list[Row]) -> Any:
    types = {int: polars.Int64, float: polars.Float64, str: polars.String}
    schema = {name: types[kind] for name, kind in columns.items()}
    return polars.DataFrame(dict(zip(columns, map(list, values), strict=True)), schema=schema)


LIBRARIES: dict[str, Callable[[Any, Columns, list[Row]], Any]] = {"pandas": _pandas, "polars": _polars}
