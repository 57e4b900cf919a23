"""pandas, polars and DuckDB read a corpus as it is."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from h3n import corpus
from h3n.corpus import CorpusSentence, Options, parse_corpus

pytest.importorskip("pyarrow", reason="the extra corpus is not installed")


@pytest.fixture(scope="module")
def parsed(tiny_model: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("readers")
    lines = ["The dog sees the house.", "The teacher reads a book.", "A man with a telescope sees the dog."] * 5
    (folder / "a.txt").write_text("\n".join(lines), encoding="utf-8")
    options = Options(input_format="lines", shard_size=200)
    parse_corpus([str(folder / "a.txt")], folder / "out", model=str(tiny_model), options=options, workers=1)
    return folder / "out"


def same(row: dict[str, Any], expected: CorpusSentence) -> None:
    result = expected.result
    assert (row["document"], row["sentence"], row["text"]) == (expected.document, expected.number, result.text)
    for name, values in (("words", result.words), ("governors", result.governors), ("relations", result.relations)):
        assert tuple(row[name]) == values
    assert [span["head"] for span in row["spans"]] == [span.head for span in result.spans]
    assert row["brackets"] == result.brackets()


def test_pandas(parsed: Path) -> None:
    pandas = pytest.importorskip("pandas")
    table = pandas.concat(pandas.read_parquet(file) for file in sorted(parsed.glob("part-*.parquet")))
    for row, expected in zip(table.to_dict("records"), corpus.read(parsed), strict=True):
        same(row, expected)


def test_polars(parsed: Path) -> None:
    polars = pytest.importorskip("polars")
    table = polars.read_parquet(parsed / "part-*.parquet")
    for row, expected in zip(table.to_dicts(), corpus.read(parsed), strict=True):
        same(row, expected)


def test_duckdb(parsed: Path) -> None:
    duckdb = pytest.importorskip("duckdb")
    with duckdb.connect() as connection:
        selected = connection.execute(f"SELECT * FROM '{parsed}/part-*.parquet' ORDER BY filename, file_row_number")
        names = [column[0] for column in selected.description]
        rows = [dict(zip(names, row, strict=True)) for row in selected.fetchall()]
        for row, expected in zip(rows, corpus.read(parsed), strict=True):
            same(row, expected)
        counted = connection.execute(
            f"SELECT r, count(*) FROM (SELECT unnest(relations) AS r FROM '{parsed}/part-*.parquet') GROUP BY r"
        ).fetchall()
    assert sum(count for _, count in counted) == sum(len(row.result) for row in corpus.read(parsed))
