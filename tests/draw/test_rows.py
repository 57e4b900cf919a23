"""Long sentences in rows, scripts from right to left, shades of confidence."""

from __future__ import annotations

from dataclasses import replace
from xml.etree import ElementTree

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from h3n.draw import Drawable, WithConfidence, pretty, svg
from h3n.draw.figure import figure_of
from h3n.draw.layout import part_of
from h3n.errors import UsageError
from h3n.trees import ROOT
from tests.draw.samples import CAKE, deep, drawables, wide


def texts(picture: str, name: str) -> list[ElementTree.Element]:
    return ElementTree.fromstring(picture).findall(f"{{*}}g[@class='h3n-{name}']/{{*}}text")


@settings(deadline=None, max_examples=40)
@given(source=drawables(), fit=st.integers(200, 600))
def test_every_word_stands_in_one_row_that_fits(source: Drawable, fit: int) -> None:
    figure = figure_of(source)
    words = texts(svg(source, fit=fit), "word")
    assert [word.text for word in words] == list(figure.words)
    picture = ElementTree.fromstring(svg(source, fit=fit))
    heights = [float(word.get("y", "0")) for word in words]
    alone = all(heights.count(y) == 1 for y in heights)  # a word too long for a row has one of its own
    assert float(picture.get("width", "0")) <= fit or alone or max(map(len, figure.words)) > 20


@pytest.mark.parametrize("source", [deep(60), wide(60)], ids=["deep", "wide"])
def test_a_long_sentence_fits(source: Drawable) -> None:
    picture = ElementTree.fromstring(svg(source, fit=700))
    assert float(picture.get("width", "0")) <= 700
    assert len(picture.findall("{*}g[@class='h3n-relation']/{*}text")) == 60


def test_a_part_shows_what_goes_on_elsewhere() -> None:
    part = part_of(figure_of(CAKE), 1, 5)
    assert part.words == ("is", "carefully", "making", "the")
    assert [phrase.label for phrase in part.phrases] == ["…S…", "VP…", "ADVP", "VP…", "NP…"]
    assert [phrase.head for phrase in part.phrases] == [2, 2, 1, 2, None]
    assert [(arc.governor, arc.relation) for arc in part.arcs] == [
        (2, "aux"),
        (2, "advmod"),
        (ROOT, "root"),
        (ROOT, "det ← 6"),
    ]
    assert part.first == 1


def test_what_is_too_narrow_is_refused() -> None:
    with pytest.raises(UsageError, match="a picture of 100 pixels is too narrow"):
        svg(CAKE, fit=100)


def places(picture: str, name: str) -> list[float]:
    return [float(text.get("x", "0")) for text in texts(picture, name)]


def test_words_run_from_right_to_left_where_their_script_does() -> None:
    hebrew = svg(replace(CAKE, words=("היא", "is", "אופה", "את", "העוגה", "בזהירות", ".")))
    assert places(hebrew, "word") == sorted(places(hebrew, "word"), reverse=True)
    assert places(svg(CAKE), "word") == sorted(places(svg(CAKE), "word"))
    assert len(texts(hebrew, "relation")) == len(CAKE)
    assert places(hebrew, "phrase")[0] == places(hebrew, "word")[3]  # S stands above its head


def test_doubt_is_shaded() -> None:
    shaded = WithConfidence(CAKE, {(0, 7): 1.0, (0, 1): 0.25}, [0.5, 1, 1, 1, 1, 1, 0.96])
    picture = ElementTree.fromstring(svg(shaded))
    shades = picture.findall("{*}g[@class='h3n-doubt']/{*}rect")
    assert [shade.get("fill-opacity") for shade in shades] == ["0.75", "0.50"]
    assert "h3n-doubt" not in svg(CAKE, theme="light")
    assert pretty(shaded) == pretty(CAKE)
