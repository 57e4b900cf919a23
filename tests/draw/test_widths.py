"""Widths of texts, against a font and against what terminals do."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from matplotlib import font_manager
from matplotlib.ft2font import FT2Font

from h3n.draw.widths import columns, fit, shorten, text_width, visible


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", 0),
        ("cake", 4),
        ("日本語", 6),
        ("한국", 4),
        ("ﾊﾟ", 2),  # half-width katakana
        ("Ａ", 2),  # full-width latin
        ("e\u0301", 1),
        ("שָׁלוֹם", 4),
        ("👍", 2),
        ("👍🏽", 2),
        ("👩‍👩‍👧", 2),
        ("❤\ufe0f", 2),
        ("🇩🇪", 2),
        ("a\u200bb", 2),
    ],
)
def test_columns_of_a_terminal(text: str, expected: int) -> None:
    assert columns(text) == expected


@settings(deadline=None)
@given(text=st.text(max_size=20), width=st.integers(1, 12))
def test_a_fitted_text_has_exactly_the_width(text: str, width: int) -> None:
    shown = visible(text)
    assert columns(fit(shown, width)) == width
    assert columns(shorten(shown, width)) <= width
    if columns(shown) <= width:
        assert shorten(shown, width) == shown


def test_what_could_harm_a_terminal_is_not_shown() -> None:
    assert visible("a\x1b[31mb\tc\nd\u2028e") == "a\ufffd[31mb c d e"


@pytest.mark.parametrize(
    "text",
    [
        "The quick brown fox",
        "nsubj:pass",
        "ADJP-PRD",
        "$4,950.50 (net)",
        "Ελληνικά",
        "Россия",
        "Příliš žluťoučký",
        "ÅÄÖßéñ",
    ],
)
def test_no_text_is_wider_in_the_widest_font_than_estimated(text: str) -> None:
    font = FT2Font(font_manager.findfont("DejaVu Sans"))
    font.set_size(100, 72)
    font.set_text(text)
    real = font.get_width_height()[0] / 64
    assert real * 0.97 <= text_width(text, 100) <= real * 1.25
