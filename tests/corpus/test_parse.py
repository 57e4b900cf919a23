"""A corpus is parsed to the same bytes by any number of workers, goes on after a stop, and says what it left out."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

import h3n
from h3n import corpus, formats
from h3n.corpus import Options, Progress, parse_corpus
from h3n.corpus.storage import Folder
from h3n.errors import InputError, UnknownName, UsageError
from h3n.parser import Result
from h3n.system import locked
from tests.corpus.conftest import contents

pytest.importorskip("pyarrow", reason="the extra corpus is not installed")
SMALL = Options(shard_size=300)


def test_workers_do_not_matter_and_a_run_goes_on(texts: Path, tiny_model: Path, tmp_path: Path) -> None:
    seen: list[Progress] = []
    one, two = tmp_path / "one", tmp_path / "two"
    finished = parse_corpus([str(texts)], one, model=str(tiny_model), options=SMALL, workers=1, on_progress=seen.append)
    assert finished.shards == len(seen) == seen[-1].done > 4
    assert finished.errors == 0
    assert seen[-1].left == 0
    assert seen[-2].left is not None
    assert "100 %" in str(seen[-1])
    parse_corpus([str(texts)], two, model=str(tiny_model), options=SMALL, workers=2)
    assert contents(one) == contents(two)

    (two / "part-000001.parquet").unlink()
    (two / "part-000003.parquet").unlink()
    (two / ".h3n-1-aa.part").write_text("what a killed run left")
    kept = {path: path.stat().st_mtime_ns for path in two.glob("part-*")}
    again: list[Progress] = []
    parse_corpus([str(texts)], two, model=str(tiny_model), options=SMALL, workers=1, on_progress=again.append)
    assert contents(one) == contents(two)
    assert len(again) == 2
    assert {path: path.stat().st_mtime_ns for path in kept} == kept
    assert not list(two.glob(".h3n-*"))


def phrase_of(result: Result, word: int) -> tuple[int, int] | None:
    span = result.phrase(word)
    return (span.start, span.end) if span is not None else None


def test_what_is_read_back_is_what_the_parser_gives(texts: Path, tiny_model: Path, tmp_path: Path) -> None:
    parse_corpus([str(texts)], tmp_path / "out", model=str(tiny_model), options=SMALL, workers=1)
    parser = h3n.load(tiny_model)
    rows = list(corpus.read(tmp_path / "out"))
    for file in sorted(texts.rglob("*.txt")):
        expected = list(parser.parse(file.read_text(encoding="utf-8")))
        found = [row for row in rows if row.document == str(file)]
        assert [row.number for row in found] == list(range(len(expected)))
        for row, result in zip(found, expected, strict=True):
            assert row.offsets == result.offsets
            assert row.result.text == result.text
            assert row.result.brackets() == result.brackets()
            assert row.result.governors == result.governors
            assert row.result.relations == result.relations
            assert [phrase_of(row.result, word) for word in range(len(result))] == [
                phrase_of(result, word) for word in range(len(result))
            ]
            assert (row.result.tags, row.result.upos) == (result.tags, result.upos)
            assert [replace(span, confidence=0.0) for span in row.result.spans] == [
                replace(span, confidence=0.0) for span in result.spans
            ]
            assert [arc.confidence for arc in row.result.arcs] == pytest.approx(
                [arc.confidence for arc in result.arcs], abs=1e-3
            )
    assert "<svg" in rows[0].result.svg()


def test_names_are_unique_over_files(tiny_model: Path, tmp_path: Path) -> None:
    """Numbers and missing names get that of their file; names of a treebank stay."""
    (tmp_path / "in").mkdir()
    for file in ("one a.conllu", "two.conllu"):
        names = ["# sent_id = 1\n", "# sent_id = s-2\n", "", f"# sent_id = {file[:3]}-dev-1\n"]
        rows = "1\tdogs\t_\t_\t_\t_\t_\t_\t_\t_\n\n"
        (tmp_path / "in" / file).write_text("".join(name + rows for name in names), encoding="utf-8")
    options = replace(SMALL, output_format="conllu")
    parse_corpus([str(tmp_path / "in")], tmp_path / "out", model=str(tiny_model), options=options, workers=1)
    found = [one.sent_id or "" for file in sorted((tmp_path / "out").glob("part-*")) for one in formats.read(file)]
    assert len(set(found)) == len(found) == 8
    assert not any(set("/ ") & set(name) for name in found)
    assert {"one-dev-1", "two-dev-1"} < set(found)
    assert [name.rpartition(":")[2] for name in found[:3]] == ["one_a.conllu-1", "one_a.conllu-s-2", "one_a.conllu-3"]


def test_a_line_end_may_end_a_sentence(tiny_model: Path, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("so tired of\nthe dog. Really!\n", encoding="utf-8")
    for newlines, count in (("paragraph", 2), ("sentence", 3)):
        options = replace(SMALL, newlines=newlines)
        out = tmp_path / newlines
        parse_corpus([str(tmp_path / "a.txt")], out, model=str(tiny_model), options=options, workers=1)
        assert len(list(corpus.read(out))) == count
    with pytest.raises(UsageError, match="newlines 'page'; known: paragraph, sentence"):
        Options(newlines="page")


@pytest.mark.parametrize(("kind", "name"), [("conllu", "conllu"), ("brackets", "brackets")])
def test_shards_of_text(texts: Path, tiny_model: Path, tmp_path: Path, kind: str, name: str) -> None:
    out = tmp_path / "out"
    options = replace(SMALL, output_format=kind)
    finished = parse_corpus([str(texts)], out, model=str(tiny_model), options=options, workers=1)
    sentences = [sentence for file in sorted(out.glob("part-*")) for sentence in formats.read(file, format=name)]
    assert len(sentences) == finished.sentences > 10
    if kind == "conllu":
        names = [sentence.sent_id for sentence in sentences]
        assert len(set(names)) == len(names)
        assert names[0] == f"{texts}/0.txt-1".replace("/", ":")
        assert all(any(line.startswith("# text =") for line in sentence.comments) for sentence in sentences)
        begun = [line for sentence in sentences for line in sentence.comments if line.startswith("# newdoc")]
        assert len(begun) == 12
    with pytest.raises(UsageError, match="expected a corpus in Parquet"):
        corpus.read(out)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"max_words": 3}, "another options max_words: 2000 there, 3 now"),
        ({"output_format": "conllu"}, "begun with another"),
        ({"shard_size": 500}, "begun with another options shard_size"),
    ],
)
def test_other_options_are_refused(
    texts: Path, tiny_model: Path, tmp_path: Path, change: dict[str, object], message: str
) -> None:
    out = tmp_path / "out"
    parse_corpus([str(texts / "0.txt")], out, model=str(tiny_model), options=SMALL, workers=1)
    before = contents(out)
    with pytest.raises(UsageError, match=message):
        parse_corpus([str(texts / "0.txt")], out, model=str(tiny_model), options=replace(SMALL, **change))  # type: ignore[arg-type]
    assert contents(out) == before


def test_another_input_model_or_folder_is_refused(texts: Path, tiny_model: Path, tmp_path: Path) -> None:
    out, file = tmp_path / "out", texts / "0.txt"
    parse_corpus([str(file)], out, model=str(tiny_model), options=SMALL, workers=1)
    with pytest.raises(UsageError, match=r"another inputs \(count\): 1 there, 2 now"):
        parse_corpus([str(file), str(texts / "1.txt")], out, model=str(tiny_model), options=SMALL)
    file.write_text(file.read_text(encoding="utf-8").replace("dog", "cat"), encoding="utf-8")
    with pytest.raises(UsageError, match=r"another inputs 1\.checksum"):
        parse_corpus([str(file)], out, model=str(tiny_model), options=SMALL)
    with pytest.raises(UsageError, match=r"another model name: \"model\" there, \"en\" now"):
        parse_corpus([str(file)], out, model="en", options=SMALL)
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "part-000000.parquet").write_text("?")
    with pytest.raises(UsageError, match=r"holds shards and no manifest\.json"):
        parse_corpus([str(file)], tmp_path / "other", model=str(tiny_model))


def test_one_run_at_a_time(texts: Path, tiny_model: Path, tmp_path: Path) -> None:
    with locked(tmp_path / "out"), pytest.raises(UsageError, match=r"another run .*at work in this folder"):
        parse_corpus([str(texts)], tmp_path / "out", model=str(tiny_model), workers=1)


def test_bad_arguments(texts: Path, tiny_model: Path, tmp_path: Path) -> None:
    with pytest.raises(UnknownName, match="known: local, ray"):
        parse_corpus([str(texts)], tmp_path / "out", engine="spark")
    with pytest.raises(UsageError, match="0 workers"):
        parse_corpus([str(texts)], tmp_path / "out", workers=0)
    wrong = Options(decoder="cky", output_format="conllu")
    with pytest.raises(UsageError, match="decoder cky finds the"):
        parse_corpus([str(texts)], tmp_path / "out", model=str(tiny_model), options=wrong)
    for function in (corpus.read, lambda folder: corpus.status_of(Folder(str(folder)))):
        with pytest.raises(InputError, match="not a parsed corpus"):
            function(tmp_path)
    assert not (tmp_path / "out").exists()


def run(*arguments: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "h3n", "corpus", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)


def test_what_cannot_be_parsed_is_in_a_table(tiny_model: Path, tmp_path: Path) -> None:
    lines = ['{"id": "good", "text": "It is."}', "{", '{"id": "long", "text": "a b c d e f g h i. It is."}']
    (tmp_path / "a.jsonl").write_text("\n".join(lines), encoding="utf-8")
    out = tmp_path / "out"
    said = run("parse", tmp_path / "a.jsonl", "--out", out, "--model", tiny_model, "--max-words", 5, "--workers", 1)
    assert said.returncode == 1, said.stderr
    assert said.stderr.startswith("h3n: 2 problems; ")
    assert "3 sentences in 1 shard;" in said.stdout
    first, second = (json.loads(line) for line in (out / "errors.jsonl").read_text(encoding="utf-8").splitlines())
    assert first["document"].endswith("a.jsonl:33")
    assert (second["document"], second["sentence"]) == ("long", 0)
    assert "10 words" in second["reason"]
    rows = list(corpus.read(out))
    assert [row.document for row in rows] == ["good", "long", "long"]
    assert [row.result.note is not None for row in rows] == [False, True, False]
    shown = run("status", out)
    assert shown.returncode == 0, shown.stderr
    assert shown.stdout.startswith("model model: 1 of 1 shards (100 %), ")
    assert "2 errors" in shown.stdout
    (out / "part-000000.parquet").unlink()
    assert run("status", out).returncode == 1


def test_a_sentence_the_parser_fails_at_costs_itself_alone(
    texts: Path, tiny_model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from h3n.engine.engine import Engine

    original = Engine.score_batch

    def score_batch(self: Engine, sentences, inputs):  # type: ignore[no-untyped-def]
        if any("telescope" in sentence.words for sentence in sentences):
            raise RuntimeError("out of luck")
        return original(self, sentences, inputs)

    monkeypatch.setattr(Engine, "score_batch", score_batch)
    finished = parse_corpus([str(texts / "0.txt")], tmp_path / "out", model=str(tiny_model), workers=1)
    assert (finished.sentences, finished.errors) == (2, 1)
    (error,) = (json.loads(line) for line in (tmp_path / "out" / "errors.jsonl").read_text().splitlines())
    assert (error["document"], error["sentence"]) == (str(texts / "0.txt"), 2)
    assert re.fullmatch(r"cannot be parsed: RuntimeError: out of luck \(test_parse\.py, line \d+\)", error["reason"])


def test_the_summary_adds_up(texts: Path, tiny_model: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    finished = parse_corpus([str(texts)], out, model=str(tiny_model), options=SMALL, workers=1)
    summary = json.loads((out / "summary.json").read_text(encoding="utf-8"))
    rows = list(corpus.read(out))
    assert summary["documents"] == 12
    assert summary["sentences"] == finished.sentences == len(rows) == sum(summary["lengths"].values())
    assert summary["words"] == sum(len(row.result) for row in rows) == sum(summary["arc_confidences"].values())
    assert sum(summary["relations"].values()) == summary["words"]
    seconds = [start for start, _ in summary["rate"]]
    assert sum(rate for _, rate in summary["rate"]) * seconds[1] == pytest.approx(len(rows), rel=0.05)
    page = (out / "summary.html").read_text(encoding="utf-8")
    for title in ("Sentence lengths", "Rate over time", "Labels", "Relations", "Confidence of arcs"):
        assert title in page
