"""Where sentences end, from the tokens of a paragraph."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from h3n.text import english
from h3n.text.tokens import Token

LONGEST = 500
"""Tokens in a sentence at most: a longer one is not a sentence but a table or the like, and is cut."""

_ENDING = frozenset(".!?…。！？｡")
_MARKS = re.compile(r"[.!?…]+|[。！？｡]+")
_CLOSERS = frozenset("\"'”’»)]}")
_CLOSING_QUOTES = frozenset("\"'”’»")
_OPENERS = frozenset("\"'“‘«([{")
_DASHES = frozenset({"—", "–", "--"})
_SMILE = re.compile(r"[:;=][-']?[)(DPpO|/\\3*]+|\^_+\^|<3")
_GOES_ON = frozenset({"—", "–", "-", "--", "...", "…", ",", ";", ":", "/", ")", "]"})
_LIST_NUMBER = re.compile(r"[\d.]+\.")
_LONGEST_DATELINE = 7  # tokens
_CUTS = frozenset({",", ";", ":", ".", "?", "!", "—", "–", "--", ")", "|"})


def sentences(tokens: Sequence[Token]) -> Iterator[Sequence[Token]]:
    """Yield the tokens of one sentence after another; every token is in one of them."""
    start = index = 0
    while index < len(tokens):
        ended, index = _ends(tokens, start, index)
        if index - start > LONGEST - (not ended):
            ended, index = True, _cut(tokens, start, start + LONGEST)
        if ended:
            yield tokens[start:index]
            start = index
    if start < len(tokens):
        yield tokens[start:]


def shortened(tokens: Sequence[Token]) -> Iterator[Sequence[Token]]:
    """Yield the tokens of a sentence, in several where it is too long."""
    while len(tokens) > LONGEST:
        end = _cut(tokens, 0, LONGEST)
        yield tokens[:end]
        tokens = tokens[end:]
    yield tokens


def _cut(tokens: Sequence[Token], start: int, end: int) -> int:
    """Return where to cut a sentence that is too long: after a mark in its second half, if there is any."""
    middle = (start + end) // 2
    return next((at for at in range(end, middle, -1) if tokens[at - 1].text in _CUTS), end)


def _ends(tokens: Sequence[Token], start: int, index: int) -> tuple[bool, int]:
    """Return whether the sentence that began at ``start`` ends with the token at ``index``, and where to go on."""
    token = tokens[index]
    if token.text[-1] not in _ENDING:
        return _ends_without_stop(tokens, start, index), index + 1
    after = _after_closers(tokens, index + 1)
    if after == len(tokens):
        return True, after
    if _MARKS.fullmatch(token.text):
        return _is_new(tokens, index, after), after
    return _is_new_after_abbreviation(token.text, tokens[after]), after


def _ends_without_stop(tokens: Sequence[Token], start: int, index: int) -> bool:
    """Return whether a speaker broke off, a smile stands for a full stop, or a figure's number for a heading."""
    if index + 1 == len(tokens) or tokens[index].end == tokens[index + 1].start:
        return False
    text, following = tokens[index].text, tokens[index + 1].words[0]
    if text in _DASHES:
        return following in english.STARTERS and following != "I" and not _is_dateline(tokens[start:index])
    if index == start + 1 and tokens[start].text in {"Figure", "Table"}:
        return text[0].isdigit() and following[0].isupper()
    return following[0].isupper() and _SMILE.fullmatch(text) is not None


def _is_dateline(tokens: Sequence[Token]) -> bool:
    """Return whether these are the place that a report comes from: `BAGHDAD, Iraq`, `LONDON (Reuters)`."""
    return 0 < len(tokens) <= _LONGEST_DATELINE and len(tokens[0].text) > 2 and tokens[0].text.isupper()


def _after_closers(tokens: Sequence[Token], index: int) -> int:
    """Return the index after what still belongs to a sentence: closing marks, smiles, references like [12]."""
    end = min(len(tokens), index + LONGEST)
    while index < end:
        text = tokens[index].text
        attached = tokens[index].start == tokens[index - 1].end
        if (
            (attached and (text in _CLOSERS or _MARKS.fullmatch(text)))
            or text in {".", "?", "!"}
            or (text == "»" and (index + 1 == len(tokens) or tokens[index + 1].start > tokens[index].end))
            or _SMILE.fullmatch(text)
        ):
            index += 1
        elif text == "[" and (close := _closing(tokens, index)):
            index = close + 1
        else:
            break
    return index


def _closing(tokens: Sequence[Token], index: int) -> int:
    """Return the index of the bracket that closes a short reference, 0 if there is none."""
    nearby = range(index + 1, min(len(tokens), index + 7))
    return next((close for close in nearby if tokens[close].text == "]"), 0)


def _is_new(tokens: Sequence[Token], index: int, after: int) -> bool:
    """Return whether a sentence begins at ``after``, the one before having ended in the marks from ``index`` on."""
    mark, text = tokens[index].text, tokens[after].text
    if tokens[after - 1].end == tokens[after].start:
        return after == index + 1 and _is_new_without_space(tokens, index)
    closed = after > index + 1
    if text[0].isupper():
        quotation = closed and tokens[after - 1].text in _CLOSING_QUOTES
        return not (quotation and mark != "." and _reports(tokens, after))
    if text[0].islower():
        return not closed and (mark == "." or mark[0] in "!?")
    if text in _OPENERS:
        return mark == "." or text != "("
    return text not in _GOES_ON


def _is_new_without_space(tokens: Sequence[Token], index: int) -> bool:
    mark, following = tokens[index].text, tokens[index + 1].text
    if mark[0] in "。！？｡":
        return True
    before = tokens[index - 1].text if index else ""
    if len(before) < 2 or not following[0].isalpha():
        return False
    return mark[0] in "!?" or (mark == "." and before.islower() and following[0].isupper())


def _reports(tokens: Sequence[Token], index: int) -> bool:
    """Return whether `Pete said` or `I asked` begins here: the quotation before it is part of that sentence."""
    return any(token.text in english.REPORTING for token in tokens[index + 1 : index + 3])


def _is_new_after_abbreviation(abbreviation: str, following: Token) -> bool:
    if abbreviation == "St." and following.text in english.STARTERS:  # a street: no saint is called `The`
        return True
    if len(abbreviation) == 2 or abbreviation[:-1] in english.BEFORE_NAMES or abbreviation in {"P.S.", "e.g.", "i.e."}:
        return False
    return following.words[0] in english.STARTERS and not _LIST_NUMBER.fullmatch(abbreviation)
