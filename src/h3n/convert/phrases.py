"""Phrases from dependencies: a phrase structure tree for a sentence that has only a dependency tree.

The paper's second algorithm ("Pseudo-constituent Tree Synthesis"), corrected. A word and everything below it form a
phrase, labelled with the relation of the word to its governor; a word on its own stays a bare leaf, except that a
sentence always has one phrase. Where the words below a phrase's head are not contiguous, the phrase keeps the run
around its head word, and every part beyond a gap is lifted to the nearest ancestor whose phrase it touches. On the way
up nothing is ever cut again, so that every lifted part stays whole and the words stay in order.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from h3n.errors import MismatchError, TreeError, UnknownName
from h3n.trees import ROOT, TOPS, UNARY, Constituent, Dependencies, Leaf, Node, check_dependencies

TOP = "TOP"
NO_TAG = "_"
NO_RELATION = "_"


def main_type(relation: str) -> str:
    """Return a relation without its subtype: ``nsubj:pass`` is ``nsubj``."""
    return relation.partition(":")[0] or relation


def full_type(relation: str) -> str:
    """Return a relation with its subtype."""
    return relation


LABELS: dict[str, Callable[[str], str]] = {"main": main_type, "full": full_type}


@dataclass(frozen=True, slots=True)
class Phrases:
    """A phrase structure tree made of dependencies.

    ``lifted`` parts stand in the phrase of an ancestor further up than their governor. ``dependencies`` are what the
    phrases say: the input with the governor of every lifted part replaced by the head of the phrase it stands in, so
    the same object where nothing was lifted.
    """

    tree: Constituent
    dependencies: Dependencies
    lifted: int

    @property
    def recoverable(self) -> int:
        """The number of words whose governor the phrases give back."""
        return len(self.dependencies) - self.lifted


def to_phrases(
    dependencies: Dependencies, words: Sequence[str], tags: Sequence[str] | None = None, *, labels: str = "main"
) -> Phrases:
    """Return the phrases of a dependency tree, projective or not; O(n) (paper, Algorithm 2, section V-B).

    ``labels`` is ``main`` for relations without their subtype, ``full`` for whole ones. `TreeError` if the governors
    are not a tree; every tree is accepted.
    """
    if labels not in LABELS:
        raise UnknownName("phrase labels", labels, LABELS)
    given_tags = [NO_TAG] * len(words) if tags is None else tags
    if not len(dependencies) == len(words) == len(given_tags):
        raise MismatchError(
            f"the sentence has {len(words)} words, {len(given_tags)} tags and {len(dependencies)} governors"
        )
    if not words:
        raise TreeError("a sentence without words has no phrases")
    check_dependencies(dependencies)
    order = _top_down(dependencies.governors)
    parts = _parts(dependencies.governors, order)
    phrase_labels = [_safe(LABELS[labels](relation)) for relation in dependencies.relations]
    tree = _tree(parts, order, phrase_labels, [Leaf(tag, word) for tag, word in zip(given_tags, words, strict=True)])
    governors = _governors(parts)
    lifted = sum(new != old for new, old in zip(governors, dependencies.governors, strict=True))
    said = Dependencies(governors, dependencies.relations) if lifted else dependencies
    return Phrases(tree, said, lifted)


def _safe(label: str) -> str:
    """Return a relation as it can stand in brackets; ``ROOT`` would be taken for the top bracket and becomes small."""
    safe = "_".join(label.split()).replace("(", "-LRB-").replace(")", "-RRB-").replace(UNARY, ":") or NO_RELATION
    return safe.lower() if safe in TOPS else safe


def _top_down(governors: Sequence[int]) -> list[int]:
    """Return the words in an order that lists every subtree in one stretch, its head first."""
    dependents: list[list[int]] = [[] for _ in governors]
    stack = [word for word, governor in enumerate(governors) if governor == ROOT]
    for word, governor in enumerate(governors):
        if governor != ROOT:
            dependents[governor].append(word)
    order = []
    while stack:
        order.append(stack.pop())
        stack.extend(dependents[order[-1]])
    return order


def _parts(governors: Sequence[int], order: Sequence[int]) -> list[list[int]]:
    """Return for each word the head words of the parts its phrase consists of, itself included, from left to right.

    Bottom-up. When a word's turn comes, all that is below it stands in finished parts, and a part belongs to it if and
    only if one of its words is below it: so growing over a neighbour is one look-up, and every part is grown over once.
    """
    n = len(order)
    rank = [0] * n  # place in the order: the words below w are those of rank[w] .. rank[w] + size[w] - 1
    for place, word in enumerate(order):
        rank[word] = place
    size = [1] * n
    for word in reversed(order):
        if governors[word] != ROOT:
            size[governors[word]] += size[word]
    runs = [(word, word + 1) for word in range(n)]
    head = list(range(n))  # of the finished part that a word is in; kept up at the two ends of a part only
    parts: list[list[int]] = [[] for _ in range(n)]
    for word in reversed(order):
        first, beyond = rank[word], rank[word] + size[word]
        start, end = word, word + 1
        while start > 0 and first <= rank[start - 1] < beyond:
            parts[word].append(head[start - 1])
            start = runs[head[start - 1]][0]
        parts[word].reverse()
        parts[word].append(word)
        while end < n and first <= rank[end] < beyond:
            parts[word].append(head[end])
            end = runs[head[end]][1]
        runs[word] = start, end
        head[start] = head[end - 1] = word
    return parts


def _governors(parts: Sequence[Sequence[int]]) -> tuple[int, ...]:
    """Return the governors that the phrases give back: the head of the phrase a part stands in."""
    found = [ROOT] * len(parts)
    for word, inside in enumerate(parts):
        for part in inside:
            if part != word:
                found[part] = word
    return tuple(found)


def _tree(
    parts: Sequence[Sequence[int]], order: Sequence[int], labels: Sequence[str], leaves: list[Leaf]
) -> Constituent:
    """Return the phrases of these parts under a top bracket."""
    nodes: list[Node] = list(leaves)
    for word in reversed(order):  # whatever stands in the phrase of a word is below it, so it comes first
        if len(parts[word]) > 1 or word == order[0]:
            nodes[word] = Constituent(labels[word], tuple(nodes[part] for part in parts[word]))
    return Constituent(TOP, (nodes[order[0]],))
