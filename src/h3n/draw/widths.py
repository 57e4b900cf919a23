"""How wide a text is: in columns of a terminal, and in a sans-serif font.

Both are estimates made without a font at hand. The font table holds the widths of DejaVu Sans, the widest of the fonts
a browser is likely to take: text set in Helvetica or Arial needs less, so that nothing overlaps anywhere.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Iterator

JOINER = "\u200d"
EMOJI_STYLE = "\ufe0f"
SKIN_TONES = range(0x1F3FB, 0x1F400)
ELLIPSIS = "…"

_BY_WIDTH = {
    0.30: "'IJijl",
    0.35: ",./:;\\| ",
    0.40: "()-[]ft",
    0.45: "!r",
    0.50: '"*_`',
    0.55: "?csz",
    0.60: "FLkvxy",
    0.65: "$0123456789EPSTYabdeghnopqu{}",
    0.70: "ABCKRVXZ",
    0.75: "NU",
    0.80: "&DGHOQ",
    0.85: "#+<=>^w~",
    0.90: "M",
    1.00: "%@Wm",
}
_WIDTHS = {character: width for width, characters in _BY_WIDTH.items() for character in characters}
_CAPITAL, _SMALL, _OTHER, _WIDE, _EMOJI = 0.8, 0.7, 0.75, 1.05, 1.4
_TURNS = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
_INVISIBLE = frozenset({"Mn", "Me", "Cf", "Cc"})


def columns(text: str) -> int:
    """Return how many columns of a terminal the text takes: two for a wide character, none for a combining mark."""
    return sum(width for _, width in cells(text))


def shorten(text: str, width: int) -> str:
    """Return the text cut to at most this many columns; an ellipsis shows that something is gone."""
    if columns(text) <= width:
        return text
    kept: list[str] = []
    room = width - 1
    for character, taken in cells(text):
        if taken > room:
            break
        room -= taken
        kept.append(character)
    return "".join(kept) + ELLIPSIS if width > 0 else ""


def fit(text: str, width: int) -> str:
    """Return the text cut or padded on the right to exactly this many columns."""
    cut = shorten(text, width)
    return cut + " " * (width - columns(cut))


def visible(text: str) -> str:
    """Return the text on one line, fit for a terminal: what would steer it is shown as U+FFFD, line ends as blanks."""
    return "".join(" " if c.isspace() else "\ufffd" if _steers(c) else c for c in text)


def _steers(character: str) -> bool:
    """Return whether a terminal obeys the character: controls, half surrogates, marks that turn the direction round."""
    return unicodedata.category(character) in ("Cc", "Cs") or character in _TURNS


def right_to_left(words: Iterable[str]) -> bool:
    """Return whether more letters of the words belong to scripts that run from right to left than to others."""
    kinds = [unicodedata.bidirectional(character) for word in words for character in word]
    return sum(kind in ("R", "AL") for kind in kinds) > kinds.count("L")


def text_width(text: str, size: float) -> float:
    """Return the width of the text in a sans-serif font of this size, rather too much than too little."""
    return size * sum(map(_em, text))


def cells(text: str) -> Iterator[tuple[str, int]]:
    """Yield the characters with the columns each adds, emoji sequences counted as one wide character."""
    joined = False
    previous = 0
    for character in text:
        if character == EMOJI_STYLE:
            width = 1 if previous == 1 else 0
        elif joined or (ord(character) in SKIN_TONES and previous == 2):
            width = 0
        else:
            width = _cell(character)
        joined = character == JOINER
        if width:
            previous = width
        yield character, width


def _cell(character: str) -> int:
    if character.isascii():
        return int(character.isprintable())
    if unicodedata.category(character) in _INVISIBLE:
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def _em(character: str) -> float:
    if character in _WIDTHS:
        return _WIDTHS[character]
    category = unicodedata.category(character)
    if category in _INVISIBLE:
        return 0.0
    if unicodedata.east_asian_width(character) in "WF":
        return _EMOJI if category == "So" else _WIDE
    base = unicodedata.normalize("NFD", character)[0]
    if base in _WIDTHS:
        return _WIDTHS[base]
    return {"Lu": _CAPITAL, "Ll": _SMALL, "So": _EMOJI}.get(category, _OTHER)
