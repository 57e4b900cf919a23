"""What holds for any tree under every scheme: one tree over all words, or a clear refusal."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from h3n.convert.rules import load_scheme, scheme_names, to_dependencies
from h3n.errors import TreeError
from h3n.trees import Constituent, Leaf, Node, check_dependencies
from tests.convert.handmade import read_tree


@pytest.mark.parametrize("name", scheme_names())
def test_a_tree_without_words_is_refused(name: str) -> None:
    for empty in (Constituent("S", ()), Constituent("S", (Constituent("NP", (Leaf("-NONE-", "*"),)),))):
        with pytest.raises(TreeError, match=r"\(S \.\.\.\) has no word"):
            to_dependencies(empty, load_scheme(name))


@pytest.mark.parametrize("name", scheme_names())
def test_one_word(name: str) -> None:
    for text in ("(TOP (UH Yes))", "(UH Yes)", "(TOP (S (INTJ (UH Yes))))"):
        tree = Constituent("", (Leaf("UH", "Yes"),)) if text == "(UH Yes)" else read_tree(text)
        made = to_dependencies(tree, load_scheme(name))
        assert (made.governors, made.relations) == ((-1,), ("root",))


@pytest.mark.parametrize("name", scheme_names())
def test_unknown_labels_everywhere(name: str) -> None:
    unknown: Counter[str] = Counter()
    tree = read_tree("(QQQ (RRR (T1 a) (T2 b)) (RRR (T1 c) (T3 d) (SSS (T1 e))))")
    made = to_dependencies(tree, load_scheme(name), unknown=unknown)
    check_dependencies(made)
    assert unknown == {"QQQ": 1, "RRR": 2}


def test_a_deep_tree_does_not_exhaust_the_stack() -> None:
    tree: Node = Leaf("NN", "word")
    for _ in range(5000):
        tree = Constituent("NP", (Leaf("DT", "a"), tree))
    assert isinstance(tree, Constituent)
    check_dependencies(to_dependencies(tree, load_scheme("sd")))


LABELS = (
    "S",
    "SBAR",
    "SBARQ",
    "SQ",
    "SINV",
    "NP",
    "VP",
    "PP",
    "ADVP",
    "ADJP",
    "QP",
    "UCP",
    "PRN",
    "FRAG",
    "WHNP",
    "CONJP",
)
TAGS = (
    "NN",
    "NNP",
    "DT",
    "IN",
    "TO",
    "VBZ",
    "VBN",
    "VBG",
    "MD",
    "CC",
    ",",
    ":",
    "CD",
    "$",
    "JJ",
    "RB",
    "WP",
    "EX",
    "POS",
)
FORMS = (
    "is",
    "as",
    "well",
    "not",
    "that",
    "either",
    "May",
    "at",
    "least",
    "5",
    "and",
    "to",
    "try",
    "more",
    "than",
    "Cats",
)


@st.composite
def penn_trees(draw: st.DrawFn) -> Constituent:
    """A random bracketing over Penn labels: most are nothing a treebank would hold."""
    size = draw(st.integers(1, 9))
    parts: list[Node] = [Leaf(draw(st.sampled_from(TAGS)), draw(st.sampled_from(FORMS))) for _ in range(size)]
    for _ in range(draw(st.integers(1, 7))):
        start = draw(st.integers(0, len(parts) - 1))
        end = draw(st.integers(start + 1, len(parts)))
        parts[start:end] = [Constituent(draw(st.sampled_from(LABELS)), tuple(parts[start:end]))]
    return Constituent("TOP", tuple(parts))


FLAT = ("NN", "NNS", "JJ", "DT", "CC", ",", "NP", "ADJP", "RB")


@pytest.mark.parametrize("name", ["sd", "ud1"])
@settings(deadline=None, max_examples=300)
@given(
    children=st.lists(
        st.tuples(st.sampled_from(FLAT), st.sampled_from(("and", "or", "both", "x"))), min_size=3, max_size=9
    )
)
def test_flat_coordination_ends_and_keeps_all_words(name: str, children: list[tuple[str, str]]) -> None:
    made: list[Node] = [
        Constituent(label, (Leaf("NN", word),)) if label.endswith("P") else Leaf(label, word)
        for label, word in children
    ]
    converted = to_dependencies(Constituent("NP", tuple(made)), load_scheme(name))
    check_dependencies(converted)
    assert len(converted) == len(children)


@pytest.mark.parametrize("name", scheme_names())
@settings(deadline=None, max_examples=150)
@given(tree=penn_trees())
def test_every_conversion_is_one_tree_over_all_words(name: str, tree: Constituent) -> None:
    made = to_dependencies(tree, load_scheme(name))
    check_dependencies(made)
    assert made.relations.count("root") == 1
