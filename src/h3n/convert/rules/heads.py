"""Heads of phrases: priority lists by category, special cases before them, and the first conjunct of a coordination.

A head rule is a list of searches tried in turn::

    NP = rightmost NN NNS NNP ; left NP PRP ; right CD

``left A B`` looks for an A from the left, then for a B from the left; ``leftmost A B`` for whichever of them comes
first; ``left-except A B`` for the first child that is neither. ``right...`` mirrors them.
A search without labels, or the last search when it finds nothing, takes the outermost child on its side that is no
punctuation.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from h3n.convert.rules.matching import Bound, Match
from h3n.convert.rules.nodes import REMEMBERED, Node
from h3n.errors import FormatError, Place

Search: TypeAlias = Callable[[Sequence[Node]], int]

MISSED = -1


@dataclass(frozen=True, slots=True)
class HeadRule:
    """Searches in order; ``from_left`` is the side of the last one."""

    searches: tuple[Search, ...]
    from_left: bool


@dataclass(frozen=True, slots=True)
class SpecialHead:
    """A case that comes before the table: the node bound to ``head``, or else the child these searches find."""

    match: Match
    rule: HeadRule | None
    unless: tuple[Match, ...]


@dataclass(frozen=True, slots=True)
class HeadTable:
    """All head rules of a scheme.

    ``conjunctions`` empty means that coordinations get no treatment of their own. ``special`` holds the cases by the
    label of the phrase; `special_for` fills it.
    """

    rules: Mapping[str, HeadRule]
    unknown: HeadRule
    special: tuple[tuple[Mapping[str, bool], SpecialHead], ...]
    punctuation: frozenset[str]
    separators: frozenset[str]
    conjunctions: frozenset[str]
    interjections: frozenset[str]
    special_by_label: dict[str, tuple[SpecialHead, ...]]

    def special_for(self, label: str) -> tuple[SpecialHead, ...]:
        """Return the special cases whose phrase may have this label."""
        found = self.special_by_label.get(label)
        if found is None:
            found = tuple(case for labels, case in self.special if labels[label])
            if len(self.special_by_label) >= REMEMBERED:
                self.special_by_label.clear()
            self.special_by_label[label] = found
        return found


def _by_priority(labels: Sequence[str], *, from_left: bool) -> Search:
    def search(children: Sequence[Node]) -> int:
        basics = [child.basic for child in children]
        if not from_left:
            basics.reverse()
        for label in labels:
            if label in basics:
                at = basics.index(label)
                return at if from_left else len(basics) - 1 - at
        return MISSED

    return search


def _first_of(labels: Sequence[str], *, from_left: bool, wanted: bool) -> Search:
    accepted = frozenset(labels)

    def search(children: Sequence[Node]) -> int:
        order = range(len(children)) if from_left else range(len(children) - 1, -1, -1)
        for at in order:
            if (children[at].basic in accepted) is wanted:
                return at
        return MISSED

    return search


SEARCHES: dict[str, Callable[[Sequence[str]], Search]] = {
    "left": lambda labels: _by_priority(labels, from_left=True),
    "right": lambda labels: _by_priority(labels, from_left=False),
    "leftmost": lambda labels: _first_of(labels, from_left=True, wanted=True),
    "rightmost": lambda labels: _first_of(labels, from_left=False, wanted=True),
    "left-except": lambda labels: _first_of(labels, from_left=True, wanted=False),
    "right-except": lambda labels: _first_of(labels, from_left=False, wanted=False),
}


def parse_head_rule(text: str, place: Place) -> HeadRule:
    """Return the rule written as ``left A B ; rightmost C D``."""
    searches = []
    from_left = True
    # A semicolon is no Penn tag, so it can stand between searches.
    for part in text.split(";"):
        mode, *labels = part.split() or [""]
        if mode not in SEARCHES:
            raise FormatError(place, f"the head search {part.strip()!r}", f"one that starts with {', '.join(SEARCHES)}")
        searches.append(SEARCHES[mode](labels))
        from_left = mode.startswith("left")
    return HeadRule(tuple(searches), from_left)


def mark_heads(nodes: Sequence[Node], table: HeadTable, unknown: Counter[str] | None) -> None:
    """Set ``head`` and ``lexical`` of every bracket; ``nodes`` come children first.

    Categories without a rule are counted.
    """
    for node in nodes:
        children = node.children
        if not children:
            continue
        head = children[0] if len(children) == 1 else find_head(node, table, unknown)
        node.head = head
        node.lexical = head.lexical


def find_head(node: Node, table: HeadTable, unknown: Counter[str] | None) -> Node:
    """Return the head child."""
    for case in table.special_for(node.label):
        if (head := _special_head(node, case, table)) is not None:
            return head
    rule = table.rules.get(node.basic)
    if rule is None:
        rule = table.unknown
        if unknown is not None:
            unknown[node.basic] += 1
    children = node.children
    at = _searched(children, rule, table)
    return children[_outermost(children, rule, table) if at == MISSED else at]


def _special_head(node: Node, case: SpecialHead, table: HeadTable) -> Node | None:
    bound = Bound()
    if not case.match(node, bound):
        return None
    head = bound.get("head")
    if head is None and case.rule is not None:
        at = _searched(node.children, case.rule, table)
        head = None if at == MISSED else node.children[at]
    if head is not None and any(exception(head, bound) for exception in case.unless):
        return None
    return head


def _searched(children: Sequence[Node], rule: HeadRule, table: HeadTable) -> int:
    for search in rule.searches:
        if (at := search(children)) != MISSED:
            return first_conjunct(children, at, table)
    return MISSED


def _outermost(children: Sequence[Node], rule: HeadRule, table: HeadTable) -> int:
    order = range(len(children)) if rule.from_left else range(len(children) - 1, -1, -1)
    for at in order:
        if children[at].basic not in table.punctuation:
            return first_conjunct(children, at, table)
    return order[0]


def first_conjunct(children: Sequence[Node], at: int, table: HeadTable) -> int:
    """Return where the first conjunct stands if this child follows a conjunction, else the child's own place.

    Further conjuncts to the left count where a separator (a comma, a colon) stands between them.
    """
    if at < 2 or children[at - 1].basic not in table.conjunctions:
        return at
    chosen = children[at]
    # "Oh and do not forget": an interjection is not a conjunct, unless what follows the conjunction is one.
    keep_interjections = chosen.word is not None and chosen.basic in table.interjections
    skipped = table.punctuation if keep_interjections else table.punctuation | table.interjections
    first = at - 2
    while first >= 0 and children[first].basic in skipped:
        first -= 1
    while first >= 2:
        earlier = first - 1
        separated = False
        while earlier >= 0 and children[earlier].basic in skipped:
            separated = separated or children[earlier].basic in table.separators
            earlier -= 1
        if earlier < 0 or not separated:
            break
        first = earlier
    return first if first >= 0 else at
