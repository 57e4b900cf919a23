"""What looks like a mistake is found, and what is usual is not."""

from __future__ import annotations

import json
import math
import re
from dataclasses import replace
from pathlib import Path

import pytest
from typer.testing import CliRunner

from benchmarks.checking import found_among, inject
from h3n import formats
from h3n.cli.commands import app
from h3n.errors import MismatchError
from h3n.trees import Dependencies, Sentence
from h3n.workbench import Finding, check_treebank
from h3n.workbench.checking import FLOOR, Expectation

TREEBANK = Path(__file__).parents[2] / "examples" / "treebank"
FILES = [str(TREEBANK / "train.ptb"), str(TREEBANK / "train.conllu")]


@pytest.fixture(scope="module")
def sentences() -> list[Sentence]:
    return list(formats.pair(*map(formats.read, FILES)))[:150]


def test_an_occurrence_does_not_vouch_for_itself() -> None:
    expected = Expectation()
    for value in ("a", "a", "a", "b"):
        expected.add(value, ["narrow", ""])
    # Two kinds of values in each context: the wider one counts for two occurrences.
    wide = (2 + 2 * FLOOR) / (3 + 2)
    assert expected.probability("a", ["narrow", ""], without="a") == pytest.approx((2 + 2 * wide) / (3 + 2))
    surprise, other = expected.surprise("b", ["narrow", ""])
    rare = (0 + 2 * (0 + 2 * FLOOR) / 5) / 5
    usual = (3 + 2 * (3 + 2 * FLOOR) / 5) / 5
    assert (surprise, other) == (pytest.approx(math.log(usual / rare)), "a")
    assert expected.surprise("a", ["narrow", ""]) == (0.0, "a")


def test_injected_errors_come_first(sentences: list[Sentence]) -> None:
    changed, errors = inject(sentences, count=12, seed=1)
    findings = check_treebank(changed)
    hits = found_among(findings[:24], errors)
    assert hits.total() >= 8
    assert hits.total() > found_among(findings[-len(findings) // 2 :], errors).total()


def test_a_broken_head_feature_principle_is_said(sentences: list[Sentence]) -> None:
    """A determiner is hung on a word outside its noun phrase."""
    at, sentence = next((at, one) for at, one in enumerate(sentences) if "det" in one.dependencies.relations[2:])  # type: ignore[union-attr]
    arcs = sentence.dependencies
    assert arcs is not None
    word = arcs.relations.index("det", 2)
    outside = 0 if arcs.governors[word] != 0 else 1
    governors = (*arcs.governors[:word], outside, *arcs.governors[word + 1 :])
    changed = [*sentences]
    changed[at] = replace(sentence, dependencies=Dependencies(governors, arcs.relations))
    after, before = (_arc(check_treebank(part), at + 1, word) for part in (changed, sentences))
    assert any(reason.startswith("it leaves the ") for reason in after.reasons)
    assert not any(reason.startswith("it leaves the ") for reason in before.reasons)
    assert after.suspicion > before.suspicion + 2


def _arc(findings: list[Finding], sentence: int, word: int) -> Finding:
    return next(one for one in findings if (one.sentence, one.kind, one.start) == (sentence, "arc", word))


def test_both_trees_are_needed(sentences: list[Sentence]) -> None:
    with pytest.raises(MismatchError, match="the sentence has no phrase structure"):
        check_treebank([replace(sentences[0], tree=None)])


def test_the_command(sentences: list[Sentence], tmp_path: Path) -> None:
    changed, _ = inject(sentences, count=3, seed=2)
    formats.write(changed, str(tmp_path / "a.jsonl"))
    result = CliRunner().invoke(app, ["check", str(tmp_path / "a.jsonl"), "--top", "5", "--json"])
    rows = [json.loads(line) for line in result.stdout.splitlines()]
    assert result.exit_code == 1
    assert len(rows) == 5
    assert [row["suspicion"] for row in rows] == sorted((row["suspicion"] for row in rows), reverse=True)
    result = CliRunner().invoke(app, ["check", FILES[0], "--dependencies", FILES[1], "--top", "2"])
    assert len(result.stdout.splitlines()) == 2
    result = CliRunner().invoke(app, ["check", str(tmp_path / "a.jsonl"), "--top", "9999", "--least", "-99"])
    places = [re.search(r"  words? (\d+)(?:-(\d+))?  ", line) for line in result.stdout.splitlines()]
    assert all(place is not None and (place[2] is None or int(place[1]) < int(place[2])) for place in places)
    assert " of the root" not in result.stdout
    result = CliRunner().invoke(app, ["check", FILES[0], "--dependencies", FILES[1], "--least", "99"])
    assert (result.exit_code, result.stdout) == (0, "")
