"""Pictures: well-formed, complete, self-contained, and as the documentation shows them."""

from __future__ import annotations

import importlib.util
import struct
import sys
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from h3n.draw import THEMES, Drawable, html, png, svg
from h3n.draw.figure import figure_of
from h3n.errors import MismatchError, MissingExtra, TreeError, UnknownName, UsageError
from h3n.trees import Constituent, Dependencies, Leaf, Sentence
from tests.draw.samples import CAKE, HELPED, deep, drawables, joint_trees, wide

NAMESPACE = {"s": "http://www.w3.org/2000/svg"}
IMAGES = Path(__file__).parents[2] / "docs" / "images"
needs_png = pytest.mark.skipif(importlib.util.find_spec("resvg_py") is None, reason="the extra png is not installed")


def parsed(text: str) -> ElementTree.Element:
    return ElementTree.fromstring(text)


def group_texts(root: ElementTree.Element, name: str) -> list[str]:
    return [element.text or "" for element in root.findall(f"s:g[@class='h3n-{name}']/s:text", NAMESPACE)]


def paths(root: ElementTree.Element, name: str) -> list[ElementTree.Element]:
    return root.findall(f"s:g[@class='h3n-{name}']/s:path", NAMESPACE)


@settings(deadline=None)
@given(source=drawables(), helpers=st.booleans(), theme=st.sampled_from(sorted(THEMES)))
def test_everything_is_in_the_picture(source: Drawable, helpers: bool, theme: str) -> None:
    figure = figure_of(source, helpers=helpers)
    root = parsed(svg(source, helpers=helpers, theme=theme))
    assert group_texts(root, "word") == list(figure.words)
    assert group_texts(root, "relation") == [arc.relation for arc in figure.arcs]
    assert len(paths(root, "arc")) == len(paths(root, "arrow")) == len(figure.arcs)
    labels = [label for phrase in figure.phrases for label in phrase.label.split("::") if label != "<H>"]
    assert group_texts(root, "phrase") == labels


@settings(deadline=None)
@given(joint=joint_trees(max_words=6), text=st.text(min_size=1, max_size=5))
def test_any_text_makes_well_formed_xml(joint: Drawable, text: str) -> None:
    odd = replace(joint, words=(text,) * len(joint.words), relations=(text,) * len(joint.words))
    root = parsed(svg(odd, title=text))
    assert len(group_texts(root, "word")) == len(odd.words)
    assert len(group_texts(root, "relation")) == len(odd.words)


def test_marks_of_xml_are_escaped_and_what_xml_cannot_hold_is_replaced() -> None:
    words = ("<b>", "a&b", "\x00\x1b", "\ud800", "c", "d", "e")
    assert group_texts(parsed(svg(replace(CAKE, words=words))), "word") == [
        "<b>",
        "a&b",
        "\ufffd\ufffd",
        "\ufffd",
        "c",
        "d",
        "e",
    ]


def test_a_picture_needs_nothing_from_outside() -> None:
    root = parsed(svg(CAKE))
    for element in root.iter():
        assert element.tag.removeprefix("{http://www.w3.org/2000/svg}") in {
            "svg", "title", "desc", "style", "rect", "g", "path", "text"
        }  # fmt: skip
        assert not any("href" in name or name.startswith("on") for name in element.attrib)
    assert "url(" not in svg(CAKE)
    assert "@import" not in svg(CAKE)


def test_a_picture_can_be_read_out() -> None:
    root = parsed(svg(CAKE))
    assert root.get("role") == "img"
    assert root.findtext("s:title", namespaces=NAMESPACE) == "She is carefully making the cake ."
    description = root.findtext("s:desc", namespaces=NAMESPACE) or ""
    assert "She is nsubj of making" in description
    assert "making is root" in description
    named = parsed(svg(CAKE, title="Figure 1"))
    assert named.findtext("s:title", namespaces=NAMESPACE) == "Figure 1"


def test_the_way_to_the_head_is_emphasised() -> None:
    root = parsed(svg(CAKE))
    head = root.find("s:g[@class='h3n-head']", NAMESPACE)
    plain = root.find("s:g[@class='h3n-edge']", NAMESPACE)
    assert head is not None
    assert plain is not None
    assert float(head.get("stroke-width", "1")) > 2 * float(plain.get("stroke-width", "1"))
    assert head.get("stroke") != plain.get("stroke")
    assert len(head) == 6
    assert len(plain) == 6


