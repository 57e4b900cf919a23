"""The tree a scheme works on: one mutable node per bracket or word, each knowing its parent, place and head.

A `Constituent` is immutable and knows nothing above itself; rules look up, left and right, and transforms move nodes
about. Nothing here recurses.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeAlias

from h3n.errors import TreeError
from h3n.trees import TOPS, TRACE, Constituent
from h3n.trees import Node as TreeNode

# Labels and words of the input are remembered in several places; a hostile input must not fill the memory with them.
REMEMBERED = 1 << 14

# From a label to (the label as a scheme keeps it, its bare category).
Cleaner: TypeAlias = Callable[[str], tuple[str, str]]


class Node:
    """A bracket, or a word with its tag (then ``word`` is not None and there are no children).

    ``word`` is lower-cased, ``form`` as it stands; ``number`` counts words from 0. ``head`` is the head child and
    ``lexical`` the number of the head word, both set by `h3n.convert.rules.heads`.
    """

    __slots__ = ("basic", "children", "form", "head", "label", "lexical", "number", "parent", "position", "word")

    parent: Node
    head: Node | None

    def __init__(self, label: str, basic: str, form: str | None = None, number: int = -1) -> None:
        self.label = label
        self.basic = basic
        self.form = form
        self.word = None if form is None else form.lower()
        self.number = number
        self.children: list[Node] = []
        self.position = 0
        self.head = None
        self.lexical = number

    def adopt(self, children: Iterable[Node]) -> None:
        """Make these the children, in this order."""
        self.children = list(children)
        for position, child in enumerate(self.children):
            child.parent = self
            child.position = position

    def __repr__(self) -> str:
        return f"({self.label} {self.form if self.form is not None else f'... {len(self.children)} children'})"


class LinkedNode(Node):
    """A node of a sentence that has both trees: it knows its words, and its head word knows its governor.

    ``anchor`` is the node of the head word, for a word itself; ``relation`` a node whose label is the relation of the
    word; ``described`` has nodes for its universal tag, lemma and features. What the operators with ``@`` lead to.
    """

    __slots__ = ("anchor", "dependents", "described", "end", "governor", "relation", "start")

    def __init__(
        self, label: str, start: int, end: int, anchor: LinkedNode | None = None, form: str | None = None
    ) -> None:
        super().__init__(label, label, form, -1 if form is None else start)
        self.start, self.end = start, end
        self.anchor = anchor if form is None else self
        self.governor: LinkedNode | None = None
        self.relation: Node | None = None
        self.dependents: list[LinkedNode] = []
        self.described: dict[str, list[Node]] = {}

    def describe(self, column: str, values: Iterable[str]) -> None:
        """Give a word the values that it has in a column."""
        self.described[column] = [Node(value, value, value) for value in values]
        for node in self.described[column]:
            node.parent = NOWHERE

    def link(self, governor: LinkedNode | None, relation: str) -> None:
        """Hang a word on another, or on nothing: then it is the root."""
        self.relation = Node(relation, relation)
        self.relation.parent = NOWHERE
        self.governor = governor
        if governor is not None:
            governor.dependents.append(self)


# The parent of the root: a node without children, so that looking up and sideways needs no special case.
NOWHERE = Node("", "")
NOWHERE.parent = NOWHERE


def from_constituent(tree: Constituent, *, label: Cleaner, tag: Cleaner, top: str) -> Node:
    """Return the root of a fresh copy without traces; labels and tags as cleaned, a top label as ``top``.

    Raises `TreeError` if no word is left.
    """
    number = 0
    finished: list[list[Node]] = [[]]
    # On the way down an item is a tree node, on the way up the label whose children are the last list of `finished`.
    stack: list[TreeNode | str] = [tree]
    while stack:
        item = stack.pop()
        if isinstance(item, str):
            children = finished.pop()
            if children:
                node = Node(*label(item))
                node.adopt(children)
                finished[-1].append(node)
        elif isinstance(item, Constituent):
            stack.append(top if item is tree and item.label in TOPS else item.label)
            stack.extend(reversed(item.children))
            finished.append([])
        elif item.tag != TRACE:
            finished[-1].append(Node(*tag(item.tag), item.word, number))
            number += 1
    if not finished[0]:
        raise TreeError(f"the tree ({tree.label} ...) has no word to convert")
    root = finished[0][0]
    root.parent = NOWHERE
    return root


def bottom_up(root: Node) -> list[Node]:
    """Return all nodes, children before their parents, left before right."""
    order = []
    stack = [root]
    while stack:
        node = stack.pop()
        order.append(node)
        stack.extend(node.children)
    order.reverse()
    return order
