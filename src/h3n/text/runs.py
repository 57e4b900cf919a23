"""A run of characters without spacing, taken apart: `"don't!"` is a quotation mark, a token of two words, two marks.

What a run is taken apart into hardly ever depends on its neighbours, so the answer for a run is computed once and
remembered. The few doubts that neighbours settle are left to `h3n.text.tokens`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import accumulate, compress, pairwise
from typing import TypeAlias
from unicodedata import category

from h3n.text import english

Piece: TypeAlias = tuple[int, int, tuple[str, ...]]
"""Start, end and words of a token inside its run. The words spell the token: joined they are its characters."""


def _ranges(codes: Iterable[int]) -> str:
    """Return the inside of a character class that holds these code points."""
    runs: list[list[int]] = []
    for code in codes:
        if runs and code == runs[-1][1] + 1:
            runs[-1][1] = code
        else:
            runs.append([code, code])
    return "".join(f"\\u{first:04x}-\\u{last:04x}" for first, last in runs)


# White space, control characters, byte order marks, zero-width spaces and halves of surrogate pairs: never in a token.
SPACING = r"\s\x00-\x1f\x7f-\x9f\u200b\ufeff\ud800-\udfff"
# Python's \w leaves out combining marks and invisible format characters, which stand inside words all the same.
_CODES = [code for code in range(0x300, 0xFE30) if code != 0x200B]
_KINDS = map(category, map(chr, _CODES))
_MARKS = _ranges(compress(_CODES, map({"Mn", "Mc", "Me", "Cf"}.__contains__, _KINDS)))
_W = rf"[\w\xad{_MARKS}]"
_END = r"(?!\w)"
_START = r"(?<!\w)"
_EMOJI = (
    "[\u2190-\u21ff\u2300-\u23ff\u2460-\u27bf\u2900-\u297f\u2b00-\u2bff\u3030\u303d\u3297\u3299\U0001f000-\U0001faff]"
)
_TOUCH = "[\ufe0f\u20e3\U0001f3fb-\U0001f3ff\U000e0020-\U000e007f]"
_UNIT = "|".join(re.escape(unit) for unit in sorted(english.UNITS, key=len, reverse=True))
_CLIPPED = "|".join(sorted(english.CLIPPED))
_DOMAIN = "|".join(sorted(english.TOP_DOMAINS))
# Inside an address: `/wiki/Cake_(band)`. A bracket that closes none of the address's own ends it, as marks do.
_BRACKETED = r"\([^\s()]{0,200}\)"
_LAST = r"""[^\s.,;:!?'"”’()\]>»]"""
_NOT_LAST = r"""[.,;:!?'"”’\]>»]"""

# Tried in this order at each position. What one attempt looks at and does not take is bounded, or no other attempt can
# begin in it: so each character is looked at a bounded number of times (benchmarks/segmentation_growth.py). Repetitions
# that nothing has to be given back from are possessive, which spares the stack to go back by.
_PIECE = re.compile(
    rf"""
      (?P<whole>
        (?:(?:https?|ftps?)://|www\.|doi:|mailto:|{_START}[A-Za-z]:\\)(?:{_NOT_LAST}*+(?:{_LAST}++|{_BRACKETED}))++
      | [\w.+%-]{{1,64}}@[\w-]{{1,63}}(?:\.[\w-]{{1,63}}){{0,8}}
      | {_START}[\w.-]{{1,63}}==\d[\w.]{{0,30}}{_END}
      | {_START}(?:[\w-]{{1,63}}\.){{1,6}}(?:{_DOMAIN})
        (?:/(?:[^\s"”’()\]>»]|{_BRACKETED}){{0,500}}(?:{_LAST}|{_BRACKETED}))?(?![\w@-])
      | {_START}(?:[:;=][-']?[)(DPpO|/\\3*\]\[]+|<3|\^_+\^|-_+-){_END}
      | [\U0001f1e6-\U0001f1ff]{{2}} | [0-9#*]\ufe0f?\u20e3
      | {_EMOJI}{_TOUCH}*+(?:\u200d{_EMOJI}{_TOUCH}*+)*+
      | {_START}(?:Ph|Ed|Litt|[DMB])\.(?:D|Sc|Phil|Ed|Litt|Eng){_END}\.?
      | {_START}[^\W\d_](?:\.[^\W\d_]{_END})++\.?
      | {_START}\+\d[\d-]*{_END}
      | {_START}(?:\d-)?(?:\d{{3}}[-/])?\d{{3}}-\d{{4}}(?![\w-]) | {_START}\d{{5}}-\d{{4}}(?![\w-])
      | {_START}(?:\d{{4}}-\d\d-\d\d|\d\d?-\d\d?-\d\d(?:\d\d)?)(?![\w-])
      | {_START}\d*0['’]s{_END} | {_START}[nN]['’]{_END} | \A\([a-z]\)\Z
      | {_START}['’](?:\d\d(?:['’]?s)?|(?i:{_CLIPPED})){_END}
      | {_START}[#@][^\W\d]\w*
      | {_START}(?:US|AU|NZ|HK|CA|[ACS])\$
      | {_START}(?>(?:\d+|(?=\.\d))(?:,\d{{3}}(?!\d)|[.:/]\d+){{0,50}})
        (?:(?:st|nd|rd|th|s)?{_END}|(?=(?:{_UNIT}){_END}))(?!['’]s{_END})
      | {_W}++\((?:s|es)\){_END}
      | (?P<run>[-=*_~\#+<>|.–—])(?P=run)++ | [!?]{{2,}} | ``
      )
    | (?P<word> {_W}++(?:[-'’&/.]{_W}++)*+(?:-(?!-))? )
    | .
    """,
    re.VERBOSE | re.DOTALL,
)
_JOINTS = re.compile(r"[-/.&]")
_CONTRACTION = re.compile(r"(?:n['’]t|['’](?:s|re|m|ve|ll|d))$", re.IGNORECASE)
_LONGEST_CONTRACTION = 3


def take_apart(run: str) -> tuple[Piece, ...]:
    """Return the tokens of a run of characters in which there is no spacing."""
    return _remembered(run) if len(run) <= 40 else _take_apart(run)


@lru_cache(maxsize=1 << 16)
def _remembered(run: str) -> tuple[Piece, ...]:
    return _take_apart(run)


def _take_apart(run: str) -> tuple[Piece, ...]:
    if run.isalpha() and run.lower() not in english.JOINED:
        return ((0, len(run), (run,)),)
    pieces: list[Piece] = []
    for match in _PIECE.finditer(run):
        start, end = match.span()
        if match.lastgroup != "word":
            pieces.append((start, end, (run[start:end],)))
        else:
            for inner_start, inner_end in _parts(match.group()):
                at, to = start + inner_start, start + inner_end
                pieces.append((at, to, _words(run[at:to])))
    return tuple(_with_stops(pieces))


def _parts(word: str) -> Iterator[tuple[int, int]]:
    """Yield where the tokens of a word with hyphens, slashes, stops and ampersands inside begin and end."""
    start = 0
    joints = [match.start() for match in _JOINTS.finditer(word)]
    for at, following in pairwise((*joints, len(word))):
        if _holds(word, start, at, following):
            continue
        if at > start:
            yield start, at
        yield at, at + 1
        start = at + 1
    if start < len(word):
        yield start, len(word)


def _holds(word: str, start: int, at: int, end: int) -> bool:
    """Return whether the joint at this position binds its two sides: from ``start`` to it, from it to ``end``."""
    left = word[max(start, at - 40) : at]  # a longer side is in no table, and a copy of it each time would be slow
    right = word[at + 1 : end]
    match word[at]:
        case "-":
            return _hyphen_holds(left, right, start)
        case "/":
            return left[:1].isdigit() or right[:1].isdigit() or f"{left}/{right}".lower() in english.SLASHED
        case ".":
            if _has_stop(left) or (left in english.BEFORE_NUMBERS and right[:1].isdigit()):
                return False
            return right[:1].islower() or right[:1].isdigit()
        case _:
            return left.isupper() and right.isupper()


def _hyphen_holds(left: str, right: str, start: int) -> bool:
    if not right:  # broken off: "I was th- thinking"
        return left.isalpha() and len(left) <= 4
    nearest = left.rsplit("-", 1)[-1].lower()
    if start == 0 and nearest in english.PREFIXES and (len(left) == 1 or not left.isupper()):
        return True
    return right.lower() in english.SUFFIXES or (nearest in english.CRIES and right.lower() in english.CRIES)


def _has_stop(word: str) -> bool:
    return word in english.ABBREVIATIONS or word in english.BEFORE_NAMES


def _with_stops(pieces: list[Piece]) -> Iterator[Piece]:
    """Yield the pieces, abbreviations with the full stop that follows them."""
    index = 0
    while index < len(pieces):
        start, end, words = pieces[index]
        index += 1
        if index < len(pieces) and pieces[index][2] == (".",):
            following = pieces[index + 1][2][0] if index + 1 < len(pieces) else ""
            if _takes_stop(words[-1], following):
                end = pieces[index][1]
                words = (*words[:-1], words[-1] + ".")
                index += 1
        yield start, end, words


def _takes_stop(word: str, following: str) -> bool:
    if word in english.BEFORE_NUMBERS:
        return following[:1].isdigit()
    return _has_stop(word) or (len(word) == 1 and word.isupper() and following in {";", ",", ":"})


def _words(token: str) -> tuple[str, ...]:
    """Return the words that a token is written from: `do` and `n't`."""
    if lengths := english.JOINED.get(token.lower()):
        ends = list(accumulate(lengths))
        return tuple(token[end - length : end] for end, length in zip(ends, lengths, strict=True))
    words: list[str] = []
    end = len(token)
    while (match := _CONTRACTION.search(token, max(0, end - _LONGEST_CONTRACTION), end)) and match.start():
        words.append(match.group())
        end = match.start()
    return (token[:end], *reversed(words))
