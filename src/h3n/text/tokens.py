"""Tokens with their offsets, from a stretch of text."""

from __future__ import annotations

import re
from dataclasses import dataclass

from h3n.text import english
from h3n.text.runs import SPACING, take_apart

_RUN = re.compile(rf"[^{SPACING}]+")
_QUOTES = frozenset("'’‘")
_LIST_NUMBER = re.compile(r"\d{1,3}|\d(?:\.\d{1,2})+|[ivx]{1,4}|[a-zA-Z]")
_DEGREES = frozenset("°º")
_BEFORE_LISTS = frozenset({"", ".", "?", "!", ":", ";"})


@dataclass(frozen=True, slots=True)
class Token:
    """What is written in one piece, ``text[start:end]`` of the whole text, and the syntactic words it is written from.

    One word as a rule; `don't` is written from `do` and `n't`. English words joined are the token; German `zum` is
    written from `zu` and `dem`. A word may have blanks inside, where the text may have a line end.
    """

    text: str
    start: int
    end: int
    words: tuple[str, ...]


def tokenize(text: str, *, offset: int = 0) -> list[Token]:
    """Return the tokens of a stretch of text whose first character has this offset."""
    runs = [(match.start() + offset, match.group()) for match in _RUN.finditer(text)]
    tokens: list[Token] = []
    for number, (at, run) in enumerate(runs):
        pieces = take_apart(run)
        for start, end, words in pieces:
            tokens.append(Token(run[start:end], at + start, at + end, words))
        if len(pieces) > 1 and tokens[-1].text in {".", ")"}:
            following = runs[number + 1][1] if number + 1 < len(runs) else ""
            if following and _belongs(tokens, following):
                _merge(tokens)
    return _with_apostrophes(tokens) if "'" in text or "’" in text else tokens


def _merge(tokens: list[Token]) -> None:
    right, left = tokens.pop(), tokens.pop()
    words = (*left.words[:-1], left.words[-1] + right.text)
    tokens.append(Token(left.text + right.text, left.start, right.end, words))


def _belongs(tokens: list[Token], following: str) -> bool:
    """Return whether the mark at the end belongs to the token before it, given the run of characters that follows."""
    word = tokens[-2].text
    before = tokens[-3].text if len(tokens) > 2 else ""
    if before in _BEFORE_LISTS and _LIST_NUMBER.fullmatch(word):
        return not before or tokens[-1].text == "."
    if tokens[-1].text == ")":
        return False
    if word in english.BEFORE_NUMBERS:
        if following[0].islower():  # "last Wed. we met", but "No. we did not"
            return word[0].isupper() and (word != "No" or following == "of")
        return following[0].isdigit() or _opens(tokens[-3:-1])
    if word in english.MEASURES and before[:1].isdigit():
        return following[0].islower()
    if before in _DEGREES:
        return False
    return len(word) == 1 and word.isupper() and word != "I" and _follows_initial(before, following)


def _opens(tokens: list[Token]) -> bool:
    """Return whether the second token stands right after an opening bracket: `(b. March 2009)`."""
    return len(tokens) == 2 and tokens[0].text == "(" and tokens[0].end == tokens[1].start


def _follows_initial(before: str, following: str) -> bool:
    """Return whether a capital and a full stop between these two are an initial: a name goes on, or came before."""
    return following[0].isalpha() or following[0] == "&" or (len(before) == 2 and before[1] == "." and before.isupper())


def _with_apostrophes(tokens: list[Token]) -> list[Token]:
    """Return the tokens, an apostrophe that closes no quotation joined to its word: `the girls' school`."""
    result: list[Token] = []
    quoted = False
    for index, token in enumerate(tokens):
        if token.text in _QUOTES:
            attached = bool(result) and result[-1].end == token.start and result[-1].text[-1].isalnum()
            if not attached:
                quoted = index + 1 < len(tokens) and tokens[index + 1].start == token.end
            elif quoted:
                quoted = False
            elif result[-1].text[-1] in "sSxz":
                left = result.pop()
                result.append(Token(left.text + token.text, left.start, token.end, (*left.words, token.text)))
                continue
        result.append(token)
    return result
