"""Coordination inside flat noun phrases: ``(NP the cats and dogs)`` gets its conjuncts bracketed.

The rewriting of the Stanford converter: one conjunction at a time, from the left, until nothing more applies.
"""

from __future__ import annotations

from h3n.convert.rules.edits import group
from h3n.convert.rules.nodes import Node

_PAIRED = frozenset({"either", "neither", "both"})


def flat_coordination(root: Node) -> bool:
    """Bracket the conjuncts of every flat noun phrase; return whether there were any."""
    changed = False
    while (found := _find(root)) is not None:
        _rewrite(*found)
        changed = True
    return changed


def _find(root: Node) -> tuple[Node, int] | None:
    stack = [root]
    while stack:
        node = stack.pop()
        if node.label.startswith("NP"):
            for child in node.children:
                if child.word is not None and child.label.startswith("CC"):
                    at = _index_of_like(node, child)
                    if _applies(node, at):
                        return node, at
        stack.extend(reversed(node.children))
    return None


def _index_of_like(phrase: Node, child: Node) -> int:
    """Return the index of the first child with the same tag and word: the original's index, repeated words included."""
    return next(
        at for at, other in enumerate(phrase.children) if other.label == child.label and other.form == child.form
    )


def _applies(phrase: Node, at: int) -> bool:
    children = phrase.children
    return (
        at != 0
        and len(children) - at > 2
        and not any(child.label.startswith("NP") for child in children[at:])
        and not children[at + 1].label.startswith("CC")
    )


def _kind(node: Node) -> str:
    return "ADJP" if node.label.startswith("JJ") else "NP"


def _rewrite(phrase: Node, at: int) -> None:
    children = phrase.children
    before = children[at - 1]
    later = next((j for j in range(at + 1, len(children) - 1) if children[j].label.startswith("CC")), -1)
    if (
        at == 1
        and (before.label in ("DT", "JJ", "RB") or children[2].label != "DT")
        and not (before.label.startswith("NP") or before.label in ("ADJP", "NNS"))
    ):
        _pair_in_front(phrase, later)
    elif (
        at == 2 and children[0].label.startswith("DT") and before.label != "NNS" and (len(children) == 5 or later == 5)
    ):
        group(children[1], children[3], _kind(children[1]))
    elif at > 2 and children[at - 2].label == "," and before.label != "NNS":
        start = at - 3
        while start >= 2 and children[start - 1].label == ",":
            start -= 2
        group(children[start], children[at + 1], _kind(before))
    else:
        _split(phrase, at, later)


def _pair_in_front(phrase: Node, later: int) -> None:
    """``old and new | and borrowed things``: the first pair, and what a later conjunction joins to it."""
    children = list(phrase.children)
    pair = group(children[0], children[2], _kind(children[0]))
    if later < 0:
        return
    end = later - 2 if children[later - 1].label == "," else later - 1
    if end > 2:
        group(pair, children[end], _kind(children[end]))
    group(children[later + 1], children[-1], "NP")


def _split(phrase: Node, at: int, later: int) -> None:
    """Two conjuncts of several words each; with a later conjunction they become one phrase of their own."""
    children = list(phrase.children)
    paired = children[0].word in _PAIRED
    left = _without_comma(children[int(paired) : at])
    right = _without_comma(children[at + 1 : later if later > 0 else len(children)])
    first, last = children[0], children[at]
    if paired:
        first.label = first.basic = "CC"
    if left:
        conjunct = group(left[0], left[-1], _kind(children[at - 1]))
        first = first if paired else conjunct
    if right:
        last = group(right[0], right[-1], _kind(right[-1]))
    if later > 0:
        group(first, last, "NP")


def _without_comma(nodes: list[Node]) -> list[Node]:
    return nodes[:-1] if nodes and nodes[-1].label == "," else nodes
