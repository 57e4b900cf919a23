"""A picture as PNG, where the converter is installed."""

from __future__ import annotations

from h3n.errors import MissingExtra, UsageError


def png(svg_text: str, *, scale: float = 2.0) -> bytes:
    """Return the SVG picture as the bytes of a PNG file, ``scale`` times its natural size.

    The fonts are those of the machine. `MissingExtra` if the converter is not installed.
    """
    try:
        import resvg_py
    except ImportError:
        raise MissingExtra("PNG pictures", "png") from None
    try:
        return bytes(resvg_py.svg_to_bytes(svg_string=svg_text, zoom=scale))
    except ValueError as error:
        raise UsageError(f"the picture cannot be converted to PNG: {error}") from None
