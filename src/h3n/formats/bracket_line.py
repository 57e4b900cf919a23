"""Brackets on one line, straight from spans: what `h3n.formats.brackets` writes of their tree, without the tree."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from h3n.trees import HELPER, TOPS, TRACE, UNARY

_UNUSUAL = re.compile("[\0 \t\r\n()\ud800-\udfff]")  # to be escaped, or refused


def bracket_line(
    spans: Sequence[tuple[int, int, str]], words: Sequence[str], tags: Sequence[str], *, top: str | None
) -> str | None:
    """Return the line of these spans (start, end, label), which nest and stand in pre-order; helper spans are left out.

    None where a word, tag or label needs a closer look: the tree and its writer have that.
    """
    if not spans or "" in words or "" in tags or TRACE in tags or _UNUSUAL.search("".join([*words, *tags, top or ""])):
        return None
    cells = [f"({tag} {word})" for tag, word in zip(tags, words, strict=True)]
    for start, end, label in reversed(spans):  # an outer span comes after those inside it
        around = _around(label)
        if around is None:
            return None
        opening, closing = around
        if opening:
            cells[start] = opening + cells[start]
            cells[end - 1] += closing
    line = " ".join(cells)
    start, end, label = next((span for span in spans if span[2] != HELPER), (0, 0, ""))
    if (start, end) == (0, len(words)) and (top is None or label.split(UNARY)[0] in TOPS):
        return line
    if top == "":
        return f"( {line} )"
    return f"({'TOP' if top is None else top} {line})"


@lru_cache(maxsize=1 << 12)
def _around(label: str) -> tuple[str, str] | None:
    """Return what stands before and after the words of a span: one bracket for each label of a unary chain."""
    if label == HELPER:
        return "", ""
    chain = label.split(UNARY)
    if "" in chain or _UNUSUAL.search(label):
        return None
    return "".join(f"({name} " for name in chain), ")" * len(chain)
