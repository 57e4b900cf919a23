"""Tokens that are several words: rules learned from some serve others."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from h3n.text.expansions import Expansions, Rewrite, Split, from_json, learn_expansions, rule_of, to_json

SEEN = [
    ("nas", ("em", "as")),
    ("nos", ("em", "os")),
    ("dámelo", ("da", "me", "lo")),
    ("don't", ("do", "n't")),
    ("won't", ("wo", "n't")),
    ("au", ("à", "le")),
    ("verse", ("ver", "se")),
]


@pytest.mark.parametrize(("token", "words"), SEEN)
def test_a_rule_leads_from_a_token_to_its_words(token: str, words: tuple[str, ...]) -> None:
    assert rule_of(token, words).words(token) == words


@pytest.mark.parametrize(
    ("seen", "words", "token", "expected"),
    [
        ("nas", ("em", "as"), "num", ("em", "um")),
        ("nas", ("em", "as"), "Nas", ("Em", "as")),
        ("nas", ("em", "as"), "NAS", ("EM", "AS")),
        ("dámelo", ("da", "me", "lo"), "pónmelo", ("pon", "me", "lo")),
        ("don't", ("do", "n't"), "CAN’T", ("CA", "N’T")),
        ("au", ("à", "le"), "Au", ("À", "le")),
    ],
)
def test_a_rule_serves_other_tokens(seen: str, words: tuple[str, ...], token: str, expected: tuple[str, ...]) -> None:
    assert rule_of(seen, words).words(token) == expected


def test_a_rule_refuses_what_it_does_not_fit() -> None:
    assert rule_of("nas", ("em", "as")).words("das") is None
    assert rule_of("au", ("à", "le")).words("aux") is None
    assert Split(after=(3,)).words("n't") is None


def test_the_table_goes_before_the_rules_and_scores_choose() -> None:
    expansions = learn_expansions([*SEEN, *SEEN])
    assert expansions.expand("Nas", lambda _: 0.0) == ("Em", "as")
    wanted = expansions.rules.index(rule_of("nas", ("em", "as")))
    assert expansions.expand("num", lambda rule: float(rule == wanted)) == ("em", "um")
    assert Expansions().expand("nas", lambda _: 0.0) == ("nas",)


def test_a_rule_seen_once_is_for_its_token_alone() -> None:
    expansions = learn_expansions([("nas", ("em", "as"))])
    assert expansions.classes == 0
    assert expansions.expand("nas", lambda _: 0.0) == ("em", "as")
    assert expansions.expand("num", lambda _: 0.0) == ("num",)


LETTERS = st.text(alphabet="aábcdeñn'-’AÉİ", min_size=1, max_size=6)


@given(token=LETTERS, words=st.lists(LETTERS, min_size=2, max_size=3))
def test_any_expansion_has_a_rule_that_can_be_stored(token: str, words: list[str]) -> None:
    rule = rule_of(token, words)
    found = rule.words(token)
    assert found is not None
    assert [word.lower() for word in found] == [word.lower() for word in words]
    expansions = learn_expansions([(token, words)] * 2)
    assert from_json(json.loads(json.dumps(to_json(expansions)))) == expansions


@pytest.mark.parametrize(
    "damaged",
    [
        None,
        {"rules": [], "classes": 1, "table": {}},
        {"rules": [[[0], []]], "classes": 0, "table": {}},
        {"rules": [["n", "", [], "", "", [], False]], "classes": 0, "table": {}},
        {"rules": [[[1], []]], "classes": 1, "table": {"nas": [1]}},
        {"rules": [[[1], []]], "classes": 1, "table": {"nas": "em"}},
    ],
)
def test_anything_else_is_refused(damaged: object) -> None:
    with pytest.raises(ValueError, match="expansions"):
        from_json(damaged)


def test_what_a_rewriting_writes_has_the_case_of_its_token() -> None:
    rule = Rewrite("n", "", before=("em",))
    assert rule.words("NO") == ("EM", "O")
