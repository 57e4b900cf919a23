"""One result in all its forms."""

from __future__ import annotations

import copy
import json
import pickle
import sys
from dataclasses import FrozenInstanceError, replace
from io import StringIO
from xml.etree import ElementTree

import pytest

from h3n import formats
from h3n.draw import read_joint_brackets
from h3n.errors import MissingExtra, TreeError
from h3n.parser import LabelledSpan, Parser, Result
from h3n.parser.lazy import MAKERS
from h3n.trees import Constituent, Leaf, MultiwordToken, Sentence

TEXT = 'Oslo doesn\'t like "the very old dogs" near Tokyo.'


@pytest.fixture(scope="module")
def result(parser: Parser) -> Result:
    (made,) = parser.parse(TEXT)
    return made


def test_conllu_reads_back(result: Result) -> None:
    (again,) = formats.read(StringIO(result.conllu()), format="conllu")
    assert again.words == result.words
    assert (again.tags, again.upos, again.misc) == (result.tags, result.upos, result.sentence.misc)
    assert again.dependencies == result.sentence.dependencies
    assert f"# text = {TEXT}" in again.comments
    assert MultiwordToken(1, 3, "doesn't") in again.inserts
    assert [row.split("\t")[6] for row in result.conllu().splitlines() if row.startswith("2-3")] == ["_"]


def test_brackets_read_back(result: Result) -> None:
    (again,) = formats.read(StringIO(result.brackets()), format="brackets")
    assert again.tree == result.tree
    assert "\n" not in result.brackets()
    assert result.brackets(indent=True).count("\n") > 2


def test_joint_brackets_read_back(result: Result) -> None:
    assert read_joint_brackets(result.joint_brackets()) == result.joint


def test_json_has_everything_and_reads_back(result: Result) -> None:
    made = json.loads(result.json())
    assert made["text"] == TEXT
    assert made["words"] == list(result.words)
    assert [TEXT[start:end] for start, end in made["offsets"]] == made["words"]
    assert made["heads"] == list(result.heads)
    assert len(made["arc_confidences"]) == len(result.words)
    assert made["spans"][0]["start"] == 0
    assert made["spans"][0]["end"] == len(result.words)
    assert all({"label", "start", "end", "head", "confidence"} == set(span) for span in made["spans"])
    (again,) = formats.read(StringIO(result.json()), format="jsonl")
    assert again == result.sentence


def test_pictures(result: Result) -> None:
    ElementTree.fromstring(result.svg())
    assert result._repr_svg_() == result.svg()
    assert result.svg() in result._repr_html_()
    assert "<title>" in result.svg(theme="dark")
    assert all(len(line) <= 60 for line in result.pretty(width=60).splitlines())
    assert str(result) == result.pretty().rstrip("\n")
    assert repr(result) == f"<h3n result: {TEXT!r}>"


def test_nltk(result: Result) -> None:
    tree = result.to_nltk()
    assert tree.leaves() == list(result.words)
    assert tree.label() == "ROOT"
    assert " ".join(str(tree).split()) == result.brackets()


def test_a_deep_tree_becomes_an_nltk_tree() -> None:
    node: Constituent = Constituent("X", (Leaf("T", "w"),))
    for _ in range(5000):
        node = Constituent("X", (node,))
    made = Result(sentence=Sentence(words=("w",), tree=node)).to_nltk()
    depth = 0
    while not isinstance(made, str):
        made = made[0]
        depth += 1
    assert depth == 5002


def test_nltk_is_optional(result: Result, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "nltk", None)
    with pytest.raises(MissingExtra, match=r"NLTK trees need the extra 'nltk'"):
        result.to_nltk()


def test_nltk_has_no_tree_without_words(parser: Parser) -> None:
    (result,) = parser.parse([[]])
    with pytest.raises(TreeError, match="has no phrase structure: it has no words"):
        result.to_nltk()


def test_without_a_text_it_is_put_together_from_words_and_spacing(parser: Parser) -> None:
    (result,) = parser.parse(Sentence(words=("this", "dog", "!"), misc=("_", "SpaceAfter=No", "_")))
    assert result.text == "this dog!"
    assert tuple(result.text[start:end] for start, end in result.offsets) == result.words


def test_dependencies_alone_have_no_brackets(parser: Parser) -> None:
    (flat,) = parser.parse("Oslo found dogs.", decoder="mst")
    with pytest.raises(TreeError, match="no phrase structure"):
        flat.brackets()
    with pytest.raises(TreeError, match="no phrase structure"):
        flat.to_nltk()


def test_a_unary_chain_comes_apart() -> None:
    assert LabelledSpan(0, 1, "S::VP", 0, 0.5).labels == ("S", "VP")


def test_results_are_frozen(result: Result) -> None:
    with pytest.raises(FrozenInstanceError):
        result.score = 1.0  # type: ignore[misc]
    assert replace(result, source=3).source == 3


def test_trees_are_made_when_they_are_asked_for(parser: Parser, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[str] = []
    for name, make in MAKERS.items():
        monkeypatch.setitem(MAKERS, name, lambda found, name=name, make=make: made.append(name) or make(found))
    (lazy,) = parser.parse(TEXT)
    assert lazy.conllu()
    assert (len(lazy), len(lazy.heads)) == (len(lazy.words), len(lazy.relations))
    assert made == [], "CoNLL-U needs no phrase structure"
    line = lazy.brackets()
    assert made == [], "nor do brackets on one line need a tree"
    assert " ".join(lazy.brackets(indent=True).split()) == line
    assert lazy.brackets(indent=True) == lazy.brackets(indent=True)
    assert made == ["sentence"], "once"
    assert lazy.spans[0].head == lazy.root
    assert len(lazy.arcs) == len(lazy)
    assert sorted(made) == ["arcs", "sentence", "spans"]


def test_a_result_is_compared_copied_and_pickled_like_any_other(parser: Parser) -> None:
    first, second, third = (next(iter(parser.parse(TEXT))) for _ in range(3))
    whole = Result(sentence=first.sentence, joint=first.joint, spans=first.spans, arcs=first.arcs, score=first.score)
    assert second == whole
    assert pickle.loads(pickle.dumps(third)) == whole
    assert copy.copy(second) == whole
    assert replace(second, source=4).source == 4
    assert replace(second, source=4).tree == whole.tree
    with pytest.raises(AttributeError, match="'Result' object has no attribute 'lemmata'"):
        _ = second.lemmata  # type: ignore[attr-defined]
    with pytest.raises(AttributeError, match="no attribute 'lemmata'"):
        _ = whole.lemmata  # type: ignore[attr-defined]


def test_results_of_several_texts_know_their_source(parser: Parser) -> None:
    assert [result.source for result in parser.parse(["Oslo found a dog. It ran.", "", "A cat."])] == [0, 0, 2]
