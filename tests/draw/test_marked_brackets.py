"""Brackets with heads marked: what is written is read back."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from h3n.convert import join
from h3n.draw import joint_brackets, read_joint_brackets
from h3n.errors import TreeError, UsageError
from h3n.formats import read
from h3n.trees import HeadedSpan, JointTree, Sentence
from tests.draw.samples import CAKE, HELPED, deep, joint_trees

WRITTEN = (
    "(TOP (S@root (NP@nsubj (PRP* She)) (VP* (VBZ@aux is) (ADVP@advmod (RB* carefully)) "
    "(VP* (VBG* making) (NP@obj (DT@det the) (NN* cake)))) (.@punct .)))"
)


def test_the_notation() -> None:
    assert joint_brackets(CAKE) == WRITTEN
    assert joint_brackets(HELPED) == "(S::NP@root (DT@det the) (<H>@amod (RB@advmod very) (JJ* red)) (NN* car))"


@settings(deadline=None)
@given(joint=joint_trees(), data=st.data())
def test_reading_gives_back_what_was_written(joint: JointTree, data: st.DataObject) -> None:
    text = st.text(max_size=4) | st.sampled_from(
        ["(", ")", "-LRB-", "-RRB-", "*", "@", "\\", "\\20;", "a b", "", "\x85"]
    )

    def some(count: int) -> tuple[str, ...]:
        return tuple(data.draw(st.lists(text, min_size=count, max_size=count)))

    n = len(joint)
    spans = zip(joint.spans, some(len(joint.spans)), strict=True)
    odd = JointTree(
        words=some(n),
        tags=some(n),
        spans=tuple(HeadedSpan(s.start, s.end, label, s.head) for s, label in spans),
        relations=some(n),
        top=data.draw(st.none() | text),
    )
    written = joint_brackets(odd)
    assert "\n" not in written
    assert read_joint_brackets(written) == odd


def test_blanks_and_brackets_in_words_stay_readable() -> None:
    joint = replace(
        CAKE, words=("(", "-LRB-", "1 000", "a\\b", "the", "cake", "."), tags=("-LRB-", "*", "@", "", "x", "y", "z")
    )
    written = joint_brackets(joint)
    assert "(-LRB-* -LRB-)) (VP* (\\2a;@aux \\2d;LRB-) (ADVP@advmod (\\40;* 1\\20;000)) (VP* (* a\\5c;b)" in written
    assert read_joint_brackets(written) == joint


def test_line_breaks_do_not_matter() -> None:
    assert read_joint_brackets(WRITTEN.replace(" (", "\n\t(")) == CAKE


@pytest.mark.parametrize("joint", [deep(3000), JointTree((), (), (), ()), JointTree((), (), (), (), top=None)])
def test_deep_and_empty_trees(joint: JointTree) -> None:
    assert read_joint_brackets(joint_brackets(joint)) == joint


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("(S@root (NN* a)", "character 1: a bracket that is never closed"),
        ("(S@root (NN* a)))", "character 17: a closing bracket that was never opened"),
        ("a", "character 1: the word 'a'; expected a bracket of its own"),
        ("(S@root (NN* a) b)", "character 17: the word 'b'"),
        ("(S@root (NN* a b))", "character 16: the word 'b'"),
        ("(TOP a)", "character 6: the word 'a'"),
        ("(S@root (NN* a (X@y b)))", "character 16: a bracket after a word"),
        ("(S@root (NN a))", "character 9: bracket 'NN' without a mark; expected * for a head or @relation"),
        ("(TOP (S (NN* a)))", "character 6: bracket 'S' without a mark below the top"),
        ("(TOP (S* (NN* a)))", "character 6: bracket 'S' marked * below the top; expected @relation"),
        ("(S* (NN* a))", "character 1: bracket 'S' marked * outside of every phrase"),
        ("(S@root (NN@x a))", "character 1: phrase 'S' without a head; expected one part marked"),
        ("(S@root)", "character 1: phrase 'S' without a head"),
        ("(S@root (A* a) (B* b))", "character 16: a second head in phrase 'S'"),
        ("(S@root (A*@x a))", "character 9: 'A*@x'; expected a label with one mark"),
        ("(TOP (S@root (A* a))) (TOP (S@root (A* a)))", "character 23: a second tree"),
        ("(S@root (A* \\ffffffff;))", "is the code of no character"),
    ],
)
def test_what_is_no_such_tree_is_refused(text: str, message: str) -> None:
    with pytest.raises(TreeError, match=re.escape(message)):
        read_joint_brackets(text)


def test_a_span_whose_head_is_no_part_s_head_cannot_be_written() -> None:
    broken = JointTree(("a", "b"), ("", ""), (HeadedSpan(0, 2, "S", 0), HeadedSpan(0, 2, "X", 1)), ("x", "y"))
    with pytest.raises(TreeError, match="none of its parts"):
        joint_brackets(broken)


def test_both_trees_are_needed() -> None:
    with pytest.raises(UsageError, match="has no phrases; a joint tree needs both"):
        joint_brackets(Sentence(words=("a",)))


def test_real_trees(data: Path) -> None:
    trees, arcs = read(data / "gum" / "dev.ptb.xz"), read(data / "gum" / "dev.conllu.xz")
    for tree, arc in zip(trees, arcs, strict=True):
        assert tree.tree is not None
        assert arc.dependencies is not None
        joint = join(tree.tree, arc.dependencies).tree
        assert read_joint_brackets(joint_brackets(joint)) == joint
