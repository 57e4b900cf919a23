"""The colours of pictures, by name."""

from __future__ import annotations

from dataclasses import dataclass

from h3n.errors import UnknownName


@dataclass(frozen=True, slots=True)
class Palette:
    """One colour for each kind of thing in a picture; no background leaves it transparent."""

    background: str | None
    word: str
    phrase: str
    tag: str
    edge: str
    head: str
    arc: str
    relation: str
    doubt: str


@dataclass(frozen=True, slots=True)
class Theme:
    """The colours of a picture, and those it takes where the reader prefers a dark screen."""

    palette: Palette
    dark: Palette | None = None


LIGHT = Palette(
    background="#ffffff",
    word="#111827",
    phrase="#1f2937",
    tag="#6b7280",
    edge="#9ca3af",
    head="#2563eb",
    arc="#c2703d",
    relation="#8a4413",
    doubt="#f59e0b",
)
DARK = Palette(
    background="#12151b",
    word="#f3f4f6",
    phrase="#e5e7eb",
    tag="#9aa4b2",
    edge="#6b7585",
    head="#6ea8fe",
    arc="#d08a5b",
    relation="#f0b58c",
    doubt="#b45309",
)
PRINT = Palette(
    background=None,
    word="#000000",
    phrase="#000000",
    tag="#444444",
    edge="#777777",
    head="#000000",
    arc="#555555",
    relation="#000000",
    doubt="#a3a3a3",
)
THEMES: dict[str, Theme] = {
    "auto": Theme(LIGHT, dark=DARK),
    "light": Theme(LIGHT),
    "dark": Theme(DARK),
    "print": Theme(PRINT),
}


def theme_named(name: str) -> Theme:
    """Return the theme of this name."""
    if name not in THEMES:
        raise UnknownName("theme", name, THEMES)
    return THEMES[name]
