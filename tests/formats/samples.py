"""Random sentences for the tests of all formats."""

from __future__ import annotations

from hypothesis import strategies as st

from h3n.trees import TRACE, Constituent, Dependencies, Leaf, Node, Sentence, leaves

# Letters, the characters every format must escape or keep, and spaces that separate in none of them.
CHARACTERS = "aZé語()[]{}<>-_=|#*/\\'\"`.,:;%&\u00a0\u2028\u3000\u0085"
LABELS = ["S", "NP", "NP-SBJ-1", "VP", "-LRB-", "<H>", "ROOT", "A|B", "$"]


def words() -> st.SearchStrategy[str]:
    """Return words that bracket notation can show: they are not spelled like its own escapes."""
    return st.text(CHARACTERS, min_size=1, max_size=5)


def tags() -> st.SearchStrategy[str]:
    return st.sampled_from(["NN", "-LRB-", "''", ".", "PRP$", "X#y"])


def trees(*, max_leaves: int = 12) -> st.SearchStrategy[Constituent]:
    """Return trees as they can stand in a file: no empty bracket, no word alone in a bracket without a tag."""
    leaf = st.builds(Leaf, tags(), words()) | st.builds(Leaf, st.just(TRACE), st.sampled_from(["*T*-1", "0"]))
    label = st.sampled_from(LABELS)
    untagged = st.builds(Leaf, st.just(""), words())

    def bracket(children: st.SearchStrategy[Node]) -> st.SearchStrategy[Node]:
        several = st.tuples(untagged, children) | st.tuples(children, untagged, children)
        inside = st.lists(children, min_size=1, max_size=4).map(tuple) | several
        return st.builds(Constituent, label, inside)

    inner = st.recursive(leaf, bracket, max_leaves=max_leaves)
    top = st.sampled_from(["", "TOP", "ROOT", "S"])
    return st.builds(Constituent, top, st.lists(inner, min_size=1, max_size=3).map(tuple))


@st.composite
def heads(draw: st.DrawFn, n: int) -> Dependencies:
    """Return a dependency tree over n words: every word is attached to one that came before it in a random order."""
    order = draw(st.permutations(range(n)))
    governors = [-1] * n
    for at in range(1, n):
        governors[order[at]] = order[draw(st.integers(0, at - 1))]
    relation = st.sampled_from(["nsubj", "obj", "nmod:poss", "_", "root"])
    return Dependencies(tuple(governors), tuple(draw(relation) for _ in range(n)))


@st.composite
def sentences(draw: st.DrawFn, *, word: st.SearchStrategy[str] | None = None) -> Sentence:
    """Return sentences with both trees and any of the columns."""
    tree = draw(trees())
    found = [leaf for leaf in leaves(tree) if leaf.tag != TRACE]
    n = len(found)

    def column() -> tuple[str, ...] | None:
        values = tuple(draw(word or words()) for _ in range(n))
        return values if n and draw(st.booleans()) and any(value != "_" for value in values) else None

    return Sentence(
        words=tuple(leaf.word for leaf in found),
        tags=tuple(leaf.tag or "_" for leaf in found) if any(leaf.tag for leaf in found) else None,
        upos=column(),
        lemmas=column(),
        features=column(),
        enhanced=column(),
        misc=column(),
        tree=tree,
        dependencies=draw(heads(n)) if n else None,
        comments=tuple(draw(st.lists(words().map("# ".__add__), min_size=0 if n else 1, max_size=2))),
    )