def test_helper_spans_are_set_apart() -> None:
    assert "&lt;H&gt;" not in svg(HELPED)
    assert "<H>" in group_texts(parsed(svg(HELPED, helpers=True)), "tag")


def test_only_the_theme_auto_follows_the_screen() -> None:
    assert "prefers-color-scheme" in svg(CAKE, theme="auto")
    assert not any("prefers-color-scheme" in svg(CAKE, theme=name) for name in THEMES if name != "auto")
    assert "<rect" not in svg(CAKE, theme="print")
    with pytest.raises(UnknownName, match=r"unknown theme 'pink'; known: auto, dark, light, print"):
        svg(CAKE, theme="pink")


def test_a_sentence_without_words_is_an_empty_picture() -> None:
    root = parsed(svg(Sentence(words=())))
    assert group_texts(root, "word") == []
    assert float(root.get("width", "0")) > 0


def test_the_picture_in_the_documentation_is_ours() -> None:
    assert svg(CAKE) == (IMAGES / "cake.svg").read_text(encoding="utf-8")


@pytest.mark.parametrize("source", [deep(1000), wide(300)], ids=["deep", "wide"])
def test_large_trees_are_drawn(source: Drawable) -> None:
    assert len(paths(parsed(svg(source)), "arc")) == len(source.words)


def test_traces_are_not_drawn() -> None:
    tree = Constituent("S", (Constituent("NP", (Leaf("-NONE-", "*"),)), Constituent("VP", (Leaf("VB", "go"),))))
    root = parsed(svg(Sentence(words=("go",), tree=tree)))
    assert group_texts(root, "phrase") == ["S", "VP"]
    assert group_texts(root, "word") == ["go"]


def test_trees_that_do_not_fit_their_words_are_refused() -> None:
    tree = Constituent("S", (Leaf("A", "a"), Leaf("B", "b")))
    with pytest.raises(MismatchError, match=r"the sentence of 1 words has a phrase structure tree of 2 words"):
        svg(Sentence(words=("a",), tree=tree))
    for governors in ((1, 5), (1, 1), (-2, 0)):
        with pytest.raises(TreeError, match=r"word \d has governor"):
            svg(Sentence(words=("a", "b"), dependencies=Dependencies(governors, ("x", "y"))))


def test_a_page_holds_all_pictures_with_their_captions() -> None:
    page = html([(CAKE, "One <cake> & more"), (HELPED, "Two")], title="My & trees")
    assert page.count("<svg") == page.count("</svg>") == 2
    assert '<figcaption dir="auto">One &lt;cake&gt; &amp; more</figcaption>' in page
    assert "<title>My &amp; trees</title>" in page
    assert page.startswith("<!DOCTYPE html>")
    assert "<script" not in page
    assert "<link" not in page


@needs_png
def test_png_has_the_size_of_the_picture() -> None:
    text = svg(CAKE)
    made = png(text, scale=2)
    assert made.startswith(b"\x89PNG\r\n\x1a\n")
    width, height = struct.unpack(">II", made[16:24])
    assert width == pytest.approx(2 * float(parsed(text).get("width", "0")), abs=2)
    assert height == pytest.approx(2 * float(parsed(text).get("height", "0")), abs=2)


@needs_png
def test_what_is_no_picture_is_refused() -> None:
    with pytest.raises(UsageError, match="cannot be converted"):
        png("no picture")


def test_png_without_the_converter_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "resvg_py", None)
    with pytest.raises(MissingExtra, match=r"pip install 'h3n\[png\]'"):
        png(svg(CAKE))


def test_a_very_long_word_is_cut_but_read_out_whole() -> None:
    words = ("https://example.org/" + "x" * 500, "works")
    source = Sentence(words=words, dependencies=Dependencies((1, -1), ("nsubj", "root")))
    root = parsed(svg(source))
    shown, other = group_texts(root, "word")
    assert (len(shown), shown[-1], other) == (60, "…", "works")
    assert float(root.attrib["width"]) < 1000
    assert words[0] in (root.findtext("s:title", namespaces=NAMESPACE) or "")
    assert source.words == words
