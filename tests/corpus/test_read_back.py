"""A corpus that is read back is what was written: the same result in every field."""

from __future__ import annotations

import io
import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import h3n
from h3n import corpus, formats, text
from h3n.corpus import Options, parse_corpus
from h3n.corpus.documents import Item
from h3n.corpus.options import INPUTS, OUTPUTS
from h3n.corpus.reading import _rows_of_shard, parsed_of
from h3n.corpus.tables import ADDED, VERSION, row_of, schema
from h3n.corpus.writing import WRITERS
from h3n.errors import CorruptInput, InputError, Place, UsageError
from h3n.formats import rows as conll_rows
from h3n.parser import Parser, Result
from h3n.trees import EmptyWord, MultiwordToken, Sentence
from tests.strategies import dependencies

pyarrow = pytest.importorskip("pyarrow", reason="the extra corpus is not installed")
parquet = pytest.importorskip("pyarrow.parquet")

# What is hard to give back: contractions, brackets, odd blanks, several scripts, wide and joined characters.
ODD = (
    "Don't (really) go!",
    'He said:  "it\'s fine" .',
    "I'll\u00a0go\u2003there\tnow,\u200b won't I?",
    "a -LRB- b -RRB- {c} [d] \\/ * #",
    "\u05e9\u05dc\u05d5\u05dd \u0639\u0644\u064a\u0643\u0645.",
    "\U0001f468\u200d\U0001f469\u200d\U0001f467 e\u0301te\u0301 \u2028 x",
    "# sent_id = 7",
    "SpaceAfter=No|x=\\s",
    "the girls' school; John's and the Joneses'",
    "1-2\t_\t_ 3.1",
    "cannot gonna wanna dunno",
    "(S (NP x))",
    "$5.00 e.g. U.S. No. 5 :-) ...",
    "The dog sees the house.",
)
ENDS = (" ", "  ", "\n", "\n\n", "\r\n", "\t", " \n\n\n ")
characters = st.characters(blacklist_categories=["Cs"], blacklist_characters="\0")
parts = st.one_of(st.sampled_from(ODD), st.text(characters, min_size=1, max_size=12))
odd_texts = st.lists(st.tuples(parts, st.sampled_from(ENDS)), min_size=1, max_size=6).map(
    lambda pairs: "".join(part + end for part, end in pairs)
)
slow = settings(
    deadline=None,
    max_examples=15,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
    derandomize=True,
)


@pytest.fixture(scope="module")
def parser(tiny_model: Path) -> Parser:
    return h3n.load(tiny_model, threads=1)


def there_and_back(results: Sequence[Result]) -> list[corpus.CorpusSentence]:
    """Return results that were written into a Parquet file and read from it."""
    stream = io.BytesIO()
    with WRITERS["parquet"](stream) as write:
        for number, result in enumerate(results):
            write(Item("a", number, result.sentence), result)
    stream.seek(0)
    return list(map(parsed_of, _rows_of_shard(stream, "a.parquet")))


def check_same(found: Result, expected: Result, *, batched: bool = False) -> None:
    """Raise unless two results are the same in every field but ``source``.

    What is ``batched`` in another way has the same trees; the last digits of its confidences may differ.
    """
    digits = 1e-4 if batched else 0.0
    for got, wanted in ((found.arcs, expected.arcs), (found.spans, expected.spans)):
        confidences = [one.confidence for one in wanted]
        assert [one.confidence for one in got] == pytest.approx(confidences, rel=0, abs=digits)
        assert [replace(one, confidence=0.0) for one in got] == [replace(one, confidence=0.0) for one in wanted]
    assert found.score == pytest.approx(expected.score, rel=digits, abs=digits)
    for name in (field.name for field in fields(Result) if field.name not in ("arcs", "spans", "score", "source")):
        assert getattr(found, name) == getattr(expected, name), name
    assert found.sentence.place == expected.sentence.place
    assert (found.offsets, found.text, found.conllu()) == (expected.offsets, expected.text, expected.conllu())


def test_what_the_issue_found(parser: Parser) -> None:
    results = list(parser.parse("Don't (really) go!  It's  late.\n\nIsn't it?"))
    for found, expected in zip(there_and_back(results), results, strict=True):
        check_same(found.result, expected)
        assert (found.offsets, found.lacks) == (expected.offsets, ())
    assert results[0].offsets[:4] == ((0, 2), (2, 5), (6, 7), (7, 13))
    assert results[1].offsets[0][0] == 20
    assert "# newpar" in there_and_back(results)[2].result.conllu()


