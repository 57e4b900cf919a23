"""Where the operators of a pattern lead: from a node to its children, parent, sisters, heads.

Order matters only for which of several nodes a name is bound to: the first that fits, nearest first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import chain
from typing import TypeAlias

from h3n.convert.rules.nodes import NOWHERE, LinkedNode, Node

Step: TypeAlias = Callable[[Node], Iterable[Node]]


def _children(node: Node) -> Iterable[Node]:
    return node.children


def _parent(node: Node) -> Iterable[Node]:
    return () if node.parent is NOWHERE else (node.parent,)


def _descendants(node: Node) -> Iterator[Node]:
    stack = node.children[::-1]
    while stack:
        below = stack.pop()
        yield below
        stack.extend(reversed(below.children))


def _ancestors(node: Node) -> Iterator[Node]:
    while (node := node.parent) is not NOWHERE:
        yield node


def _sisters(node: Node) -> Iterable[Node]:
    return [sister for sister in node.parent.children if sister is not node]


def _next(node: Node) -> Iterable[Node]:
    at = node.position + 1
    return node.parent.children[at : at + 1]


def _previous(node: Node) -> Iterable[Node]:
    at = node.position
    return (node.parent.children[at - 1],) if at else ()


def _later(node: Node) -> Iterable[Node]:
    return node.parent.children[node.position + 1 :]


def _earlier(node: Node) -> Iterable[Node]:
    return node.parent.children[: node.position][::-1]


def _only(node: Node) -> Iterable[Node]:
    return node.children if len(node.children) == 1 else ()


def _only_of(node: Node) -> Iterable[Node]:
    return (node.parent,) if len(node.parent.children) == 1 else ()


def _first_of(node: Node) -> Iterable[Node]:
    return () if node.position or node.parent is NOWHERE else (node.parent,)


def _last_of(node: Node) -> Iterable[Node]:
    return (node.parent,) if node.parent.children[-1:] == [node] else ()


def _head(node: Node) -> Iterable[Node]:
    return () if node.head is None else (node.head,)


def _head_of(node: Node) -> Iterable[Node]:
    return (node.parent,) if node.parent.head is node else ()


def _heads(node: Node) -> Iterator[Node]:
    below = node.head
    while below is not None:
        yield below
        below = below.head


def _first_line(node: Node) -> Iterator[Node]:
    while node.children:
        node = node.children[0]
        yield node


def _last_line(node: Node) -> Iterator[Node]:
    while node.children:
        node = node.children[-1]
        yield node


def _after(node: Node) -> Iterator[Node]:
    for upper in chain((node,), _ancestors(node)):
        for sister in _later(upper):
            yield sister
            yield from _descendants(sister)


def _before(node: Node) -> Iterator[Node]:
    for upper in chain((node,), _ancestors(node)):
        for sister in _earlier(upper):
            yield sister
            yield from _descendants(sister)


def _anchor(node: Node) -> LinkedNode | None:
    return node.anchor if isinstance(node, LinkedNode) else None


def _relation(node: Node) -> Iterable[Node]:
    anchor = _anchor(node)
    return () if anchor is None or anchor.relation is None else (anchor.relation,)


def _governor(node: Node) -> Iterable[Node]:
    anchor = _anchor(node)
    return () if anchor is None or anchor.governor is None else (anchor.governor,)


def _dependents(node: Node) -> Iterable[Node]:
    anchor = _anchor(node)
    return () if anchor is None else anchor.dependents


def _described(column: str) -> Step:
    def values(node: Node) -> Iterable[Node]:
        anchor = _anchor(node)
        return () if anchor is None else anchor.described.get(column, ())

    return values


OPERATORS: dict[str, Step] = {
    "<": _children,
    ">": _parent,
    "<<": _descendants,
    ">>": _ancestors,
    "<:": _only,
    ">:": _only_of,
    "<,": lambda node: node.children[:1],
    ">,": _first_of,
    "<-": lambda node: node.children[-1:],
    ">-": _last_of,
    "<#": _head,
    ">#": _head_of,
    "<<#": _heads,
    "<<,": _first_line,
    "<<-": _last_line,
    "$": _sisters,
    "$+": _next,
    "$-": _previous,
    "$++": _later,
    "$--": _earlier,
    "..": _after,
    ",,": _before,
    "==": lambda node: (node,),
    # Of the head word: its relation, governor, dependents and tag, in trees that have them (`h3n find`).
    "@": _relation,
    "@>": _governor,
    "@<": _dependents,
    "@upos": _described("upos"),
}
# The same for what is no node: a value stands after the operator, plain or as a "word".
VALUES: dict[str, Step] = {"@lemma": _described("lemmas"), "@feature": _described("features")}
# Also `<2` and `<-2` (second child, last but one), `<+VP` and `>+VP` (down or up through any number of VPs).


def nth_child(number: int) -> Step:
    """Return the step to the child of this number: 1 is the first, -1 the last."""
    if number > 0:
        return lambda node: node.children[number - 1 : number]
    return lambda node: node.children[number : number + 1 or None] if len(node.children) >= -number else ()


def through(operator: str, labels: Mapping[str, bool]) -> Step:
    """Return the step down (``<+``) or up (``>+``) any number of nodes with these labels, and one more."""
    next_nodes = OPERATORS[operator[0]]

    def walk(node: Node) -> Iterator[Node]:
        queue = list(next_nodes(node))
        for candidate in queue:
            yield candidate
            if labels[candidate.label] and candidate is not NOWHERE:
                queue.extend(next_nodes(candidate))

    return walk
