"""Results as tables of pandas and polars."""

from __future__ import annotations

import sys
from typing import Any

import pytest

from h3n.errors import MissingExtra, UnknownName
from h3n.parser import Parser, frame
from h3n.parser.tables import PHRASE_COLUMNS, WORD_COLUMNS

TEXTS = ["The dog sees a cat. A teacher sleeps.", "A house."]


def columns_of(table: Any, library: str) -> dict[str, list[Any]]:
    """Return the cells of a data frame, what is missing as None."""
    if library == "polars":
        cells: dict[str, list[Any]] = table.to_dict(as_series=False)
        return cells
    return {name: [None if cell is sys.modules["pandas"].NA else cell for cell in table[name]] for name in table}


@pytest.fixture(params=["pandas", "polars"])
def library(request: pytest.FixtureRequest) -> str:
    pytest.importorskip(request.param, reason=f"{request.param} is not installed")
    return str(request.param)


def test_a_row_for_each_word(parser: Parser, library: str) -> None:
    results = list(parser.parse(TEXTS))
    cells = columns_of(parser.to_frame(TEXTS, library=library), library)
    assert list(cells) == list(WORD_COLUMNS)
    assert cells["form"] == [word for result in results for word in result.words]
    assert cells["governor"] == [governor for result in results for governor in result.governors]
    assert cells["relation"] == [relation for result in results for relation in result.relations]
    assert cells["tag"] == [tag for result in results for tag in result.tags]
    assert cells["text"] == [result.source for result in results for _ in result.words]
    assert cells["sentence"] == [number for number, result in enumerate(results) for _ in result.words]
    assert cells["confidence"] == pytest.approx([arc.confidence for result in results for arc in result.arcs])
    starts, ends = cells["start"], cells["end"]
    for text, form, start, end in zip(cells["text"], cells["form"], starts, ends, strict=True):
        assert TEXTS[text][start:end] == form


def test_a_row_for_each_phrase(parser: Parser, library: str) -> None:
    results = list(parser.parse(TEXTS))
    table = parser.to_frame(TEXTS, rows="phrases", library=library)
    cells = columns_of(table, library)
    assert list(cells) == list(PHRASE_COLUMNS)
    assert cells["label"] == [span.label for result in results for span in result.spans]
    assert cells["head"] == [span.head for result in results for span in result.spans]
    firsts = {number: at for at, number in reversed(list(enumerate(cells["sentence"])))}
    for at, parent in enumerate(cells["parent"]):
        if parent is None:
            assert at in firsts.values()  # the whole sentence
            continue
        around = firsts[cells["sentence"][at]] + parent
        assert around < at
        assert cells["start"][around] <= cells["start"][at] < cells["end"][at] <= cells["end"][around]
        assert cells["words"][at] in cells["words"][around]
        inside = [
            other
            for other in range(around + 1, at)
            if cells["start"][other] <= cells["start"][at] and cells["end"][at] <= cells["end"][other]
        ]
        assert inside == []  # it is the innermost


def test_what_was_not_found_is_missing_and_the_types_stay(parser: Parser, library: str) -> None:
    full = parser.to_frame("A house.", library=library)
    bare = parser.to_frame(words=["A", "house"], decoder="cky", library=library)
    assert columns_of(bare, library)["governor"] == [None, None]
    assert columns_of(bare, library)["relation"] == [None, None]
    nothing = parser.to_frame([], library=library)
    for table in (bare, nothing):
        assert list(table.columns) == list(full.columns)
        assert list(table.dtypes) == list(full.dtypes)
    assert len(nothing) == 0
    headless = columns_of(parser.to_frame("A house.", rows="phrases", decoder="cky", library=library), library)
    assert set(headless["head"]) == {None}
    assert len(parser.to_frame("A house.", rows="phrases", decoder="eisner", library=library)) == 0


def test_a_table_of_results_from_anywhere(parser: Parser, library: str) -> None:
    table = frame(parser.parse("The dog sees a cat.", decoder="hpsg"), rows="phrases", library=library)
    assert columns_of(table, library)["words"][0] == "The dog sees a cat ."


def test_bad_names_are_said(parser: Parser, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UnknownName, match="phrases, words"):
        parser.to_frame("A house.", rows="letters")
    with pytest.raises(UnknownName, match="pandas, polars"):
        parser.to_frame("A house.", library="excel")
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(MissingExtra, match=r"h3n\[pandas\]"):
        parser.to_frame("A house.")
