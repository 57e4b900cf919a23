"""Where things stand in a picture: nothing overlaps, and the head's line is straight."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from h3n.draw import Drawable
from h3n.draw.arcs import arc_levels
from h3n.draw.figure import Figure, figure_of
from h3n.draw.layout import Bow, Edge, Layout, Text, lay_out
from h3n.trees import ROOT, Dependencies, JointTree, Sentence, is_projective
from tests.draw.samples import CAKE, HELPED, deep, drawables, joint_trees, wide

Segment = tuple[float, float, float, float]
SLACK = 0.01


def texts(layout: Layout) -> list[Text]:
    labels = [label.box for label in layout.labels] + [bow.label for bow in layout.bows]
    return [*layout.words, *layout.tags, *layout.numbers, *labels]


def overlap(a: Text, b: Text) -> bool:
    beside = a.right <= b.left + SLACK or b.right <= a.left + SLACK
    above = a.bottom <= b.top + SLACK or b.bottom <= a.top + SLACK
    return not (beside or above)


def meets(segment: Segment, box: Text) -> bool:
    """Whether a level or upright line passes through a box."""
    x1, y1, x2, y2 = segment
    inside_x = min(x1, x2) < box.right - SLACK and max(x1, x2) > box.left + SLACK
    inside_y = min(y1, y2) < box.bottom - SLACK and max(y1, y2) > box.top + SLACK
    return inside_x and inside_y


def tree_lines(edge: Edge) -> Iterator[Segment]:
    yield edge.x, edge.y, edge.to_x, edge.y
    yield edge.to_x, edge.y, edge.to_x, edge.to_y


def upright_lines(bow: Bow) -> Iterator[Segment]:
    yield bow.end, bow.top, bow.end, bow.label.top if bow.root else bow.bottom
    if not bow.root:
        yield bow.start, bow.top, bow.start, bow.bottom


def level_line(bow: Bow) -> Segment:
    return bow.start, bow.bottom, bow.end, bow.bottom


def governors(figure: Figure) -> list[int]:
    return [arc.governor for arc in figure.arcs]


@settings(deadline=None)
@given(source=drawables(), helpers=st.booleans())
def test_no_two_texts_overlap_and_all_are_inside(source: Drawable, helpers: bool) -> None:
    layout = lay_out(figure_of(source, helpers=helpers))
    found = texts(layout)
    for text in found:
        assert 0 <= text.left <= text.right <= layout.width
        assert 0 <= text.top <= text.bottom <= layout.height
    for a, b in combinations(found, 2):
        assert not overlap(a, b), (a, b)


@settings(deadline=None)
@given(source=drawables(), helpers=st.booleans())
def test_no_line_of_the_tree_passes_through_a_text(source: Drawable, helpers: bool) -> None:
    layout = lay_out(figure_of(source, helpers=helpers))
    for edge in layout.edges:
        for segment in tree_lines(edge):
            assert not any(meets(segment, text) for text in texts(layout)), edge


@settings(deadline=None)
@given(source=drawables())
def test_arcs_keep_apart(source: Drawable) -> None:
    figure = figure_of(source)
    layout = lay_out(figure)
    assert len(layout.bows) == len(figure.arcs)
    for a, b in combinations([bow for bow in layout.bows if not bow.root], 2):
        if a.level == b.level:  # their level lines lie beside each other
            assert max(a.start, a.end) < min(b.start, b.end) or max(b.start, b.end) < min(a.start, a.end)
    for bow in layout.bows:
        assert bow.root or min(bow.start, bow.end) < bow.label.left < bow.label.right < max(bow.start, bow.end)
    if is_projective(governors(figure)):
        lines = [line for bow in layout.bows for line in upright_lines(bow)]
        for bow in layout.bows:
            assert not any(meets(line, bow.label) for line in lines)
        for bow in layout.bows:
            if not bow.root:
                x1, y, x2, _ = level_line(bow)
                assert not any(min(x1, x2) < x < max(x1, x2) and top < y < bottom for x, top, _, bottom in lines), (
                    "arcs of a projective tree cross"
                )


@settings(deadline=None)
@given(source=drawables())
def test_outer_arcs_run_outside(source: Drawable) -> None:
    figure = figure_of(source)
    levels = arc_levels(figure.arcs)
    for (a, low), (b, high) in combinations(zip(figure.arcs, levels, strict=True), 2):
        if ROOT in (a.governor, b.governor):
            continue
        if a.left < b.right and b.left < a.right:
            assert low != high
        if a.left <= b.left and b.right <= a.right:
            assert low > high


@settings(deadline=None)
@given(joint=joint_trees(), helpers=st.booleans())
def test_every_phrase_has_one_line_to_its_head_straight_down(joint: JointTree, helpers: bool) -> None:
    figure = figure_of(joint, helpers=helpers)
    layout = lay_out(figure)
    heads = [edge for edge in layout.edges if edge.head]
    assert len(heads) == len(layout.labels)
    assert all(edge.x == edge.to_x for edge in heads)
    assert len(layout.edges) == len(layout.labels) + len(figure) - 1
    for label in layout.labels:
        head = figure.phrases[label.phrase].head
        assert head is not None
        assert label.box.x == layout.words[head].x


def test_a_unary_chain_is_a_row_of_labels_from_top_to_bottom() -> None:
    layout = lay_out(figure_of(HELPED))
    assert [(label.box.text, label.helper) for label in layout.labels] == [("S", False), ("NP", False)]
    assert layout.labels[0].box.y < layout.labels[1].box.y < layout.tags[3].y


def test_helper_spans_are_shown_on_demand() -> None:
    layout = lay_out(figure_of(HELPED, helpers=True))
    assert [label.box.text for label in layout.labels if label.helper] == ["<H>"]


def test_the_paper_s_sentence() -> None:
    layout = lay_out(figure_of(CAKE))
    assert [bow.label.text for bow in layout.bows if bow.root] == ["root"]
    assert [bow.level for bow in layout.bows] == [3, 2, 1, 4, 1, 2, 3]
    assert [text.text for text in layout.words] == list(CAKE.words)


@pytest.mark.parametrize("source", [deep(1000), wide(300)], ids=["deep", "wide"])
def test_large_trees_have_a_layout(source: Drawable) -> None:
    figure = figure_of(source)
    layout = lay_out(figure)
    assert len(layout.words) == len(layout.bows) == len(figure)
    assert all(a.right < b.left for a, b in zip(layout.words, layout.words[1:], strict=False))


def test_a_label_makes_way_for_the_line_of_an_arc_that_crosses() -> None:
    words = tuple("abcde")
    arcs = Dependencies(
        (4, 3, -1, 2, 2), ("upright", "x", "root", "y", "z")
    )  # the root's line crosses the arc from e to a
    layout = lay_out(figure_of(Sentence(words=words, dependencies=arcs)))
    crossed = layout.bows[0]
    lines = [line for bow in layout.bows for line in upright_lines(bow) if bow is not crossed]
    assert any(
        min(crossed.start, crossed.end) < x < max(crossed.start, crossed.end) and bottom > crossed.bottom
        for x, _, _, bottom in lines
    )
    assert not any(meets(line, crossed.label) for line in lines)
    middle = (crossed.start + crossed.end) / 2
    assert crossed.label.x != pytest.approx(middle)
