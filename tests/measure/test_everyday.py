"""The list of everyday sentences is sound, and what counts as right is."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from benchmarks.everyday import _verdict, judge_sentences, shares_right
from h3n.convert import join
from h3n.formats import read
from h3n.parser import Result, load
from h3n.trees import Dependencies

FILES = [str(Path(__file__).parents[2] / "examples" / "sentences" / f"everyday.{end}") for end in ("ptb", "conllu")]


def test_both_trees_of_every_sentence_agree() -> None:
    trees, arcs = (list(read(file)) for file in FILES)
    assert len(trees) == len(arcs) == 50
    for one, other in zip(trees, arcs, strict=True):
        assert one.words == other.words
        assert one.tags == other.tags
        assert one.tree is not None
        assert other.dependencies is not None
        counts = join(one.tree, other.dependencies).counts
        assert (counts.several_heads, counts.moved) == (0, 0), " ".join(one.words)


def test_a_sentence_is_right_only_if_all_of_it_is() -> None:
    brackets, rows = (next(iter(read(file))) for file in FILES)
    assert rows.dependencies is not None
    gold = replace(rows, tree=brackets.tree)
    assert _verdict(gold, Result(sentence=gold)).all
    governors, relations = rows.dependencies.governors, rows.dependencies.relations
    renamed = replace(gold, dependencies=Dependencies(governors, ("obj", *relations[1:])))
    found = _verdict(gold, Result(sentence=renamed))
    assert (found.phrases, found.governors, found.relations, found.all) == (True, True, False, False)
    assert shares_right([found, _verdict(gold, Result(sentence=gold))]) == {
        "phrases": 100, "governors": 100, "relations": 50, "all": 50,
    }  # fmt: skip


def test_every_sentence_is_judged(tiny_model: Path) -> None:
    assert len(judge_sentences(load(tiny_model), FILES)) == 50
