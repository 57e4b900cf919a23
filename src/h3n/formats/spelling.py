"""When two files mean the same word: one rule for every place where sentences of two files are put together.

The same word may be spelled in several ways, as bracket notation or the makers of a treebank had it: round brackets as
``-LRB-``, a blank inside a word as ``_`` or as a non-breaking space, a quotation mark in the Penn Treebank's way or as
it is printed. What differs in nothing else is the same word; the words of the sentence are those of the file with
dependencies, which holds them as they were written.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from h3n.formats.builder import unescape
from h3n.formats.options import BLANK
from h3n.trees import TRACE, Constituent, Leaf, map_leaves

_BLANK = re.compile(r"[\s_]")
_QUOTES = dict.fromkeys(("``", "''", "“", "”", "„", "«", "»"), '"') | dict.fromkeys(("`", "‘", "’"), "'")


def plain(word: str) -> str:
    """Return the spelling that all spellings of a word share."""
    if word.isalnum():
        return word
    return _BLANK.sub(BLANK, _QUOTES.get(word) or unescape(word, every=True))


def differing_word(left: Sequence[str], right: Sequence[str]) -> int | None:
    """Return the first word, counted from 0, that two sentences of the same length do not share, or None."""
    if left == right:
        return None
    differing = (at for at, (a, b) in enumerate(zip(left, right, strict=True)) if a != b and plain(a) != plain(b))
    return next(differing, None)


def same_words(left: Sequence[str], right: Sequence[str]) -> bool:
    """Return whether two sentences have the same words, however they are spelled."""
    return left == right or (len(left) == len(right) and differing_word(left, right) is None)


def respelled(tree: Constituent, words: Sequence[str]) -> Constituent:
    """Return the tree with these words where its own differ in no more than bracket notation needs; traces stay.

    So a quotation mark of the Penn Treebank stays as it is in the tree, and both files can be written again.
    """
    rest = iter(words)

    def spell(leaf: Leaf) -> Leaf:
        if leaf.tag == TRACE:
            return leaf
        word = next(rest)
        return Leaf(leaf.tag, word) if leaf.word == word or _in_brackets(leaf.word) == _in_brackets(word) else leaf

    return map_leaves(tree, spell)


def _in_brackets(word: str) -> str:
    return _BLANK.sub(BLANK, unescape(word))


def with_words(tree: Constituent, words: Sequence[str]) -> Constituent:
    """Return the tree with these words in place of its own; traces stay as they are."""
    rest = iter(words)
    return map_leaves(tree, lambda leaf: leaf if leaf.tag == TRACE else Leaf(leaf.tag, next(rest)))
