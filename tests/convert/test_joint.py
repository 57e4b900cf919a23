"""Joining the two trees: total, head-driven, and its own inverse wherever the trees agree."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from h3n.convert import LEVELS, JoinCounts, governors_of, join, levels, split
from h3n.errors import JoinError, MismatchError, TreeError
from h3n.formats import read
from h3n.trees import HELPER, ROOT, Constituent, Dependencies, HeadedSpan, JointTree, Leaf, spans_of
from tests.strategies import dependencies, projective, trees

SIZES = st.integers(1, 12)


def tree(label: str, *children: Constituent | str) -> Constituent:
    return Constituent(label, tuple(Leaf("T", c) if isinstance(c, str) else c for c in children))


def heads(*governors: int) -> Dependencies:
    """Governors as CoNLL writes them: from 1, with 0 for the root."""
    return Dependencies(tuple(g - 1 for g in governors), tuple("r" for _ in governors))


@st.composite
def pairs(draw: st.DrawFn) -> tuple[Constituent, Dependencies]:
    words = draw(SIZES)
    return draw(trees(words=words)), draw(dependencies(words=words))


@st.composite
def consistent(draw: st.DrawFn) -> tuple[Constituent, Dependencies]:
    """A dependency tree with a phrase structure that groups some words with everything below them."""
    words = draw(SIZES)
    arcs = draw(projective(words=words))
    low, high = list(range(words)), [w + 1 for w in range(words)]
    for _ in range(words):
        for word, governor in enumerate(arcs.governors):
            if governor != ROOT:
                low[governor] = min(low[governor], low[word])
                high[governor] = max(high[governor], high[word])
    whole = HeadedSpan(0, words, "S", arcs.governors.index(ROOT))
    below = [HeadedSpan(low[w], high[w], "NP", w) for w in range(words) if (low[w], high[w]) != (0, words)]
    chosen = [whole, *(span for span in below if draw(st.booleans()))]
    chosen.sort(key=lambda s: (s.start, -s.end))
    joint = JointTree(tuple(f"w{w}" for w in range(words)), ("T",) * words, tuple(chosen), arcs.relations)
    return split(joint)[0], arcs


def test_flat_phrase_gets_a_helper_span() -> None:
    phrase = tree("TOP", tree("NP", "the", "very", "red", "car"))
    joined = join(phrase, heads(4, 3, 4, 0))
    assert joined.tree.spans == (HeadedSpan(0, 4, "NP", 3), HeadedSpan(1, 3, HELPER, 2))
    assert joined.counts == JoinCounts(sentences=1, consistent=1, words=4, spans=1, helpers=1)
    assert split(joined.tree) == (phrase, heads(4, 3, 4, 0))


def test_helper_spans_nest() -> None:
    joined = join(tree("NP", "a", "b", "c", "d"), heads(2, 3, 4, 0))
    assert [(s.start, s.end, s.head) for s in joined.tree.spans] == [(0, 4, 3), (0, 3, 2), (0, 2, 1)]


def test_paper_example() -> None:
    """ "She is carefully making the cake" (paper, first figure)."""
    sentence = tree(
        "S", tree("NP", "She"), tree("VP", "is", tree("ADVP", "carefully"), "making", tree("NP", "the", "cake"))
    )
    joined = join(sentence, heads(4, 4, 4, 0, 6, 4))
    assert [(s.label, s.head) for s in joined.tree.spans] == [("S", 3), ("NP", 0), ("VP", 3), ("ADVP", 2), ("NP", 5)]
    assert levels(joined.tree) == (2, LEVELS, 3, 1, LEVELS, 3)


def test_several_outside_attachments_take_the_word_nearest_the_root() -> None:
    joined = join(tree("S", tree("NP", "a", "b"), "c"), heads(2, 3, 0))
    assert joined.counts.several_heads == 0
    joined = join(tree("S", tree("NP", "a", "b"), "c", "d"), heads(4, 3, 0, 3))
    assert joined.counts.several_heads == 1
    assert joined.tree.spans[1] == HeadedSpan(0, 2, "NP", 1)
    assert (joined.counts.consistent, joined.counts.moved) == (0, 1)


def test_gap_in_a_group_is_lifted() -> None:
    joined = join(tree("S", "a", "b", "c"), heads(3, 0, 2))  # "a" belongs to "c", across the root "b"
    assert joined.counts.broken_groups == 1
    assert governors_of(joined.tree) == (1, ROOT, 1)


def test_circle_of_phrases_is_broken() -> None:
    """Each of two phrases hangs on the other's inner word: no order of the phrases respects both."""
    phrases = tree("S", tree("NP", "a", "b"), tree("VP", "c", "d"), "e")
    joined = join(phrases, heads(3, 5, 5, 2, 0))
    assert split(joined.tree)[0] == phrases
    assert governors_of(joined.tree).count(ROOT) == 1


