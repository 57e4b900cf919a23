"""Patterns over both trees find what an enumeration of all phrases and arcs finds."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from h3n import corpus
from h3n.convert.rules.nodes import LinkedNode, bottom_up
from h3n.corpus import CorpusSentence, Options, find, parse_corpus
from h3n.corpus.finding import linked
from h3n.errors import UsageError

pytest.importorskip("pyarrow", reason="the extra corpus is not installed")
ROW: dict[str, Any] = {
    "words": ["The", "man", "with", "dogs", "slept", "."],
    "tags": ["DT", "NN", "IN", "NNS", "VBD", "."],
    "upos": ["DET", "NOUN", "ADP", "NOUN", "VERB", "PUNCT"],
    "lemmas": ["the", "man", "with", "dog", "sleep", "."],
    "features": ["_", "Number=Sing", "_", "Number=Plur", "Mood=Ind|Tense=Past", "_"],
    "governors": [1, 4, 3, 1, -1, 4],
    "relations": ["det", "nsubj", "case", "nmod", "root", "punct"],
    "spans": [
        {"label": "S", "start": 0, "end": 6, "head": 4},
        {"label": "NP", "start": 0, "end": 4, "head": 1},
        {"label": "NP", "start": 0, "end": 2, "head": 1},
        {"label": "PP", "start": 2, "end": 4, "head": 3},
        {"label": "X::NP", "start": 3, "end": 4, "head": 3},
        {"label": "VP", "start": 4, "end": 5, "head": 4},
    ],
}


@pytest.fixture(scope="module")
def parsed(tiny_model: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("find")
    treebank = Path(__file__).parents[2] / "examples" / "treebank" / "dev.conllu"
    options = Options(shard_size=2_000)
    parse_corpus([str(treebank)], folder / "out", model=str(tiny_model), options=options, workers=1)
    return folder / "out"


def test_the_nodes_are_the_tree() -> None:
    (root,) = linked(ROW).roots
    nodes = [node for node in bottom_up(root) if isinstance(node, LinkedNode)]
    phrases = [(node.label, node.start, node.end, node.lexical) for node in nodes if node.form is None]
    expected = [
        (label, span["start"], span["end"], span["head"])
        for span in ROW["spans"]
        for label in span["label"].split("::")
    ]
    assert sorted(phrases) == sorted(expected)
    assert [node.form for node in sorted(nodes, key=lambda node: node.start) if node.form] == ROW["words"]
    assert [child.label for child in root.children] == ["NP", "VP", "."]
    assert root.head is root.children[1]


@pytest.mark.parametrize(
    ("pattern", "places"),
    [
        ("NP @ nsubj < PP", [(0, 4)]),
        ("NP @ nsubj", [(0, 4), (0, 2)]),
        ("NP @ nsubj !< PP", [(0, 2)]),
        ("PP @> NN", [(2, 4)]),
        ('PP @> NN"man"', [(2, 4)]),
        ('PP @> NN"woman"', []),
        ("NP @< (IN @ case)", [(3, 4)]),
        ("* @ root <# VBD", [(4, 5)]),
        ("VBD @< (NN @ nsubj) @< (* @ punct)", [(4, 5)]),
        ("VBD @> *", []),
        ("X < NP", [(3, 4)]),
        ('*"/[a-z]+s/"', [(3, 4)]),
        ("NP @lemma dog", [(3, 4)]),
        ("NP @lemma Dog|man", [(0, 4), (0, 2), (3, 4)]),
        ('NP @lemma "/d.g/"', [(3, 4)]),
        ('NP @lemma !"dog"', [(0, 4), (0, 2)]),
        ("NP !@lemma dog", [(0, 4), (0, 2)]),
        ("NN* @feature Number=Plur", [(3, 4)]),
        ("* @feature Tense=*", [(0, 6), (4, 5), (4, 5)]),
        ("NP @> (* @feature Tense=Past)", [(0, 4), (0, 2)]),
        ("S @upos VERB <1 (NP @upos NOUN)", [(0, 6)]),
        ("DT @feature Number=*", []),
        ("X|NP", [(0, 4), (0, 2), (3, 4), (3, 4)]),
    ],
)
def test_patterns_over_both_trees(pattern: str, places: list[tuple[int, int]], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("h3n.corpus.finding.rows_of", lambda _: iter([ROW]))
    assert [(found.start, found.end) for found in find("anywhere", pattern)] == places


def test_a_sentence_without_trees_has_words_alone() -> None:
    row = {"words": ["a", "b"], "tags": [], "upos": [], "governors": [], "relations": [], "spans": []}
    assert [node.form for node in linked(row).roots] == ["a", "b"]


def enumerated(sentence: CorpusSentence) -> list[tuple[int, int]]:
    """Return the NPs whose head is an nsubj and that have a PP right below, from spans and arcs alone."""
    result = sentence.result
    spans = [(span.start, span.end, label, span.head) for span in result.spans for label in span.labels]
    places = []
    for at, (start, end, label, head) in enumerate(spans):
        if label == "NP" and head is not None and result.relations[head] == "nsubj":
            inside = [other for other in spans[at + 1 :] if start <= other[0] and other[1] <= end]
            for number, (first, last, name, _) in enumerate(inside):
                between = [other for other in inside[:number] if other[0] <= first and last <= other[1]]
                if name == "PP" and not between:
                    places.append((start, end))
                    break
    return places


def test_a_corpus_is_searched_as_an_enumeration_would(parsed: Path) -> None:
    expected = [(row.document, row.number, place) for row in corpus.read(parsed) for place in enumerated(row)]
    hits = list(find(parsed, "NP @ nsubj < PP"))
    assert [(hit.row["document"], hit.row["sentence"], (hit.start, hit.end)) for hit in hits] == expected
    verbs = list(find(parsed, 'VB*!"is"'))
    tags = [
        (word, tag) for row in corpus.read(parsed) for word, tag in zip(row.result.words, row.result.tags, strict=True)
    ]
    assert [(hit.words, hit.label) for hit in verbs] == [
        (word, tag) for word, tag in tags if tag.startswith("VB") and word.lower() != "is"
    ]
    assert verbs[0].parsed.result.words == tuple(verbs[0].row["words"])


def test_a_bad_pattern_is_one_line(parsed: Path) -> None:
    for pattern in ("NP @", "NP @@ x", "(NP", "", "NP < {set}", "NP @lemma", "NP @feature (X)", "NP @lemma {list}"):
        with pytest.raises(UsageError, match="expected"):
            find(parsed, pattern)


def run(*arguments: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "h3n", "corpus", "find", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)


def test_the_command_shows_a_table_json_and_pictures(parsed: Path, tmp_path: Path) -> None:
    expected = list(find(parsed, "NP < DT"))
    shown = run(parsed, "NP < DT", "--limit", 3)
    assert shown.returncode == 0, shown.stderr
    lines = shown.stdout.splitlines()
    assert len(lines) == 3
    assert [line.split("\t")[2:4] for line in lines] == [[hit.label, hit.words] for hit in expected[:3]]
    assert "h3n: the first 3; --limit 0 shows all" in shown.stderr
    page = tmp_path / "page.html"
    assert run(parsed, "NP < DT", "--limit", 2, "-o", page).returncode == 0
    assert page.read_text(encoding="utf-8").count("<figure>") == len({id(hit.row) for hit in expected[:2]})
    objects = run(parsed, "NP < DT", "--to", "jsonl", "--limit", 0).stdout.splitlines()
    assert [json.loads(line)["words"] for line in objects] == [hit.words for hit in expected]
    nothing = run(parsed, 'NN"xyzzy"')
    assert (nothing.returncode, nothing.stdout) == (1, "")
