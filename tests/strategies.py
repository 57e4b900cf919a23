"""Hypothesis strategies for sentences and trees, shared by the tests."""

from __future__ import annotations

from hypothesis import strategies as st

from h3n.trees import ROOT, Constituent, Dependencies, Leaf, Node

LABELS = ("S", "NP", "VP", "PP")
RELATIONS = ("nsubj", "obj", "det", "punct")


@st.composite
def governors(draw: st.DrawFn, *, words: int) -> tuple[int, ...]:
    """Any tree, projective or not: words join one after the other in a random order, each under one that is in."""
    order = draw(st.permutations(range(words)))
    found = [ROOT] * words
    for rank, word in enumerate(order[1:], start=1):
        found[word] = order[draw(st.integers(0, rank - 1))]
    return tuple(found)


@st.composite
def dependencies(draw: st.DrawFn, *, words: int) -> Dependencies:
    relations = draw(st.lists(st.sampled_from(RELATIONS), min_size=words, max_size=words))
    return Dependencies(draw(governors(words=words)), tuple(relations))


@st.composite
def projective(draw: st.DrawFn, *, words: int) -> Dependencies:
    """A projective tree: a head is drawn for every stretch of words, and so on inside the two halves beside it."""
    found = [ROOT] * words
    stretches = [(0, words, ROOT)]
    while stretches:
        start, end, governor = stretches.pop()
        if start == end:
            continue
        head = draw(st.integers(start, end - 1))
        found[head] = governor
        for low, high in ((start, head), (head + 1, end)):
            cut = draw(st.integers(low, high))
            stretches += [(low, cut, head), (cut, high, head)]
    relations = draw(st.lists(st.sampled_from(RELATIONS), min_size=words, max_size=words))
    return Dependencies(tuple(found), tuple(relations))


@st.composite
def trees(draw: st.DrawFn, *, words: int, top: str | None = "TOP") -> Constituent:
    """A phrase structure tree with flat phrases, unary chains and bare words."""
    parts: list[Node] = [Leaf(f"T{w % 3}", f"w{w}") for w in range(words)]
    while len(parts) > 1 or not isinstance(parts[0], Constituent):
        start = draw(st.integers(0, len(parts) - 1))
        end = draw(st.integers(start + 1, len(parts)))
        parts[start:end] = [Constituent(draw(st.sampled_from(LABELS)), tuple(parts[start:end]))]
    tree = parts[0]
    assert isinstance(tree, Constituent)
    return tree if top is None else Constituent(top, (tree,))
