"""Trees for the terminal."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from h3n.draw import Drawable, joint_brackets, pretty
from h3n.draw.widths import columns
from h3n.errors import UsageError
from h3n.trees import Constituent, Dependencies, HeadedSpan, Leaf, Sentence
from tests.draw.samples import CAKE, CAKE_WORDS, HELPED, deep, drawables, wide

CAKE_ARCS = Dependencies((3, 3, 3, -1, 5, 3, 3), CAKE.relations)


def test_what_would_steer_a_terminal_never_reaches_it() -> None:
    odd = "\x1b]0;x\x07\x9b31m\u202e"
    tree = replace(CAKE, words=(odd,) * 7, tags=(odd,) * 7, relations=(odd,) * 7)
    spans = tuple(replace(span, label=odd) for span in CAKE.spans)
    for drawn in (pretty(replace(tree, spans=spans)), joint_brackets(replace(tree, spans=spans))):
        assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f]", drawn)


def test_a_joint_tree() -> None:
    assert pretty(CAKE) == (
        "S─┬─NP━━━━━━━━━━━━━━ 1 She       PRP 4 nsubj\n"
        "  ┝━VP─┬──────────── 2 is        VBZ 4 aux\n"
        "  │    ├─ADVP━━━━━━━ 3 carefully RB  4 advmod\n"
        "  │    ┕━VP─┮━━━━━━━ 4 making    VBG 0 root\n"
        "  │         └─NP─┬── 5 the       DT  6 det\n"
        "  │              ┕━━ 6 cake      NN  4 obj\n"
        "  └───────────────── 7 .         .   4 punct\n"
    )


def test_ascii_and_a_narrow_terminal() -> None:
    assert pretty(CAKE, width=40, ascii_only=True) == (
        "S+NP======== 1 She       PRP 4 nsubj\n"
        " #VP+------- 2 is        VBZ 4 aux\n"
        " |  +ADVP=== 3 carefully RB  4 advmod\n"
        " |  #VP#==== 4 making    VBG 0 root\n"
        " |     +NP+- 5 the       DT  6 det\n"
        " |        #= 6 cake      NN  4 obj\n"
        " +---------- 7 .         .   4 punct\n"
    )


def test_phrases_alone() -> None:
    tree = Constituent("TOP", (Constituent("S", (Constituent("NP", (Leaf("N", "it"),)), Leaf("V", "is"))),))
    assert pretty(Sentence(words=("it", "is"), tree=tree)) == "S─┬─NP──── 1 it N\n  └─────── 2 is V\n"


def test_dependencies_alone() -> None:
    assert pretty(Sentence(words=CAKE_WORDS, dependencies=CAKE_ARCS)) == (
        "╭──────▸ 1 She       4 nsubj\n"
        "│ ╭────▸ 2 is        4 aux\n"
        "│ │ ╭──▸ 3 carefully 4 advmod\n"
        "├─┼─┴─── 4 making    0 root\n"
        "│ │ ╭──▸ 5 the       6 det\n"
        "│ ╰─┴──▸ 6 cake      4 obj\n"
        "╰──────▸ 7 .         4 punct\n"
    )


def test_unary_chains_stand_on_one_line_and_helpers_only_on_demand() -> None:
    assert pretty(HELPED) == (
        "S━NP─┬── 1 the  DT 4 det\n     ├── 2 very RB 3 advmod\n     ├── 3 red  JJ 4 amod\n     ┕━━ 4 car  NN 0 root\n"
    )
    assert "├─<H>─┬── 2 very" in pretty(HELPED, helpers=True)


def test_wide_characters_keep_the_columns() -> None:
    joint = replace(CAKE, words=("彼女", "is", "e\u0301te\u0301", "👩‍👩‍👧", "the", "ケーキ", "."))
    assert pretty(joint) == (
        "S─┬─NP━━━━━━━━━━━━━━ 1 彼女   PRP 4 nsubj\n"
        "  ┝━VP─┬──────────── 2 is     VBZ 4 aux\n"
        "  │    ├─ADVP━━━━━━━ 3 e\u0301te\u0301    RB  4 advmod\n"
        "  │    ┕━VP─┮━━━━━━━ 4 👩‍👩‍👧     VBG 0 root\n"
        "  │         └─NP─┬── 5 the    DT  6 det\n"
        "  │              ┕━━ 6 ケーキ NN  4 obj\n"
        "  └───────────────── 7 .      .   4 punct\n"
    )


def test_a_phrase_that_does_not_fit_starts_again_at_the_margin() -> None:
    lines = pretty(deep(20), width=40).splitlines()
    assert any(line.rstrip().endswith("▸") for line in lines)
    assert sum(line.startswith("▸VP") for line in lines) >= 2
    assert [int(found[1]) for line in lines if (found := re.search(r"(\d+) w\d+", line))] == list(range(1, 21))
    assert "▸" not in pretty(deep(20), width=120)


def test_colours_add_nothing_but_codes() -> None:
    coloured = pretty(CAKE, colour=True)
    assert "\x1b[" in coloured
    plain = re.sub(r"\x1b\[[0-9;]*m", "", coloured)
    assert [line.rstrip() for line in plain.splitlines()] == pretty(CAKE).splitlines()


def test_escape_codes_in_words_do_not_reach_the_terminal() -> None:
    assert "\x1b" not in pretty(replace(CAKE, words=("\x1b[31m",) * 7))


@settings(deadline=None)
@given(source=drawables(), width=st.integers(40, 90), ascii_only=st.booleans(), helpers=st.booleans())
def test_every_word_has_a_line_and_no_line_is_too_long(
    source: Drawable, width: int, ascii_only: bool, helpers: bool
) -> None:
    lines = pretty(source, width=width, ascii_only=ascii_only, helpers=helpers).splitlines()
    assert all(columns(line) <= width for line in lines)
    with_words = [line for line in lines if not line.endswith((">", "▸"))]
    assert len(with_words) == len(source.words)
    for number, (line, word) in enumerate(zip(with_words, source.words, strict=True), start=1):
        shown = word if columns(word) <= 10 else word[:5]
        assert re.search(rf"(^| ) *{number} {re.escape(shown)}", line), line


@settings(deadline=None)
@given(label=st.text(max_size=60), width=st.integers(40, 60))
def test_any_label_leaves_the_lines_whole(label: str, width: int) -> None:
    joint = replace(CAKE, spans=tuple(HeadedSpan(s.start, s.end, label, s.head) for s in CAKE.spans))
    lines = pretty(joint, width=width).splitlines()
    assert all(columns(line) <= width for line in lines)
    assert sum(" VBG 4 " in line or " VBG 0 " in line for line in lines) == 1


@pytest.mark.parametrize("source", [deep(1000), wide(300)], ids=["deep", "wide"])
def test_large_trees_are_drawn(source: Drawable) -> None:
    lines = pretty(source).splitlines()
    assert sum(not line.endswith("▸") for line in lines) == len(source.words)
    assert max(map(columns, lines)) <= 80


def test_many_arcs_fit_too() -> None:
    words = tuple(f"w{w}" for w in range(300))
    chain = Dependencies(tuple(range(-1, 299)), ("dep",) * 300)
    star = Dependencies((-1, *[0] * 299), ("dep",) * 300)
    for arcs in (chain, star):
        lines = pretty(Sentence(words=words, dependencies=arcs)).splitlines()
        assert len(lines) == 300
        assert max(map(columns, lines)) <= 80


def test_no_words_no_lines_and_words_without_trees() -> None:
    assert pretty(Sentence(words=())) == ""
    assert pretty(Sentence(words=("a", "b"))) == " 1 a\n 2 b\n"


def test_too_narrow_is_said() -> None:
    with pytest.raises(UsageError, match=r"a width of 39 columns is too narrow for a tree; give 40 or more"):
        pretty(CAKE, width=39)


def test_the_drawings_in_the_documentation_are_ours() -> None:
    text = (Path(__file__).parents[2] / "docs" / "drawing.md").read_text(encoding="utf-8")
    assert f"```\n{pretty(CAKE)}```" in text
    assert f"```\n{pretty(Sentence(words=CAKE_WORDS, dependencies=CAKE_ARCS))}```" in text
