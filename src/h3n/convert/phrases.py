"""Phrases from dependencies: a phrase structure tree for a sentence that has only a dependency tree.

The paper's second algorithm ("Pseudo-constituent Tree Synthesis"), corrected. A word and everything below it form a
phrase, labelled with a name that linguists know (`NP`), or as in the paper with the relation of the word to its
governor; a word on its own stays a bare leaf, except that a
sentence always has one phrase. Where the words below a phrase's head are not contiguous, the phrase keeps the run
around its head word, and every part beyond a gap is lifted to the nearest ancestor whose phrase it touches. On the way
up nothing is ever cut again, so that every lifted part stays whole and the words stay in order.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
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


LABELS = ("names", "main", "full")
_OTHER = "X"
_NOMINAL = frozenset({"NOUN", "PROPN", "PRON", "NUM", "SYM", "DET"})
_NAMES = {  # by the tag of the head, where the phrase is no clause
    **dict.fromkeys(_NOMINAL, "NP"),
    "VERB": "VP",
    "AUX": "VP",
    "ADJ": "ADJP",
    "ADV": "ADVP",
    "ADP": "PP",
    "CCONJ": "CONJP",
    "INTJ": "INTJ",
    "PART": "PRT",
}
_RELATIONS = {  # where the tag says nothing, or there is none
    "NP": "nsubj obj iobj obl nmod appos vocative dislocated expl nummod det flat compound",
    "SBAR": "csubj ccomp advcl",
    "S": "root parataxis",
    "VP": "xcomp acl aux cop",
    "ADJP": "amod",
    "ADVP": "advmod",
    "PP": "case",
}
_NAMES_BY_RELATION = {relation: name for name, relations in _RELATIONS.items() for relation in relations.split()}
_SUBJECTS = frozenset({"nsubj", "csubj"})
_SUBORDINATE = frozenset({"advcl", "ccomp", "csubj"})


def phrase_name(relation: str, tag: str, below: Collection[str]) -> str:
    """Return the name of a phrase that linguists know: by its head's relation and universal tag, and those below it.

    ``below`` are the relations of the words that depend on the head. With a subject, or at the top a verb, it is a
    clause (``S``), and ``SBAR`` where a word such as *that* or a relative pronoun makes it part of another; a nominal
    with a preposition is a ``PP``.
    """
    kind, parts = main_type(relation), {main_type(other) for other in below}
    if tag not in _NAMES:
        return "PP" if "case" in parts else _NAMES_BY_RELATION.get(kind, _OTHER)
    verbal = tag in ("VERB", "AUX") or "cop" in parts
    clause = bool(parts & _SUBJECTS) or (verbal and kind in ("root", "parataxis"))
    if relation == "acl:relcl" or ("mark" in parts and (clause or kind in _SUBORDINATE)):
        return "SBAR"
    if clause:
        return "S"
    if "case" in parts and not verbal:
        return "PP"
    return "VP" if verbal else _NAMES[tag]


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
    dependencies: Dependencies,
    words: Sequence[str],
    tags: Sequence[str] | None = None,
    *,
    upos: Sequence[str] | None = None,
    labels: str = "names",
) -> Phrases:
    """Return the phrases of a dependency tree, projective or not; O(n) (paper, Algorithm 2, section V-B).

    ``labels`` are ``names`` (``NP``, ``VP``, ``S`` and so on, by `phrase_name`, which looks at the universal tags
    ``upos``), or relations: ``main`` for those without their subtype, as in the paper, ``full`` for whole ones.
    `TreeError` if the governors are not a tree; every tree is accepted.
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
    phrase_labels = list(map(_safe, _labels(dependencies, upos, labels)))
    tree = _tree(parts, order, phrase_labels, [Leaf(tag, word) for tag, word in zip(given_tags, words, strict=True)])
    governors = _governors(parts)
    lifted = sum(new != old for new, old in zip(governors, dependencies.governors, strict=True))
    said = Dependencies(governors, dependencies.relations) if lifted else dependencies
    return Phrases(tree, said, lifted)


def _labels(dependencies: Dependencies, upos: Sequence[str] | None, labels: str) -> Iterable[str]:
    """Return what the phrase of every word would be called."""
    if labels != "names":
        return map(main_type if labels == "main" else full_type, dependencies.relations)
    below: list[list[str]] = [[] for _ in dependencies.relations]
    for governor, relation in zip(dependencies.governors, dependencies.relations, strict=True):
        if governor != ROOT:
            below[governor].append(relation)
    return map(phrase_name, dependencies.relations, upos or [NO_TAG] * len(below), below)


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