def test_strict_names_the_word() -> None:
    with pytest.raises(JoinError, match=r"word 1 \('a'\) has governor 3 .* allow only 2; 1 of 3 words"):
        join(tree("S", "a", "b", "c"), heads(3, 0, 2), strict=True)


def test_other_number_of_words() -> None:
    with pytest.raises(MismatchError, match="3 words, the dependency tree 2"):
        join(tree("S", "a", "b", "c"), heads(0, 1))


def test_cycle_is_refused() -> None:
    with pytest.raises(TreeError, match="words 2, 3 form a cycle"):
        join(tree("S", "a", "b", "c"), heads(0, 3, 2))


@pytest.mark.parametrize("top", ["TOP", "ROOT", "", None])
def test_top_comes_back(top: str | None) -> None:
    inner = tree("S", "a", "b")
    whole = inner if top is None else Constituent(top, (inner,))
    assert split(join(whole, heads(2, 0)).tree)[0] == whole


@pytest.mark.parametrize(
    "whole", [tree("ROOT", "a", "b"), tree("ROOT", tree("ROOT", "a", "b")), tree("TOP", tree("NP", "a"), "b")]
)
def test_top_over_several_children_comes_back(whole: Constituent) -> None:
    assert split(join(whole, heads(2, 0)).tree)[0] == whole


def test_one_word() -> None:
    for whole in (tree("TOP", "a"), tree("NP", "a"), tree("TOP", tree("S", tree("NP", "a")))):
        joined = join(whole, heads(0))
        assert split(joined.tree) == (whole, heads(0))
        assert levels(joined.tree) == (1,)


def test_deep_trees_clip_their_levels() -> None:
    deep = tree("X", "w0", "w1")
    for word in range(2, 60):
        deep = tree("X", f"w{word}", deep)
    words = 60
    chain = Dependencies((ROOT, *range(words - 1)), ("r",) * words)
    found = levels(join(tree("TOP", deep), chain).tree)
    assert found[: LEVELS - 1] == tuple(range(1, LEVELS))
    assert set(found[LEVELS - 1 : -1]) == {LEVELS - 1}
    assert found[-1] == LEVELS


@settings(deadline=None)
@given(pair=pairs())
def test_every_pair_joins(pair: tuple[Constituent, Dependencies]) -> None:
    phrase, arcs = pair
    joined = join(phrase, arcs)
    again, derived = split(joined.tree)
    assert again == phrase
    assert derived.relations == arcs.relations
    kept = sum(a == b for a, b in zip(derived.governors, arcs.governors, strict=True))
    assert joined.counts.moved == len(arcs) - kept
    assert joined.counts.consistent == (derived == arcs)
    assert joined.counts.spans == len(spans_of(phrase))


@settings(deadline=None)
@given(pair=pairs())
def test_every_joint_tree_obeys_the_head_feature_principle(pair: tuple[Constituent, Dependencies]) -> None:
    joint = join(*pair).tree
    governors = governors_of(joint)
    level = levels(joint)
    for span in joint.spans:
        inside = range(span.start, span.end)
        assert [w for w in inside if governors[w] not in inside] == [span.head]
        assert all(level[span.head] < level[w] for w in inside if w != span.head)


@settings(deadline=None)
@given(pair=consistent())
def test_join_then_split_is_exact_on_consistent_pairs(pair: tuple[Constituent, Dependencies]) -> None:
    joined = join(*pair, strict=True)
    assert split(joined.tree) == pair
    assert joined.counts.several_heads == joined.counts.broken_groups == 0


@settings(deadline=None)
@given(pair=pairs())
def test_joining_a_joint_tree_again_changes_nothing(pair: tuple[Constituent, Dependencies]) -> None:
    joint = join(*pair).tree
    assert join(*split(joint), strict=True).tree.spans == joint.spans


@pytest.mark.parametrize("part", ["dev", "train"])
def test_every_sentence_of_gum_joins(data: Path, part: str) -> None:
    phrases = read(data / "gum" / f"{part}.ptb.xz")
    arcs = read(data / "gum" / f"{part}.conllu.xz")
    total = JoinCounts()
    for with_tree, with_arcs in zip(phrases, arcs, strict=True):
        assert with_tree.tree is not None
        assert with_arcs.dependencies is not None
        joined = join(with_tree.tree, with_arcs.dependencies)
        again, derived = split(joined.tree)
        assert again == with_tree.tree
        assert bool(joined.counts.consistent) == (derived == with_arcs.dependencies)
        total += joined.counts
    assert total.sentences == {"dev": 1575, "train": 10224}[part]
    assert total.consistent / total.sentences > 0.71  # the trees are automatic, the arcs by hand
    assert total.moved / total.words < 0.04