@slow
@given(texts=st.lists(odd_texts, min_size=1, max_size=4))
@pytest.mark.parametrize("decoder", [None, "hpsg", "cky", "eisner"])
def test_every_field_of_odd_texts(parser: Parser, decoder: str | None, texts: list[str]) -> None:
    results = [result for result in parser.parse(texts, decoder=decoder) if len(result)]
    for found, expected in zip(there_and_back(results), results, strict=True):
        check_same(found.result, expected)


@st.composite
def sentences(draw: st.DrawFn) -> Sentence:
    """A sentence of a treebank, with whatever may stand in its columns."""
    words = draw(st.lists(st.text(characters.filter(lambda c: c not in "\t\r\n"), min_size=1, max_size=5), min_size=1))
    n = len(words)
    values = st.lists(st.sampled_from(["_", "x", "Case=Nom|Number=Sing", "é\u200d"]), min_size=n, max_size=n)
    columns = {name: draw(st.none() | values.map(tuple)) for name in ("upos", "tags", "lemmas", "features", "misc")}
    at = draw(st.integers(1, n))
    inserts = (
        EmptyWord(0, 1, "gone"),
        MultiwordToken(at - 1, draw(st.integers(at, n)), "form", "SpaceAfter=No"),
    )
    return Sentence(
        words=tuple(words),
        **columns,
        dependencies=draw(st.none() | dependencies(words=n)),
        comments=tuple(draw(st.lists(st.sampled_from(["# newpar", "# newdoc id = é", "# sent_id = a b", "#"])))),
        inserts=inserts if draw(st.booleans()) else (),
        place=Place("a.conllu", draw(st.integers(1, 1 << 40))),
    )


@slow
@given(chosen=st.lists(sentences(), min_size=1, max_size=4), keep_arcs=st.booleans())
def test_every_field_of_odd_treebanks(parser: Parser, chosen: list[Sentence], keep_arcs: bool) -> None:
    results = [*parser.parse(chosen, keep_arcs=keep_arcs)]
    # What a parser takes off (the enhanced graph, empty nodes) and what it leaves unparsed come back as well.
    results += [Result(sentence=replace(one, enhanced=("0:root",) * len(one)), note="not parsed") for one in chosen]
    for found, expected in zip(there_and_back(results), results, strict=True):
        check_same(found.result, expected)


def test_a_word_that_brackets_cannot_show_costs_no_row(parser: Parser) -> None:
    (result,) = parser.parse(words=["a\tb", "c\nd", "e f"])
    (found,) = there_and_back([result])
    assert found.result.words == ("a\tb", "c\nd", "e f")
    assert (found.result.tree, found.result.joint) == (result.tree, result.joint)


def written(folder: Path, kind: str, texts: Sequence[str]) -> tuple[list[Path], list[str]]:
    """Write texts as input of a format; return the files, and what of each is a document."""
    if kind in ("parquet", "arrow"):
        table = pyarrow.table({"text": texts})
        file = folder / f"a.{kind}"
        if kind == "parquet":
            parquet.write_table(table, file, row_group_size=2)
        else:
            with pyarrow.ipc.new_file(file, table.schema) as writer:
                writer.write_table(table)
        return [file], list(texts)
    if kind == "jsonl":
        (folder / "a.jsonl").write_text("".join(json.dumps({"text": one}) + "\n" for one in texts), encoding="utf-8")
        return [folder / "a.jsonl"], list(texts)
    if kind in ("lines", "words"):
        lines = [" ".join(one.splitlines()).replace("\r", " ").replace("\n", " ") for one in texts]
        (folder / "a.txt").write_bytes("".join(f"{line}\n" for line in lines).encode())
        return [folder / "a.txt"], lines
    if kind == "paragraphs":
        blocks = [one.replace("\r", " ").replace("\n", " ") for one in texts]
        (folder / "a.txt").write_bytes("\n".join(f"{block}\n" for block in blocks).encode())
        return [folder / "a.txt"], [f"{block}\n" for block in blocks]
    files = [folder / f"{number}.{'conllu' if kind == 'conllu' else 'txt'}" for number in range(len(texts))]
    for file, one in zip(files, texts, strict=True):
        if kind == "conllu":
            formats.write((s for s in text.segment(one) if s.words), file)
        else:
            file.write_bytes(one.encode())
    return files, list(texts)


