"""Tree transforms: pattern and edits from a scheme file, or one of the named steps that are true algorithms."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

from h3n.convert.rules.edits import Edit
from h3n.convert.rules.flat_coordination import flat_coordination
from h3n.convert.rules.matching import Bound, Match
from h3n.convert.rules.nodes import NOWHERE, REMEMBERED, Node, bottom_up


def drop_repeated_unaries(root: Node) -> bool:
    """Splice out every bracket whose only child has its label: ``(NP (NP cats))`` is ``(NP cats)``."""
    changed = False
    for node in bottom_up(root):
        if len(node.children) == 1 and node.children[0].label == node.label and node.children[0].word is None:
            node.adopt(node.children[0].children)
            changed = True
    return changed


# Steps take the root and tell whether they changed anything.
TRANSFORMS: dict[str, Callable[[Node], bool]] = {
    "flat-coordination": flat_coordination,
    "drop-repeated-unaries": drop_repeated_unaries,
}


@dataclass(frozen=True, slots=True, eq=False)
class Trigger:
    """A pattern with the tests of its first node apart: ``words`` is None if any word, or a phrase, will do."""

    labels: Mapping[str, bool]
    words: Mapping[str, bool] | None
    match: Match


@dataclass(frozen=True, slots=True)
class Transform:
    """The edits, made at every node that matches one of the patterns; or a named step over the whole tree."""

    name: str
    triggers: tuple[Trigger, ...]
    edits: tuple[Edit, ...]
    step: Callable[[Node], bool] | None


@dataclass(frozen=True, slots=True)
class TransformTable:
    """All transforms of a scheme in order, remembered by the labels and words that may set them off."""

    transforms: tuple[Transform, ...]
    by_label: dict[str, frozenset[Trigger]]
    by_form: dict[str, frozenset[Trigger]]

    def triggers(self, nodes: Sequence[Node]) -> set[Trigger]:
        """Return the triggers whose first node may be among these: most sentences set off few."""
        found: set[Trigger] = set()
        for label in {node.label for node in nodes}:
            if label not in self.by_label:
                if len(self.by_label) >= REMEMBERED:
                    self.by_label.clear()
                self.by_label[label] = frozenset(t for t in self._all() if t.words is None and t.labels[label])
            found |= self.by_label[label]
        for form in [node.form for node in nodes if node.form is not None]:
            if form not in self.by_form:
                if len(self.by_form) >= REMEMBERED:
                    self.by_form.clear()
                self.by_form[form] = frozenset(t for t in self._all() if t.words is not None and t.words[form])
            found |= self.by_form[form]
        return found

    def _all(self) -> Iterator[Trigger]:
        return chain.from_iterable(transform.triggers for transform in self.transforms)


def transform_tree(root: Node, table: TransformTable) -> list[Node]:
    """Make the transforms in order, in place; return all nodes, children first.

    A pattern is tried once at every node, children before their parents, so no rule can run forever.
    """
    nodes = bottom_up(root)
    wanted = table.triggers(nodes)
    for transform in table.transforms:
        if transform.step is not None and transform.step(root):
            nodes = bottom_up(root)
            wanted = table.triggers(nodes)
        for trigger in transform.triggers:
            if trigger in wanted and _edit_all(nodes, trigger, transform.edits):
                nodes = bottom_up(root)
                wanted = table.triggers(nodes)
    return nodes


def _edit_all(nodes: Sequence[Node], trigger: Trigger, edits: Sequence[Edit]) -> bool:
    changed = False
    labels, match = trigger.labels, trigger.match
    for node in nodes:
        if labels[node.label] and not (changed and _is_gone(node)):
            bound = Bound()
            if match(node, bound):
                for edit in edits:
                    edit.apply(bound)
                changed = True
    return changed


def _is_gone(node: Node) -> bool:
    """Return whether an edit has spliced the node out of the tree."""
    return node.parent is not NOWHERE and node.parent.children[node.position : node.position + 1] != [node]
