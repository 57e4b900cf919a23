"""A picture as PNG, where the converter is installed."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from html import escape, unescape
from typing import Any

from h3n.draw.picture import FONTS
from h3n.errors import MissingExtra, UsageError

_TEXT = re.compile(r"<text[^>]*>([^<]*)</text>")
_UNASSIGNED = "\U0010fffd"  # no font has it: what stands for it stands for every missing character


def png(svg_text: str, *, scale: float = 2.0) -> bytes:
    """Return the SVG picture as the bytes of a PNG file, ``scale`` times its natural size.

    The fonts are those of the machine; `missing_characters` says which characters they lack. `MissingExtra` if the
    converter is not installed.
    """
    try:
        return bytes(_converter().svg_to_bytes(svg_string=svg_text, zoom=scale))
    except ValueError as error:
        raise UsageError(f"the picture cannot be converted to PNG: {error}") from None


def missing_characters(svg_text: str) -> str:
    """Return the characters of the picture's texts that no font of this machine has: PNG shows them as boxes."""
    texts = unescape("".join(_TEXT.findall(svg_text)))
    return "".join(c for c in sorted(set(texts)) if _is_seen(c) and _is_missing(c))


def _is_seen(character: str) -> bool:
    """Return whether the character should be seen and may be missing: ASCII is in every font."""
    return not character.isascii() and unicodedata.category(character) not in ("Cc", "Cf", "Cs", "Zs", "Zl", "Zp")


@lru_cache(maxsize=4096)
def _is_missing(character: str) -> bool:
    return _drawn(character) == _drawn(_UNASSIGNED)


@lru_cache(maxsize=4096)
def _drawn(character: str) -> bytes:
    text = f'<text x="10" y="30" font-size="20">{escape(character)}</text>'
    size = 'width="40" height="40"'
    picture = f'<svg xmlns="http://www.w3.org/2000/svg" {size} font-family="{FONTS}">{text}</svg>'
    return bytes(_converter().svg_to_bytes(svg_string=picture))


def _converter() -> Any:
    try:
        import resvg_py
    except ImportError:
        raise MissingExtra("PNG pictures", "png") from None
    return resvg_py
