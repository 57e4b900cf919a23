"""The pattern language: every operator on one small tree, names, macros, and what damaged patterns say."""

from __future__ import annotations

import io

import pytest

from h3n import formats
from h3n.convert.rules.heads import HeadTable, mark_heads, parse_head_rule
from h3n.convert.rules.matching import Bound, compile_pattern
from h3n.convert.rules.nodes import Node, bottom_up, from_constituent
from h3n.convert.rules.patterns import Vocabulary, bound_names, parse
from h3n.errors import FormatError, Place

PLACE = Place("test.rules", 7)
WORDS = Vocabulary(
    sets={"nouns": ["NN", "NNS"]},
    words={"be": ["is", "was"], "capital": ["/[A-Z].*/"]},
    macros={"object": "< (NP $- VB*)", "nested": "&object"},
)
#                 0       1                    2            3
TREE = "(S (NP (PRP She)) (VP (VBZ is) (NP (DT a) (NNS friends) (PP (IN of) (NP (NNP Ann))))) (. .))"


def plain(label: str) -> tuple[str, str]:
    return label, label.partition("-")[0]


@pytest.fixture(scope="module")
def nodes() -> list[Node]:
    sentence = next(formats.read(io.StringIO(TREE), format="brackets"))
    assert sentence.tree is not None
    root = from_constituent(sentence.tree, label=plain, tag=plain, top="ROOT")
    found = bottom_up(root)
    rule = parse_head_rule("leftmost VP ; left NN NNS VBZ IN", PLACE)
    empty: frozenset[str] = frozenset()
    table = HeadTable({}, rule, (), empty, empty, empty, empty, {})
    mark_heads(found, table, None)
    return found


def matched(nodes: list[Node], text: str) -> list[str]:
    match = compile_pattern(parse(text, WORDS, PLACE))
    return sorted(f"{node.label}:{node.form or ''}" for node in nodes if match(node, Bound()))


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("NN*", ["NNP:Ann", "NNS:friends"]),
        ("{nouns}|IN", ["IN:of", "NNS:friends"]),
        ("!NP|VP|PP|S|.|IN|DT|NN*", ["PRP:She", "VBZ:is"]),
        ('*"{be}"', ["VBZ:is"]),
        ('VB*"IS"', ["VBZ:is"]),
        ('*"{capital}"', ["NNP:Ann", "PRP:She"]),
        ('NN*!"ann"', ["NNS:friends"]),
        ("NP < PRP", ["NP:"]),
        ("NNP > NP", ["NNP:Ann"]),
        ("NNP > VP", []),
        ("VP << NNP", ["VP:"]),
        ("NNP >> VP", ["NNP:Ann"]),
        ("DT >> PP", []),
        ("NP <: NNP", ["NP:"]),
        ("NNP >: NP", ["NNP:Ann"]),
        ("DT >: NP", []),
        ("NP <, DT", ["NP:"]),
        ("* >, VP", ["VBZ:is"]),
        ("NP <- PP", ["NP:"]),
        ("* >- VP", ["NP:"]),
        ("* >- S", [".:."]),
        ("NP <2 NNS", ["NP:"]),
        ("NP <-2 NNS", ["NP:"]),
        ("NP <-4 *", []),
        ("NP <# NNS", ["NP:"]),
        ("* ># PP", ["IN:of"]),
        ("S <<# VBZ", ["S:"]),
        ("S <<, PRP", ["S:"]),
        ("VP <<- NNP", ["VP:"]),
        ("NP $ VP", ["NP:"]),
        ("DT $+ NNS", ["DT:a"]),
        ("DT $+ PP", []),
        ("PP $- NNS", ["PP:"]),
        ("DT $++ PP", ["DT:a"]),
        ("PP $-- DT", ["PP:"]),
        ("IN .. .", ["IN:of"]),
        ("NNP ,, PRP", ["NNP:Ann"]),
        ("PRP ,, *", []),
        ("VP <+NP|PP NNP", ["VP:"]),
        ("VP <+NP NNP", []),
        ("NNP >+NP|PP VP", ["NNP:Ann"]),
        ("NNP >+NP VP", []),
        ("IN == *\"of\"", ["IN:of"]),
        ("NP [ < DT | < NNP ]", ["NP:", "NP:"]),
        ("NP ![ < DT | < NNP ]", ["NP:"]),
        ("NP !< DT !< PRP", ["NP:"]),
        # All conditions are the first node's: a DT child, and a PP child.
        ("NP < DT < PP", ["NP:"]),
        ("NP < (DT < PP)", []),
        ("VP &object", ["VP:"]),
        ("VP &nested", ["VP:"]),
        # A name stands for the node bound above it.
        ("DT=T $++ (PP $-- =T)", ["DT:a"]),
        ("NNS=T $-- (DT $+ =T)", ["NNS:friends"]),
        ("PP=T $-- (DT $+ =T)", []),
    ],
)  # fmt: skip
def test_pattern(nodes: list[Node], pattern: str, expected: list[str]) -> None:
    assert matched(nodes, pattern) == expected


def test_the_root_has_no_parent_and_no_sisters(nodes: list[Node]) -> None:
    for operator in (">", ">>", ">,", ">-", ">:", ">#", "$", "$+", "$-", "$++", "$--", "..", ",,"):
        assert matched(nodes, f"S {operator} *") == []


def test_names_are_bound_to_the_nearest_that_fits(nodes: list[Node]) -> None:
    pattern = parse("PP=p $-- DT|NNS=x > (NP=n > VP)", WORDS, PLACE)
    bound = Bound()
    assert bound_names(pattern) == {"p", "x", "n"}
    assert any(compile_pattern(pattern)(node, bound) for node in nodes)
    assert (bound["p"].label, bound["x"].form, bound["n"].label) == ("PP", "friends", "NP")


def test_names_inside_a_negation_are_not_bound() -> None:
    assert bound_names(parse("NP !< DT=d [ < NN=n | < PP ]", WORDS, PLACE)) == {"n"}


@pytest.mark.parametrize(
    ("pattern", "message"),
    [
        ("", "the end in the pattern ''; expected a label"),
        ("NP <", "the end in the pattern 'NP <'; expected a label"),
        ("NP <% VP", "'<%' in the pattern 'NP <% VP'; expected an operator, one of < >"),
        ("NP VP", "'VP' in the pattern"),
        ("NP < (VP", "not closed in the pattern 'NP < (VP'; expected ')'"),
        ("NP [ < VP", "not closed in the pattern 'NP [ < VP'; expected ']'"),
        ("NP < VP )", "')' left over"),
        ("{noun} < VP", "unknown label set {noun} in the pattern '{noun} < VP'; expected one of nouns"),
        ('NN"{bee}"', "unknown word list {bee}"),
        ("NP &subject", "unknown macro &subject in the pattern 'NP &subject'; expected one of nested, object"),
    ],
)
def test_damage_is_named_with_its_place(pattern: str, message: str) -> None:
    with pytest.raises(FormatError) as raised:
        parse(pattern, WORDS, PLACE)
    assert str(raised.value).startswith("test.rules:7: ")
    assert message in str(raised.value)


def test_a_macro_that_contains_itself_is_refused() -> None:
    loop = Vocabulary(sets={}, words={}, macros={"a": "&b", "b": "&a"})
    with pytest.raises(FormatError, match="contains itself"):
        parse("NP &a", loop, PLACE)
