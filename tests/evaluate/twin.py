"""EVALB's definition, slow and by recursion, and random trees to compare it with the fast one."""

from __future__ import annotations

from hypothesis import strategies as st

from h3n.evaluate import (
    Parameters,
)
from h3n.trees import Constituent, Leaf, Node

TAGS = ("NN", "VB", ",", "''", "POS", "-NONE-", "ADVP")
LABELS = ("NP", "VP", "ADVP", "PRT", "TOP", "NP-SBJ", "S=2", "")


@st.composite
def trees(draw: st.DrawFn, *, words: tuple[str, ...]) -> Constituent:
    """Any bracketing of these words, empty brackets and chains included."""
    parts: list[Node] = [Leaf(draw(st.sampled_from(TAGS)), word) for word in words]
    for _ in range(draw(st.integers(1, 6))):
        start = draw(st.integers(0, len(parts)))
        end = draw(st.integers(start, len(parts)))
        parts[start:end] = [Constituent(draw(st.sampled_from(LABELS)), tuple(parts[start:end]))]
    return Constituent(draw(st.sampled_from(LABELS)), tuple(parts))


@st.composite
def tree_pairs(draw: st.DrawFn) -> tuple[Constituent, Constituent]:
    """Two bracketings of the same words."""
    words = tuple(draw(st.lists(st.sampled_from(("a", "b", "c")), min_size=1, max_size=6)))
    return draw(trees(words=words)), draw(trees(words=words))


def text(node: Node) -> str:
    """Return the brackets of a tree."""
    if isinstance(node, Leaf):
        return f"({node.tag} {node.word})"
    return f"({node.label} {' '.join(map(text, node.children))})" if node.children else f"({node.label})"


class Twin:
    """EVALB's definition, slow and by recursion: every gold bracket against every predicted one."""

    def __init__(self, tree: Constituent, parameters: Parameters) -> None:
        self.parameters = parameters
        self.words: list[str] = []
        self.tags: list[str] = []
        self.brackets: list[tuple[int, int, str]] = []
        self.walk(tree)

    def walk(self, node: Node) -> None:
        if isinstance(node, Leaf):
            if node.tag not in self.parameters.delete_labels:
                self.words.append(node.word)
                self.tags.append(node.tag)
            return
        at, start = len(self.brackets), len(self.words)
        self.brackets.append((start, start, node.label))
        for child in node.children:
            self.walk(child)
        self.brackets[at] = (start, len(self.words), node.label.split("-")[0].split("=")[0])

    def equal(self, one: str, other: str) -> bool:
        return one == other or (one, other) in self.parameters.equal_labels

    def counted(self) -> list[tuple[int, int, str]]:
        return [
            (start, end, label)
            for start, end, label in self.brackets
            if start < end and not any(self.equal(label, gone) for gone in self.parameters.delete_labels)
        ]

    def score(self, other: Twin) -> tuple[int, int, int, int, int]:
        gold, free = self.counted(), list(predicted := other.counted())
        matched = 0
        for start, end, label in gold:
            for candidate in free:
                if candidate[:2] == (start, end) and self.equal(label, candidate[2]):
                    free.remove(candidate)
                    matched += 1
                    break
        crossing = sum(any(a < c < b < d or c < a < d < b for a, b, _ in gold) for c, d, _ in predicted)
        tags = sum(map(self.equal, self.tags, other.tags))
        return matched, len(gold), len(predicted), crossing, tags
