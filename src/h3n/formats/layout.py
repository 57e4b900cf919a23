"""How the trees of a bracket file are spread over its lines."""

from __future__ import annotations

from h3n.formats.options import Layout

SAMPLE = 8192


def guess_layout(sample: str) -> Layout:
    """Return the layout of a file that begins with these lines.

    The answer rests on all of them, so that one damaged line among many does not change it.
    """
    lines = [line for line in sample.split("\n") if line.strip()]
    whole = sum(map(_is_one_tree, lines))
    continued = sum(line[0] in " \t" for line in lines)
    if whole == len(lines) or (not continued and 2 * whole >= len(lines)):
        return "lines"
    starts = sum(line[0] == "(" and not _is_one_tree(line) for line in lines)
    return "indented" if continued >= starts else "free"


def _is_one_tree(line: str) -> bool:
    """Return whether the line is one bracket from its first to its last character."""
    depth = 0
    text = line.strip()
    for at, character in enumerate(text, start=1):
        depth += (character == "(") - (character == ")")
        if depth <= 0:
            return depth == 0 and character == ")" and at == len(text)
    return False
