"""Head searches and the first conjunct, each on a row of children."""

from __future__ import annotations

from collections import Counter

import pytest

from h3n.convert.rules.heads import HeadTable, find_head, parse_head_rule
from h3n.convert.rules.nodes import NOWHERE, Node
from h3n.errors import FormatError, Place

PLACE = Place("test.rules", 3)


def table(rule: str) -> HeadTable:
    return HeadTable(
        rules={"XP": parse_head_rule(rule, PLACE)},
        unknown=parse_head_rule("right", PLACE),
        special=(),
        punctuation=frozenset({",", ":", "."}),
        separators=frozenset({",", ":"}),
        conjunctions=frozenset({"CC", "CONJP"}),
        interjections=frozenset({"UH", "INTJ"}),
        special_by_label={},
    )


def head_of(labels: str, rule: str, *, category: str = "XP", unknown: Counter[str] | None = None) -> int:
    phrase = Node(category, category)
    phrase.parent = NOWHERE
    phrase.adopt(
        Node(label, label, None if label.endswith("P") else label.lower(), at)
        for at, label in enumerate(labels.split())
    )
    return find_head(phrase, table(rule), unknown).position


@pytest.mark.parametrize(
    ("children", "rule", "expected"),
    [
        ("B A B A", "left A B", 1),
        ("B A B A", "right B A", 2),
        ("B A B A", "leftmost A B", 0),
        ("B A B C", "rightmost A B", 2),
        ("B A C B", "left-except A B", 2),
        ("B A C B", "right-except B", 2),
        ("A B", "left C ; rightmost A B", 1),
        # The last search finds nothing: the outermost child on its side that is no punctuation.
        (", A B .", "left C ; right D", 2),
        (", A B .", "left C", 1),
        (", A B .", "left", 1),
        (", .", "right", 1),
    ],
)
def test_searches(children: str, rule: str, expected: int) -> None:
    assert head_of(children, rule) == expected


@pytest.mark.parametrize(
    ("children", "expected"),
    [
        ("A CC A", 0),
        ("A , A CC A", 0),
        ("A , A , CC A", 0),
        ("B A CC A", 1),  # nothing separates B and A
        ("A CONJP A", 0),
        ("CC A", 1),
        (", CC A", 2),  # nothing to the left is a conjunct
        ("UH CC A", 2),
        ("A UH CC A", 0),
        ("A , UH , A CC A", 0),
    ],
)
def test_the_first_conjunct_wins(children: str, expected: int) -> None:
    assert head_of(children, "rightmost A") == expected


def test_interjections_are_conjuncts_of_interjections() -> None:
    assert head_of("UH CC UH", "rightmost UH") == 0


def test_an_unknown_category_takes_the_default_and_is_counted() -> None:
    unknown: Counter[str] = Counter()
    assert head_of("A B .", "left A", category="ZP", unknown=unknown) == 1
    assert head_of("A B .", "left A", unknown=unknown) == 0
    assert unknown == {"ZP": 1}


@pytest.mark.parametrize("rule", ["", "middle A", "left A ;"])
def test_a_search_that_does_not_exist_is_refused(rule: str) -> None:
    with pytest.raises(
        FormatError, match=r"test\.rules:3: the head search .* expected one that starts with left, right"
    ):
        parse_head_rule(rule, PLACE)
