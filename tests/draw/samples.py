"""Trees that the tests of drawing share."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import strategies as st

from h3n.convert import join
from h3n.draw import Drawable
from h3n.trees import Constituent, Dependencies, HeadedSpan, JointTree, Leaf, Sentence, leaves
from tests import strategies

CAKE_WORDS = ("She", "is", "carefully", "making", "the", "cake", ".")
CAKE = JointTree(
    words=CAKE_WORDS,
    tags=("PRP", "VBZ", "RB", "VBG", "DT", "NN", "."),
    spans=(
        HeadedSpan(0, 7, "S", 3),
        HeadedSpan(0, 1, "NP", 0),
        HeadedSpan(1, 6, "VP", 3),
        HeadedSpan(2, 3, "ADVP", 2),
        HeadedSpan(3, 6, "VP", 3),
        HeadedSpan(4, 6, "NP", 5),
    ),
    relations=("nsubj", "aux", "advmod", "root", "det", "obj", "punct"),
)
# "the very red car": "very" depends on "red", which no phrase says
HELPED = JointTree(
    words=("the", "very", "red", "car"),
    tags=("DT", "RB", "JJ", "NN"),
    spans=(HeadedSpan(0, 4, "S::NP", 3), HeadedSpan(1, 3, "<H>", 2)),
    relations=("det", "advmod", "amod", "root"),
    top=None,
)
TEXTS = st.sampled_from(
    ["a", "I", ".", "and", "Donaudampfschifffahrtsgesellschaft", "日本語", "كتاب", "👩‍👩‍👧", "e\u0301te\u0301", "WWWW"]
)


def deep(levels: int) -> JointTree:
    """A tree that branches to the right, as deep as it has words."""
    words = tuple(f"w{w}" for w in range(levels))
    spans = tuple(HeadedSpan(w, levels, "VP", w) for w in range(levels))
    return JointTree(words, ("T",) * levels, spans, ("dep",) * levels)


def wide(words: int) -> Sentence:
    """A flat phrase whose words all depend on the last but one in front of them, so that arcs cross."""
    texts = tuple(f"word{w}" for w in range(words))
    governors = tuple(-1 if w == 0 else max(w - 2, 0) for w in range(words))
    tree = Constituent("S", tuple(Leaf("T", text) for text in texts))
    return Sentence(words=texts, tree=tree, dependencies=Dependencies(governors, ("dep",) * words))


@st.composite
def joint_trees(draw: st.DrawFn, *, max_words: int = 12) -> JointTree:
    words = draw(st.integers(1, max_words))
    tree, arcs = draw(strategies.trees(words=words)), draw(strategies.dependencies(words=words))
    texts = tuple(draw(st.lists(TEXTS, min_size=words, max_size=words)))
    return replace(join(tree, arcs).tree, words=texts)


@st.composite
def drawables(draw: st.DrawFn, *, max_words: int = 12) -> Drawable:
    """A joint tree, or a sentence with a tree, with arcs that may cross, or with both."""
    if draw(st.booleans()):
        return draw(joint_trees(max_words=max_words))
    words = draw(st.integers(1, max_words))
    tree, arcs = draw(strategies.trees(words=words)), draw(strategies.dependencies(words=words))
    found = Sentence(words=tuple(leaf.word for leaf in leaves(tree)), tree=tree, dependencies=arcs)
    missing = draw(st.sampled_from(["", "tree", "dependencies"]))
    return replace(found, **{missing: None}) if missing else found
