"""Relations of arcs: which patterns fit a dependent, and which of the fitting relations wins.

The dependent of an arc is the highest node its word heads. Rules are tried in the order of the scheme file; the first
that fits gives the relation, and after it only a more special one (``auxpass of aux``) may replace it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from h3n.convert.rules.matching import Bound, Match
from h3n.convert.rules.nodes import NOWHERE, REMEMBERED, Node
from h3n.trees import ROOT, find_cycle

# The name a pattern gives to the phrase whose head governs the arc, where that is not the dependent's parent.
GOVERNING = "P"


@dataclass(frozen=True, slots=True)
class Rule:
    """One pattern of a relation. ``parents`` is None if the pattern does not say what the dependent's parent is."""

    relation: str
    labels: Mapping[str, bool]
    parents: Mapping[str, bool] | None
    rest: Match | None
    names_governor: bool


@dataclass(frozen=True, slots=True)
class RelationTable:
    """All rules of a scheme in order, remembered by the labels of dependent and parent; ``special`` are subtypes."""

    rules: tuple[Rule, ...]
    special: Mapping[str, frozenset[str]]
    default: str
    root: str
    by_labels: dict[tuple[str, str], tuple[Rule, ...]]

    def rules_for(self, label: str, parent: str) -> tuple[Rule, ...]:
        """Return the rules that may fit a node with this label under that one."""
        found = self.by_labels.get((label, parent))
        if found is None:
            found = tuple(r for r in self.rules if r.labels[label] and (r.parents is None or r.parents[parent]))
            if len(self.by_labels) >= REMEMBERED:
                self.by_labels.clear()
            self.by_labels[label, parent] = found
        return found


def relate(node: Node, governor: int, table: RelationTable) -> str:
    """Return the relation of the arc from this governor to the head word of this node."""
    relation = table.default
    allowed: frozenset[str] | None = None
    for rule in table.rules_for(node.label, node.parent.label):
        if (allowed is None or rule.relation in allowed) and _governing_phrase(node, rule, governor) is not None:
            relation = rule.relation
            allowed = table.special[relation]
            if not allowed:
                break
    return relation


def _governing_phrase(node: Node, rule: Rule, governor: int | None) -> Node | None:
    """Return the phrase whose head governs this node by this rule; None if it does not fit or has another head."""
    bound = Bound()
    if rule.rest is not None and not rule.rest(node, bound):
        return None
    phrase = bound.get(GOVERNING, node.parent)
    return phrase if governor is None or phrase.lexical == governor else None


def governors_by_heads(tops: Sequence[Node]) -> list[int]:
    """Return the governor of each word: the head word of the phrase above the highest node it heads."""
    return [ROOT if node.parent is NOWHERE else node.parent.lexical for node in tops]


def governors_by_patterns(tops: Sequence[Node], table: RelationTable) -> list[int]:
    """Return governors as `governors_by_heads`, except where a rule that names its governing phrase says otherwise.

    Of several phrases the highest wins, as if the tree were searched from the top. A change that would close a cycle
    is not made.
    """
    governors = governors_by_heads(tops)
    for word, node in enumerate(tops):
        other = _named_governor(node, word, table)
        if other is not None and other != governors[word] and governors[word] != ROOT:
            before, governors[word] = governors[word], other
            if find_cycle(governors) is not None:
                governors[word] = before
    return governors


def _named_governor(node: Node, word: int, table: RelationTable) -> int | None:
    best: tuple[int, int] | None = None
    for rule in table.rules_for(node.label, node.parent.label):
        if (
            rule.names_governor
            and (phrase := _governing_phrase(node, rule, None)) is not None
            and phrase.lexical != word
        ):
            candidate = (_depth(phrase), phrase.lexical)
            best = candidate if best is None else min(best, candidate)
    if best is None or (best[0] > _depth(node.parent) and relate(node, node.parent.lexical, table) != table.default):
        return None
    return best[1]


def _depth(node: Node) -> int:
    depth = 0
    while (node := node.parent) is not NOWHERE:
        depth += 1
    return depth
