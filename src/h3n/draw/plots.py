"""Small plots as plain SVG, to stand inside a page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape


def bar_plot(bars: Sequence[tuple[str, float, str]], *, whole: float | None = None) -> str:
    """Return level bars as SVG: name, value and what stands behind the bar; ``whole`` is the value of a full bar."""
    most = whole or max((value for _, value, _ in bars), default=0.0) or 1.0
    height, left, width = 22, 190, 260
    lines = [_open(left + width + 80, height * len(bars) + 4)]
    for row, (name, value, shown) in enumerate(bars):
        y = row * height
        size = width * value / most
        lines.append(f'<text x="{left - 8}" y="{y + 15}" text-anchor="end">{escape(name)}</text>')
        lines.append(f'<rect x="{left}" y="{y + 3}" width="{size:.1f}" height="{height - 7}" fill="#2563eb"/>')
        lines.append(f'<text x="{left + size + 6:.1f}" y="{y + 15}">{escape(shown)}</text>')
    return "".join([*lines, "</svg>"])


def interval_plot(intervals: Mapping[str, tuple[float, float, float]]) -> str:
    """Return intervals (low, middle, high) as SVG, with a line at 0."""
    far = max((abs(end) for low, _, high in intervals.values() for end in (low, high)), default=0.0) or 1.0
    height, left, half = 26, 70, 150
    middle = left + half
    lines = [_open(left + 2 * half + 20, height * len(intervals) + 4)]
    bottom = height * len(intervals)
    lines.append(f'<line x1="{middle}" x2="{middle}" y1="0" y2="{bottom}" stroke="#9ca3af" stroke-dasharray="3 3"/>')
    for row, (name, ends) in enumerate(intervals.items()):
        y = row * height + height / 2
        low, centre, high = (middle + half * end / far for end in ends)
        lines.append(f'<text x="{left - 20}" y="{y + 4}" text-anchor="end">{escape(name)}</text>')
        lines.append(f'<line x1="{low:.1f}" x2="{high:.1f}" y1="{y}" y2="{y}" stroke="#2563eb" stroke-width="3"/>')
        lines.append(f'<circle cx="{centre:.1f}" cy="{y}" r="4" fill="#1e3a8a"/>')
    return "".join([*lines, "</svg>"])


def _open(width: float, height: float) -> str:
    size = f'width="{width}" height="{height}" viewBox="0 0 {width} {height}"'
    return f'<svg xmlns="http://www.w3.org/2000/svg" role="img" {size} font-size="12" fill="#111827">'
