"""The first annotation of a text, with what to look at first."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

import h3n
from h3n import formats
from h3n.cli.commands import app
from h3n.workbench.preannotation import annotate, doubts_of, least_sure

TEXT = "This dog saw Oslo. Oslo found a house near the old river."


def test_confidences_stand_in_misc(tiny_model: Path) -> None:
    for result in h3n.load(str(tiny_model)).parse(TEXT):
        sentence = annotate(result)
        assert sentence.misc is not None
        stored = [float(row.partition("Confidence=")[2]) for row in sentence.misc]
        assert stored == pytest.approx([arc.confidence for arc in result.arcs], abs=1e-4)
        given = result.sentence.misc or ("_",) * len(result)
        assert any("SpaceAfter=No" in row for row in given)
        assert ["SpaceAfter=No" in row for row in given] == ["SpaceAfter=No" in row for row in sentence.misc]
        least = min(range(len(stored)), key=lambda word: result.arcs[word].confidence)
        assert sentence.comments[-1] == f"# least_sure = {least + 1} {stored[least]:.4f}"


def test_annotating_again_replaces_what_was_there(tiny_model: Path) -> None:
    parser = h3n.load(str(tiny_model))
    (first, *_) = parser.parse(TEXT)
    (again,) = parser.parse([annotate(first)])
    assert annotate(again).comments.count(annotate(first).comments[-1]) == 1
    assert all(row.count("Confidence") == 1 for row in annotate(again).misc or ())


def test_the_least_sure_come_first(tiny_model: Path) -> None:
    results = list(h3n.load(str(tiny_model)).parse(TEXT))
    doubts = [doubt for number, result in enumerate(results) for doubt in doubts_of(result, number, phrases=True)]
    ordered = least_sure(doubts)
    assert {doubt.kind for doubt in ordered} == {"arc", "phrase"}
    assert len(ordered) == sum(len(result.arcs) + len(result.spans) for result in results)
    assert [doubt.confidence for doubt in ordered] == sorted(doubt.confidence for doubt in doubts)
    assert least_sure(doubts, top=3) == ordered[:3]
    roots = [doubt.decision for doubt in doubts if doubt.decision.startswith("root")]
    assert roots == ["root"] * len(results)


def test_the_command(tiny_model: Path, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text(TEXT, encoding="utf-8")
    rows, trees = tmp_path / "a.conllu", tmp_path / "a.ptb"
    options = ["preannotate", str(tmp_path / "a.txt"), "--model", str(tiny_model), "-o", str(rows), "--top", "4"]
    result = CliRunner().invoke(app, [*options, "--brackets", str(trees)])
    assert result.exit_code == 0, result.output
    listed = [line.split("\t") for line in result.stdout.splitlines()]
    assert len(listed) == 4
    assert [row[0] for row in listed] == sorted(row[0] for row in listed)
    sentences = list(formats.read(str(rows)))
    assert [sentence.sent_id for sentence in sentences] == ["1", "2"]
    assert all("Confidence=" in row for sentence in sentences for row in sentence.misc or ())
    assert len(list(formats.read(str(trees)))) == 2
