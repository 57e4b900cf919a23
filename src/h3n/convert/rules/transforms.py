"""Tree transforms: pattern and edits from a scheme file, or one of the named steps that are true algorithms."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from h3n.convert.rules.edits import Edit
from h3n.convert.rules.flat_coordination import flat_coordination
from h3n.convert.rules.matching import Bound, Match
from h3n.convert.rules.nodes import Node, bottom_up


def drop_repeated_unaries(root: Node) -> bool:
    """Splice out every bracket whose only child has its label: ``(NP (NP cats))`` is ``(NP cats)``."""
    changed = False
    for node in bottom_up(root):
        if len(node.children) == 1 and node.children[0].label == node.label and node.children[0].word is None:
            node.adopt(node.children[0].children)
            changed = True
    return changed


@dataclass(frozen=True, slots=True)
class Transform:
    """The edits, made at every node that matches one of the patterns; or a named step over the whole tree."""

    name: str
    patterns: tuple[tuple[Mapping[str, bool], Match], ...]
    edits: tuple[Edit, ...]
    step: Callable[[Node], bool] | None


# Steps take the root and tell whether they changed anything.
TRANSFORMS: dict[str, Callable[[Node], bool]] = {
    "flat-coordination": flat_coordination,
    "drop-repeated-unaries": drop_repeated_unaries,
}


def transform_tree(root: Node, transforms: Sequence[Transform]) -> list[Node]:
    """Make the transforms in order, in place; return all nodes, children first.

    A pattern is tried once at every node, children before their parents, so no rule can run forever.
    """
    nodes = bottom_up(root)
    labels = {node.label for node in nodes}
    for transform in transforms:
        changed = False
        if transform.step is not None:
            changed = transform.step(root)
        else:
            for accepted, match in transform.patterns:
                if any(accepted[label] for label in labels):
                    changed = _edit_all(nodes, accepted, match, transform.edits) or changed
        if changed:
            nodes = bottom_up(root)
            labels = {node.label for node in nodes}
    return nodes


def _edit_all(nodes: Sequence[Node], accepted: Mapping[str, bool], match: Match, edits: Sequence[Edit]) -> bool:
    changed = False
    for node in nodes:
        if accepted[node.label]:
            bound: Bound = {}
            if match(node, bound):
                for edit in edits:
                    edit.apply(bound)
                changed = True
    return changed
