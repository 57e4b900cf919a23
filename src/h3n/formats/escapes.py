"""Brackets inside words: what the Penn Treebank writes for them.

Round brackets are always escaped, anywhere inside a word, since bracket notation needs it. The other escapes of the
Penn Treebank are undone and made on request only: most treebanks do not use them.
"""

from __future__ import annotations

import re

ROUND = {"-LRB-": "(", "-RRB-": ")"}
ALL = ROUND | {"-LCB-": "{", "-RCB-": "}", "-LSB-": "[", "-RSB-": "]", "\\/": "/", "\\*": "*"}

_UNESCAPE = {False: ROUND, True: ALL}
_ESCAPE = {every: {word: escape for escape, word in table.items()} for every, table in _UNESCAPE.items()}
_ESCAPED = {every: re.compile("|".join(map(re.escape, table))) for every, table in _UNESCAPE.items()}
_RAW = {every: re.compile("|".join(map(re.escape, table))) for every, table in _ESCAPE.items()}


def unescape(word: str, *, every: bool = False) -> str:
    """Return the word as it is written in running text."""
    if "-" not in word and "\\" not in word:  # nearly every word, and much faster than to search for all escapes
        return word
    return _ESCAPED[every].sub(lambda match: _UNESCAPE[every][match[0]], word)


def escape(word: str, *, every: bool = False) -> str:
    """Return the word as it may stand inside brackets: the inverse of `unescape`."""
    return _RAW[every].sub(lambda match: _ESCAPE[every][match[0]], word)
