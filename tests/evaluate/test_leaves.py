"""The leaf-ancestor metric, on the example of the paper that defines it and by its properties."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from h3n.evaluate import LeafCounts, bracketed_line, count_leaves, leaf_numbers, load_parameters
from h3n.evaluate.bracketing import count_brackets
from h3n.evaluate.leaves import lineages, score_lineages

LINEAGES = st.lists(st.sampled_from(["S", "SBAR", "NP", "[", "]"]), max_size=6)


def test_boundaries_stand_where_sampson_and_babarczy_put_them() -> None:
    line = "(S (N1 (D two) (N1 (N tax) (N revision)) (N bills)) (V were) (V passed))"
    found = lineages(count_brackets(bracketed_line(line), parameters=load_parameters("spmrl")))
    assert [" ".join(one) for one in found] == ["N1 [ S", "[ N1 N1 S", "N1 ] N1 S", "N1 ] S", "S", "S ]"]


@pytest.mark.parametrize(
    ("gold", "predicted", "score"),
    [
        ("NP S", "NP S", 1.0),
        ("NP S", "S", 1 - 1 / 3),
        ("NP S", "VP S", 1 - 2 / 4),
        ("NP S", "NP SBAR", 1 - 0.5 / 4),
        ("", "S", 0.0),
        ("", "", 1.0),
    ],
)
def test_costs_are_those_of_the_definition(gold: str, predicted: str, score: float) -> None:
    assert score_lineages(gold.split(), predicted.split()) == pytest.approx(score)


@given(one=LINEAGES, other=LINEAGES)
def test_similarity_is_symmetric_and_between_none_and_all(one: list[str], other: list[str]) -> None:
    assert score_lineages(one, other) == pytest.approx(score_lineages(other, one))
    assert 0.0 <= score_lineages(one, other) <= 1.0
    assert (score_lineages(one, other) == 1.0) == (one == other)


def test_means_are_over_words_and_over_sentences() -> None:
    good, bad = bracketed_line("(ROOT (S (N a)))"), bracketed_line("(ROOT (S (N a) (N b) (N c)))")
    total = count_leaves(good, good) + count_leaves(bad, bracketed_line(""))
    assert total == LeafCounts(2, 4, 1.0, 1.0)
    assert leaf_numbers(total) == {"leaf_ancestor": 25.0, "leaf_ancestor_sentences": 50.0}
