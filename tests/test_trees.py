"""Trees: two shapes of phrase structure that lead to each other, and checks of dependency trees."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from h3n.errors import TreeError
from h3n.trees import (
    ROOT,
    Constituent,
    Dependencies,
    Leaf,
    Node,
    Span,
    bare_label,
    check_dependencies,
    depths_of,
    find_cycle,
    is_projective,
    leaves,
    rebuild,
    spans_of,
    strip_tree,
    top_of,
    tree_of,
)
from tests.strategies import governors, projective, trees


def tree(label: str, *children: Node | str) -> Constituent:
    return Constituent(label, tuple(Leaf("T", c) if isinstance(c, str) else c for c in children))


def words_and_tags(found: Constituent) -> tuple[list[str], list[str]]:
    return [leaf.word for leaf in leaves(found)], [leaf.tag for leaf in leaves(found)]


def test_a_tree_prints_as_its_brackets() -> None:
    tree = Constituent("S", (Constituent("NP", (Leaf("DT", "a"), Leaf("-LRB-", "("))), Leaf("", "go")))
    assert str(tree) == "(S (NP (DT a) (-LRB- -LRB-)) go)"
    for _ in range(5000):
        tree = Constituent("X", (tree,))
    assert str(tree).startswith("(X (X (X ")


def test_spans_collapse_unary_chains_and_strip_the_top() -> None:
    found = tree("TOP", tree("S", tree("VP", "go", tree("NP", tree("NML", "home")))))
    assert spans_of(found) == (Span(0, 2, "S::VP"), Span(1, 2, "NP::NML"))


def test_a_top_over_several_children_stays_a_span() -> None:
    assert spans_of(tree("ROOT", tree("NP", "a"), "b")) == (Span(0, 2, "ROOT"), Span(0, 1, "NP"))


def test_a_bracket_without_words_is_an_error() -> None:
    with pytest.raises(TreeError, match="'NP' covers no word"):
        spans_of(tree("S", "a", Constituent("NP", ())))


@settings(deadline=None)
@given(data=st.data(), words=st.integers(1, 10), top=st.sampled_from(["TOP", "", None]))
def test_spans_lead_back_to_the_tree(data: st.DataObject, words: int, top: str | None) -> None:
    found = data.draw(trees(words=words, top=top))
    assert tree_of(spans_of(found), *words_and_tags(found), top=top_of(found)) == found


@pytest.mark.parametrize(
    ("spans", "message"),
    [([Span(0, 2, "A"), Span(1, 3, "B")], "crosses"), ([Span(0, 4, "A")], "outside the sentence of 3 words")],
)
def test_spans_that_make_no_tree(spans: list[Span], message: str) -> None:
    with pytest.raises(TreeError, match=message):
        tree_of(spans, "abc", "TTT")


def test_spans_may_leave_words_and_gaps() -> None:
    assert tree_of([Span(1, 2, "NP")], "abc", "TTT") == tree("TOP", "a", tree("NP", "b"), "c")
    assert tree_of([], "a", "T", top=None) == tree("TOP", "a")


def test_trees_compare_by_content() -> None:
    assert tree("S", "a", "b") == tree("S", "a", "b")
    assert hash(tree("S", "a")) == hash(tree("S", "a"))
    assert tree("S", tree("NP", "a"), "b") != tree("S", tree("NP", "a", "b"))
    assert tree("S", "a") != "S"


def test_depth_is_no_limit() -> None:
    deep: Constituent = tree("X", "a")
    for _ in range(100_000):
        deep = Constituent("X", (deep,))
    assert strip_tree(deep) == deep
    assert [leaf.word for leaf in leaves(deep)] == ["a"]
    assert repr(deep) == "Constituent('X', 1 children, 1 words)"
    (span,) = spans_of(deep)
    assert tree_of([span], ["a"], ["T"], top=None) == deep


@pytest.mark.parametrize(
    ("label", "bare"),
    [
        ("NP-SBJ-1", "NP"),
        ("NP=2", "NP"),
        ("-LRB-", "-LRB-"),
        ("-NONE-", "-NONE-"),
        ("S", "S"),
        ("", ""),
        ("ADVP|PRT", "ADVP"),
        ("PRP$", "PRP$"),
    ],
)
def test_bare_label(label: str, bare: str) -> None:
    assert bare_label(label) == bare


def test_strip_traces_and_functions() -> None:
    trace = Constituent("NP-SBJ-1", (Leaf("-NONE-", "*"),))
    found = tree("TOP", Constituent("S", (trace, tree("VP-PRD", "go"))))
    assert strip_tree(found) == tree("TOP", tree("S", tree("VP", "go")))
    assert strip_tree(found, functions=False) == tree("TOP", tree("S", tree("VP-PRD", "go")))
    kept = strip_tree(found, traces=False)
    assert kept is not None
    assert [leaf.tag for leaf in leaves(kept)] == ["-NONE-", "T"]
    assert strip_tree(trace) is None


def test_rebuild_may_replace_leaves_and_drop_brackets() -> None:
    found = tree("S", tree("NP", "a"), "b")
    made = rebuild(
        found, lambda leaf: Leaf(leaf.tag, leaf.word.upper()), lambda node, kids: Constituent(node.label, kids)
    )
    assert made == tree("S", tree("NP", "A"), "B")
    without = rebuild(found, lambda leaf: leaf, lambda node, kids: None if node.label == "NP" else tree("S", *kids))
    assert without == tree("S", "b")


@pytest.mark.parametrize(
    ("heads", "message"),
    [
        ((0, 1, 5), "word 3 has governor 5, outside the sentence of 3 words"),
        ((0, 0, 1), r"2 root words \(1, 2\)"),
        ((2, 3, 1), "0 root words"),
        ((2, 1, 0), "words 1, 2 form a cycle"),
        ((0, 2), "word.* 2 form a cycle"),
    ],
)
def test_broken_dependency_trees(heads: tuple[int, ...], message: str) -> None:
    with pytest.raises(TreeError, match=message):
        check_dependencies(Dependencies(tuple(h - 1 for h in heads), ("r",) * len(heads)))


def test_as_many_relations_as_governors() -> None:
    with pytest.raises(TreeError, match="1 governors but 0 relations"):
        check_dependencies(Dependencies((ROOT,), ()))


def test_no_words_is_a_tree() -> None:
    check_dependencies(Dependencies((), ()))


@settings(deadline=None)
@given(data=st.data(), words=st.integers(1, 12))
def test_every_drawn_tree_is_well_formed(data: st.DataObject, words: int) -> None:
    found = data.draw(governors(words=words))
    check_dependencies(Dependencies(found, ("r",) * words))
    assert find_cycle(found) is None


def below(governors: tuple[int, ...], word: int, top: int) -> bool:
    while word not in (top, ROOT):
        word = governors[word]
    return word == top


@settings(deadline=None)
@given(data=st.data(), words=st.integers(1, 9))
def test_projective_means_nothing_foreign_between_governor_and_dependent(data: st.DataObject, words: int) -> None:
    found = data.draw(governors(words=words))
    foreign = any(
        g != ROOT and not below(found, between, g)
        for w, g in enumerate(found)
        for between in range(min(w, g) + 1, max(w, g))
    )
    assert is_projective(found) == (not foreign)
    assert is_projective(data.draw(projective(words=words)).governors)


@settings(deadline=None)
@given(data=st.data(), words=st.integers(1, 12))
def test_a_word_is_one_deeper_than_its_governor(data: st.DataObject, words: int) -> None:
    found = data.draw(governors(words=words))
    depths = depths_of(found)
    assert all(depths[w] == (0 if g == ROOT else depths[g] + 1) for w, g in enumerate(found))


def test_a_tree_as_text_is_its_brackets() -> None:
    tree = Constituent("S", (Constituent("NP", (Leaf("", "the"), Leaf("NN", "dog"))), Leaf("VBZ", "barks")))
    assert str(tree) == "(S (NP the (NN dog)) (VBZ barks))"
