"""Edits of a tree, as scheme files name them: ``relabel n ADJP ; group NP a b ; splice q ; move r first-in v``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from h3n.convert.rules.matching import Bound
from h3n.convert.rules.nodes import NOWHERE, Node
from h3n.errors import FormatError, Place, TreeError
from h3n.trees import bare_label


@dataclass(frozen=True, slots=True)
class Edit:
    """A change to nodes bound by a pattern: those it ``needs``, and the one it ``makes`` a name for."""

    needs: frozenset[str]
    makes: str
    apply: Callable[[Bound], object]


def group(first: Node, last: Node, label: str) -> Node:
    """Return a new node over the sisters from ``first`` to ``last``; it takes their place."""
    parent = first.parent
    if last.parent is not parent:
        raise TreeError(f"cannot group {first} to {last} as {label}: they are not sisters")
    phrase = Node(label, bare_label(label))
    children = parent.children
    start, end = sorted((first.position, last.position))
    inside = children[start : end + 1]
    children[start : end + 1] = [phrase]
    parent.adopt(children)
    phrase.adopt(inside)
    return phrase


def splice(node: Node) -> None:
    """Put a node's children in its place."""
    parent = node.parent
    children = parent.children
    children[node.position : node.position + 1] = node.children
    parent.adopt(children)


def detach(node: Node) -> None:
    """Take a node out of the tree, and brackets that are left empty with it."""
    while (parent := node.parent) is not NOWHERE:
        del parent.children[node.position]
        parent.adopt(parent.children)
        if parent.children:
            return
        node = parent


def _relabel(node: Node, label: str) -> None:
    node.label = label
    node.basic = bare_label(label)


def _move(node: Node, where: str, other: Node) -> None:
    detach(node)
    parent = other if where.endswith("-in") else other.parent
    at = {"first-in": 0, "last-in": len(parent.children), "before": other.position, "after": other.position + 1}[where]
    parent.adopt([*parent.children[:at], node, *parent.children[at:]])


PLACES = ("first-in", "last-in", "before", "after")
EDITS = {
    "relabel": "relabel NODE LABEL",
    "group": "group LABEL FIRST LAST, optionally NAME for the new node",
    "splice": "splice NODE",
    "move": f"move NODE {'|'.join(PLACES)} OTHER",
}


def parse_edits(text: str, place: Place) -> tuple[Edit, ...]:
    """Return the edits of a line, which take effect one after another."""
    return tuple(_parse_edit(part.split(), place) for part in text.split(";"))


def _parse_edit(words: Sequence[str], place: Place) -> Edit:
    match words:
        case ["relabel", node, label]:
            return Edit(frozenset({node}), "", lambda bound: _relabel(bound[node], label))
        case ["group", label, first, last]:
            return Edit(frozenset({first, last}), "", lambda bound: group(bound[first], bound[last], label))
        case ["group", label, first, last, name]:
            act = lambda bound: bound.update({name: group(bound[first], bound[last], label)})  # noqa: E731
            return Edit(frozenset({first, last}), name, act)
        case ["splice", node]:
            return Edit(frozenset({node}), "", lambda bound: splice(bound[node]))
        case ["move", node, where, other] if where in PLACES:
            return Edit(frozenset({node, other}), "", lambda bound: _move(bound[node], where, bound[other]))
    raise FormatError(place, f"the edit {' '.join(words)!r}", "; or ".join(EDITS.values()))


def names_needed(edits: Sequence[Edit]) -> set[str]:
    """Return the names that a pattern must bind for these edits, those they make themselves left out."""
    needed: set[str] = set()
    bound: set[str] = set()
    for edit in edits:
        needed |= edit.needs - bound
        bound.add(edit.makes)
    return needed