def expected_results(parser: Parser, kind: str, file: Path, document: str) -> Iterator[Result]:
    """Parse a document by itself, as the corpus has to."""
    if kind == "conllu":
        return parser.parse(list(formats.read(file)))
    if kind == "lines":
        return parser.parse([one for one in text.lines(document) if one.words])
    if kind == "words":
        return parser.parse([one for one in text.words(document) if one.words])
    return parser.parse(document)


@settings(slow, max_examples=6)
@given(texts=st.lists(odd_texts, min_size=1, max_size=4))
@pytest.mark.parametrize("kind", INPUTS)
def test_every_input_format_comes_back(parser: Parser, tiny_model: Path, kind: str, texts: list[str]) -> None:
    texts = [one.lstrip("\ufeff") for one in texts]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        files, documents = written(folder, kind, texts)
        options = Options(input_format=kind, shard_size=200)
        parse_corpus([str(file) for file in files], folder / "out", model=str(tiny_model), options=options, workers=1)
        rows = list(corpus.read(folder / "out"))
        sources = files if len(files) == len(documents) else files * len(documents)
        expected = [
            result
            for file, document in zip(sources, documents, strict=True)
            for result in expected_results(parser, kind, file, document)
        ]
        assert (folder / "out" / "errors.jsonl").read_bytes() == b""
        for row, result in zip(rows, expected, strict=True):
            check_same(row.result, result, batched=True)
            assert row.offsets == result.offsets


def without_names(sentence: Sentence) -> Sentence:
    """Return a sentence without the comments by which text formats name documents and sentences."""
    named = ("# newdoc", "# sent_id", "# note")
    return replace(sentence, comments=tuple(line for line in sentence.comments if not line.startswith(named)))


@settings(slow, max_examples=6)
@given(texts=st.lists(odd_texts, min_size=1, max_size=4))
@pytest.mark.parametrize("kind", OUTPUTS)
def test_every_output_format_gives_back_what_it_has_room_for(tiny_model: Path, kind: str, texts: list[str]) -> None:
    texts = [one.lstrip("\ufeff") for one in texts]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        files, documents = written(folder, "text", texts)
        options = Options(output_format=kind, shard_size=200, max_words=12)
        parse_corpus([str(file) for file in files], folder / "out", model=str(tiny_model), options=options, workers=1)
        limited = h3n.load(tiny_model, threads=1, max_words=12)
        expected = [result for document in documents for result in limited.parse(document)]
        shards = sorted((folder / "out").glob("part-*"))
        if kind == "parquet":
            for row, result in zip(corpus.read(folder / "out"), expected, strict=True):
                check_same(row.result, result, batched=True)
        elif kind == "brackets":
            lines = [line for shard in shards for line in shard.read_text(encoding="utf-8").split("\n")[:-1]]
            assert lines == [result.brackets() for result in expected]
        else:
            found = [without_names(one) for shard in shards for one in formats.read(shard, format=kind)]
            wanted = [result.sentence for result in expected]
            if kind == "conllu":
                wanted = [replace(one, tree=None) for one in wanted]
            assert found == [without_names(one) for one in wanted]


def as_version_2(row: dict[str, Any], sentence: Sentence) -> dict[str, Any]:
    """Return a row as version 2 of the table had it: what is not a word is a row of CoNLL-U."""
    inserts = [{"before": insert.before, "row": conll_rows.row_of(insert)} for insert in sentence.inserts]
    return {**row, "inserts": inserts}


@slow
@given(chosen=st.lists(sentences(), min_size=1, max_size=4))
def test_rows_of_version_2_lack_nothing(parser: Parser, chosen: list[Sentence]) -> None:
    results = [*parser.parse(chosen), *(Result(sentence=one, note="not parsed") for one in chosen)]
    for number, result in enumerate(results):
        found = parsed_of(as_version_2(row_of("a", number, result), result.flat))
        check_same(found.result, result)
        assert (found.document, found.number, found.lacks) == ("a", number, ())


