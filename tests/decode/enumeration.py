"""Every tree there is, by brute force: the oracle of the decoders. Shares no code with them."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from itertools import product
from typing import NamedTuple

from h3n.decode import Scores


class Part(NamedTuple):
    """A node of a binary tree; ``role`` is "top", "head" or "dependent"."""

    start: int
    end: int
    head: int
    role: str


@cache
def binary_trees(start: int, end: int) -> tuple[tuple[tuple[int, int], ...], ...]:
    """Return every binary tree over the words, as its spans."""
    if end - start == 1:
        return (((start, end),),)
    return tuple(
        ((start, end), *left, *right)
        for split in range(start + 1, end)
        for left in binary_trees(start, split)
        for right in binary_trees(split, end)
    )


@cache
def joint_trees(start: int, end: int, role: str = "top") -> tuple[tuple[Part, ...], ...]:
    """Return every binary tree with every choice of heads, the top node first."""
    if end - start == 1:
        return ((Part(start, end, start, role),),)
    found = []
    for split in range(start + 1, end):
        for left_role, right_role in (("head", "dependent"), ("dependent", "head")):
            for left in joint_trees(start, split, left_role):
                for right in joint_trees(split, end, right_role):
                    head = left[0].head if left_role == "head" else right[0].head
                    found.append((Part(start, end, head, role), *left, *right))
    return tuple(found)


@cache
def arcs_of(parts: tuple[Part, ...]) -> list[tuple[int, int]]:
    """Return the arcs (governor, word) of a joint tree; a dependent's governor heads the smallest span around it."""
    arcs = []
    for part in parts:
        if part.role == "dependent":
            around = [p for p in parts if p.start <= part.start and part.end <= p.end and p[:2] != part[:2]]
            arcs.append((min(around, key=lambda p: p.end - p.start).head, part.head))
    return arcs


@cache
def dependency_trees(n: int, *, projective: bool) -> tuple[tuple[int, ...], ...]:
    """Return every tree of governors with one root word (-1)."""
    return tuple(g for g in product(range(-1, n), repeat=n) if _is_tree(g) and (not projective or not _crosses(g)))


def _is_tree(governors: tuple[int, ...]) -> bool:
    if governors.count(-1) != 1:
        return False
    for word in range(len(governors)):
        seen = set()
        while word != -1:
            if word in seen:
                return False
            seen.add(word)
            word = governors[word]
    return True


def _crosses(governors: tuple[int, ...]) -> bool:
    """Return whether some arc covers a word that does not descend from the arc's governor."""
    for word, governor in enumerate(governors):
        if governor == -1:
            continue
        for between in range(min(word, governor) + 1, max(word, governor)):
            while between not in (governor, -1):
                between = governors[between]
            if between == -1:
                return True
    return False


def span_score(scores: Scores, part: Part) -> float:
    assert scores.full is not None
    assert scores.open is not None
    one_word = part.end - part.start == 1
    labelled = part.role == "top" or (part.role == "dependent" and not one_word)
    return float((scores.full if labelled else scores.open)[part.start, part.end])


def arc_score(scores: Scores, governor: int, word: int) -> float:
    assert scores.arc is not None
    assert scores.root is not None
    return float(scores.root[word] if governor == -1 else scores.arc[governor, word])


def all_scores(scores: Scores, decoder: str) -> Iterator[float]:
    """Yield the score of every tree the decoder may choose from."""
    n = len(scores)
    if decoder in ("mst", "eisner"):
        for governors in dependency_trees(n, projective=decoder == "eisner"):
            yield sum(arc_score(scores, governor, word) for word, governor in enumerate(governors))
    elif decoder == "cky":
        for tree in binary_trees(0, n):
            yield sum(span_score(scores, Part(i, j, -1, "top" if j - i == n else "head")) for i, j in tree)
    else:
        for parts in joint_trees(0, n):
            if decoder == "h3n" and not _heads_rank_highest(scores, parts):
                continue
            spans = sum(span_score(scores, part) for part in parts)
            arcs = sum(arc_score(scores, governor, word) for governor, word in arcs_of(parts))
            yield spans + arcs + arc_score(scores, -1, parts[0].head)


def _heads_rank_highest(scores: Scores, parts: tuple[Part, ...]) -> bool:
    assert scores.head is not None
    rank = [(float(score), word) for word, score in enumerate(scores.head)]
    return all(max(rank[p.start : p.end])[1] == p.head for p in parts)


def distinct_trees(
    scores: Scores, decoder: str
) -> dict[tuple[tuple[tuple[int, int, int], ...], tuple[int, ...]], float]:
    """Return the score of every tree as its reader sees it: spans (start, end, head) with a label, and governors.

    A span that need not have a label may have one or none; none is worth 0. Many binary trees make one and the same.
    """
    n = len(scores)
    if decoder == "eisner":
        trees = dependency_trees(n, projective=True)
        return {((), g): sum(arc_score(scores, h, m) for m, h in enumerate(g)) for g in trees}
    assert scores.full is not None
    found = {}
    if decoder == "cky":
        all_parts = [
            tuple(Part(i, j, -1, "top" if j - i == n else "head") for i, j in tree) for tree in binary_trees(0, n)
        ]
    else:
        all_parts = [p for p in joint_trees(0, n) if decoder != "h3n" or _heads_rank_highest(scores, p)]
    for parts in all_parts:
        governors = [-1] * (0 if decoder == "cky" else n)
        arcs = 0.0
        if governors:
            for governor, word in arcs_of(parts):
                governors[word] = governor
            arcs = sum(arc_score(scores, h, m) for m, h in enumerate(governors))
        must = [p for p in parts if p.role == "top" or (p.role == "dependent" and p.end - p.start > 1)]
        may = [p for p in parts if p not in must]
        for chosen in product((False, True), repeat=len(may)):
            cells = [*must, *(p for p, take in zip(may, chosen, strict=True) if take)]
            key = tuple(sorted((p.start, p.end, p.head) for p in cells)), tuple(governors)
            found[key] = arcs + sum(float(scores.full[p.start, p.end]) for p in cells)
    return found
