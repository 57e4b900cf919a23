"""Brackets straight from spans are those that the tree's writer writes."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from h3n.formats import Writing, brackets
from h3n.formats.brackets import bracket_line
from h3n.trees import HELPER, Span, leaves, spans_of, tree_of
from tests.strategies import trees

TOPS = [None, "", "TOP", "ROOT", "VROOT"]


@settings(deadline=None)
@given(data=st.data(), words=st.integers(1, 8), top=st.sampled_from(TOPS))
def test_the_line_is_that_of_the_tree(data: st.DataObject, words: int, top: str | None) -> None:
    tree = data.draw(trees(words=words, top=data.draw(st.sampled_from([None, "TOP"]))))
    spans = [Span(s.start, s.end, data.draw(st.sampled_from([s.label, s.label, HELPER]))) for s in spans_of(tree)]
    forms = [leaf.word for leaf in leaves(tree)]
    tags = [leaf.tag for leaf in leaves(tree)]
    expected = brackets.to_text(tree_of(spans, forms, tags, top=top), Writing())
    line = bracket_line([(s.start, s.end, s.label) for s in spans], forms, tags, top=top)
    assert line == expected


@pytest.mark.parametrize(
    ("spans", "word", "tag"),
    [
        ([], "a", "X"),
        ([(0, 1, "NP")], "(", "X"),
        ([(0, 1, "NP")], "New York", "X"),
        ([(0, 1, "NP")], "a\0", "X"),
        ([(0, 1, "NP")], "a", ""),
        ([(0, 1, "NP")], "", "X"),
        ([(0, 1, "NP")], "a", "-NONE-"),
        ([(0, 1, "N P")], "a", "X"),
        ([(0, 1, "")], "a", "X"),
    ],
)
def test_what_is_unusual_is_left_to_the_writer(spans: list[tuple[int, int, str]], word: str, tag: str) -> None:
    assert bracket_line(spans, [word], [tag], top="TOP") is None