def of_version(version: int, folder: Path) -> None:
    """Make a folder what an h3n before version 3 of the table would have written."""
    for shard in folder.glob("part-*.parquet"):
        table = parquet.read_table(shard)
        if version == 1:
            parquet.write_table(table.drop_columns(list(ADDED)).replace_schema_metadata(None), shard)
            continue
        old = pyarrow.list_(pyarrow.struct([("before", pyarrow.int32()), ("row", pyarrow.string())]))
        rows = [as_version_2(row, parsed_of(row).result.sentence)["inserts"] for row in table.to_pylist()]
        at = table.schema.get_field_index("inserts")
        table = table.set_column(at, "inserts", pyarrow.array(rows, type=old))
        parquet.write_table(table.replace_schema_metadata({"h3n.corpus": str(version)}), shard)
    manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    manifest["written_by"]["table"] = version
    if version == 1:
        del manifest["written_by"]["table"]
    (folder / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")


@pytest.mark.parametrize(("version", "lacks"), [(1, ADDED), (2, ())])
def test_older_folders_are_read_with_what_they_lack(
    parser: Parser, tiny_model: Path, tmp_path: Path, version: int, lacks: tuple[str, ...]
) -> None:
    document = "Don't (really) go!  It's  late.\n\nIsn't it?\n"
    (tmp_path / "a.txt").write_text(document, encoding="utf-8")
    out = tmp_path / "out"
    parse_corpus([str(tmp_path / "a.txt")], out, model=str(tiny_model), workers=1)
    assert corpus.lacking(out) == ()
    of_version(version, out)
    assert corpus.lacking(out) == lacks
    for row, expected in zip(corpus.read(out), parser.parse(document), strict=True):
        assert row.lacks == lacks
        assert row.offsets == row.result.offsets == expected.offsets
        assert row.result.text == expected.text
        assert row.result.tree == expected.tree
        assert row.result.joint == (None if lacks else expected.joint)
        assert row.result.sentence.inserts == (() if lacks else expected.sentence.inserts)
        assert row.result.governors == expected.governors
        assert "<svg" in row.result.svg()
    command = [sys.executable, "-m", "h3n", "corpus", "find", str(out), "*"]
    said = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    assert said.returncode == 0, said.stderr
    note = f"h3n: {out}: written by an older h3n, without the columns {', '.join(lacks)}\n"
    assert said.stderr == (note if lacks else "")


@pytest.mark.parametrize("version", [1, 2])
def test_a_run_that_an_older_table_began_is_refused(tiny_model: Path, tmp_path: Path, version: int) -> None:
    (tmp_path / "a.txt").write_text("The dog sees the house.\n" * 40, encoding="utf-8")
    out, options = tmp_path / "out", Options(input_format="lines", shard_size=300)
    parse_corpus([str(tmp_path / "a.txt")], out, model=str(tiny_model), options=options, workers=1)
    of_version(version, out)
    (out / "part-000001.parquet").unlink()
    before = {file.name: file.read_bytes() for file in out.glob("part-*")}
    with pytest.raises(
        UsageError, match=f"begun with tables of version {version}, this h3n writes version {VERSION}; name another"
    ):
        parse_corpus([str(tmp_path / "a.txt")], out, model=str(tiny_model), options=options, workers=1)
    assert {file.name: file.read_bytes() for file in out.glob("part-*")} == before


def test_newer_and_damaged_shards_are_one_line(tiny_model: Path, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("The dog sees the house.\n", encoding="utf-8")
    out = tmp_path / "out"
    parse_corpus([str(tmp_path / "a.txt")], out, model=str(tiny_model), workers=1)
    shard = out / "part-000000.parquet"
    whole = shard.read_bytes()
    newer = parquet.read_table(shard).replace_schema_metadata({"h3n.corpus": str(VERSION + 1)})
    parquet.write_table(newer, shard)
    with pytest.raises(InputError, match=f"a table of version {VERSION + 1}; this h3n reads versions up to {VERSION}"):
        list(corpus.read(out))
    for damaged in (b"", whole[:-10], whole[:200] + bytes(len(whole) - 400) + whole[-200:]):
        shard.write_bytes(damaged)
        with pytest.raises(CorruptInput, match=r"part-000000\.parquet: cannot be read: .*repeat the run"):
            list(corpus.read(out))


def test_the_page_names_every_column() -> None:
    page = (Path(__file__).parents[2] / "docs" / "corpus.md").read_text(encoding="utf-8")
    table: Any = page.split("A row is a sentence:")[1].split("```")[0]
    for name in schema().names:
        assert f"`{name}`" in table, name
