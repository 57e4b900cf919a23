"""Sentences from plain text: words, spacing, offsets.

Spacing is kept as CoNLL-U keeps it, in the column MISC: nothing for one space, `SpaceAfter=No` for none, and
`SpacesAfter=` or `SpacesBefore=`, in the notation of UDPipe (`\\s` space, `\\n` line end, `\\t`, `\\r`), for
anything else. So sentence after sentence the text can be put together again as it was, but for spacing at its very end.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import accumulate, pairwise, zip_longest
from typing import ClassVar

from h3n.text import blocks, boundaries
from h3n.text.blocks import Block
from h3n.text.tokens import Token, tokenize
from h3n.trees import MultiwordToken, Sentence

_ESCAPES = {" ": r"\s", "\n": r"\n", "\t": r"\t", "\r": r"\r"}
_UNESCAPES = {escape: space for space, escape in _ESCAPES.items()}
_START = re.compile(r"# start_char = *([0-9]+) *")
_BLANK = re.compile(r"\s")
_ESCAPE = re.compile(r"\\(?:[sntr]|u[0-9a-f]{4})")


class Segmenter(ABC):
    """What makes sentences and words of text: rules, or something learned. All of it streams."""

    name: ClassVar[str]  # by which a saved model names it

    @abstractmethod
    def cut(self, text: str, *, offset: int = 0) -> Iterable[Sequence[Token]]:
        """Return the tokens of each sentence of a block of text whose first character has this offset.

        Every visible character is in a token, in order; a block without any has no sentence.
        """

    def split(self, text: str | Iterable[str], *, newlines: str = "paragraph") -> Iterator[tuple[Token, ...]]:
        """Yield the tokens of one sentence after another, with their offsets in the text or in its pieces joined."""
        for block in blocks.blocks(text, newlines):
            for tokens in self.cut(block.text, offset=block.start):
                yield tuple(tokens)

    def segment(self, text: str | Iterable[str], *, newlines: str = "paragraph") -> Iterator[Sentence]:
        """Yield the sentences of a text, or of the pieces it comes in, such as the lines of an open file.

        Reads no further than the paragraph it is in. A blank line ends a paragraph; a line inside one is taken as
        wrapped unless it is a heading, an item of a list or the like. With ``newlines="sentence"`` every line end ends
        a sentence, as in tweets, headlines and subtitles; a line may still hold several.
        """
        number = 0
        newpar = False
        before: list[str] = []
        for block in blocks.blocks(text, newlines):
            newpar |= block.opens_paragraph
            parts = [*self.cut(block.text)]
            before.append(block.text[: parts[0][0].start] if parts else block.text)
            for tokens, following in zip_longest(parts, parts[1:]):
                number += 1
                after = block.text[tokens[-1].end : following[0].start if following else None]
                if not after and not following and block.ends_text:
                    after = " "  # CoNLL-U says nothing of what follows the last word of all
                yield _sentence(block, tokens, number=number, before="".join(before), after=after, newpar=newpar)
                newpar = False
                before.clear()

    def lines(self, text: str | Iterable[str]) -> Iterator[Sentence]:
        """Yield one sentence per line of the text, in order, empty for a blank line."""
        for number, line in enumerate(blocks.lines(text), start=1):
            tokens = [token for sentence in self.cut(line.text) for token in sentence]
            yield _sentence(line, tokens, number=number) if tokens else Sentence(words=())


class English(Segmenter):
    """Rules for English."""

    name = "english"

    def cut(self, text: str, *, offset: int = 0) -> Iterable[Sequence[Token]]:
        """Return the tokens of each sentence of a block of text whose first character has this offset."""
        return boundaries.sentences(tokenize(text, offset=offset))


ENGLISH = English()
SEGMENTERS: dict[str, Segmenter] = {ENGLISH.name: ENGLISH}  # those that are rules
split, segment, lines = ENGLISH.split, ENGLISH.segment, ENGLISH.lines


def words(text: str | Iterable[str]) -> Iterator[Sentence]:
    """Yield one sentence per line of the text, in order: its words are what stands between white space."""
    for line in blocks.lines(text):
        yield Sentence(words=tuple(line.text.split()))


def named(sentence: Sentence, name: str) -> Sentence:
    """Return the sentence with the comments that CoNLL-U asks for, where they are missing: `sent_id` and `text`."""
    if not sentence.words:
        return sentence
    comments = list(sentence.comments)
    if sentence.sent_id is None:
        comments.append(f"# sent_id = {as_name(name)}")
    return with_text(replace(sentence, comments=tuple(comments)))


def as_name(name: str) -> str:
    """Return a name as it may stand in `sent_id`, which has no blanks, and `/` for parallel treebanks alone."""
    return "_".join(name.split()).replace("/", ":")


def with_text(sentence: Sentence) -> Sentence:
    """Return the sentence with a comment that says how it was written; of words alone, with blanks between them."""
    if not sentence.words or any(line.startswith("# text =") for line in sentence.comments):
        return sentence
    line = " ".join(spelled(sentence).split())  # of a word with a line end in it, too, no other format has room for
    return replace(sentence, comments=(*sentence.comments, f"# text = {line}"))


def offsets(sentence: Sentence) -> tuple[tuple[int, int], ...]:
    """Return where each word of a sentence from `segment` or `lines` starts and ends in the text.

    The words of `don't` share its characters out among them; where they do not spell what is written (`zum` from `zu`
    and `dem`), each has all of it. Without `# start_char` counting starts at 0.
    """
    starts = (_START.fullmatch(line) for line in sentence.comments)
    at = next((int(match[1]) for match in starts if match), 0)
    found: list[tuple[int, int]] = []
    for first, end, form, gap in tokens_of(sentence):
        spelled = list(accumulate(map(len, sentence.words[first:end]), initial=at))
        shared = "".join(sentence.words[first:end]) == form
        found.extend(pairwise(spelled) if shared else [(at, at + len(form))] * (end - first))
        at += len(form) + len(gap)
    return tuple(found)


def written(sentence: Sentence) -> str:
    """Return the sentence as it was written: its `# text`, or its words with their spacing."""
    given = (line.partition("=")[2].strip() for line in sentence.comments if line.startswith("# text ="))
    return next(given, None) or spelled(sentence)


def spelled(sentence: Sentence) -> str:
    """Return the words with their spacing, whatever the comments say."""
    return "".join(form + gap for _, _, form, gap in tokens_of(sentence)).rstrip()


def tokens_of(sentence: Sentence) -> Iterator[tuple[int, int, str, str]]:
    """Yield what is written in one piece: its first word, the one after its last, how it is spelled, what follows."""
    multiword = {insert.start: insert for insert in sentence.inserts if isinstance(insert, MultiwordToken)}
    misc = sentence.misc or ("_",) * len(sentence)
    word = 0
    while word < len(sentence):
        end, form, column = word + 1, sentence.words[word], misc[word]
        if (token := multiword.get(word)) is not None:
            end, form, column = min(token.end, len(sentence)), token.form, token.misc
        yield word, end, form, _gap(column)
        word = end


def _sentence(
    block: Block, tokens: Sequence[Token], *, number: int, before: str = "", after: str = " ", newpar: bool = False
) -> Sentence:
    """Return the sentence of these tokens, whose offsets are those in the block."""
    forms: list[str] = []
    misc: list[str] = []
    inserts: list[MultiwordToken] = []
    written: list[str] = []
    for index, token in enumerate(tokens):
        gap = block.text[token.end : tokens[index + 1].start] if index + 1 < len(tokens) else after
        form = _BLANK.sub(" ", token.text)  # a word may go over a line end where words have blanks inside
        column = _column("" if index else before, gap)
        if len(token.words) > 1:
            inserts.append(MultiwordToken(len(forms), len(forms) + len(token.words), form, column))
            column = "_"
        forms.extend(token.words)
        misc.extend([column] * len(token.words))
        written.append(form if not gap else form + " ")
    comments = (
        *(["# newdoc"] if newpar and number == 1 else []),
        *(["# newpar"] if newpar else []),
        f"# sent_id = {number}",
        f"# start_char = {block.start + tokens[0].start}",
        f"# text = {''.join(written).rstrip(' ')}",
    )
    columns = tuple(misc) if any(column != "_" for column in misc) else None
    return Sentence(words=tuple(forms), misc=columns, comments=comments, inserts=tuple(inserts))


def _column(before: str, after: str) -> str:
    """Return the column MISC of a word between these stretches of spacing."""
    if not before and after in {"", " "}:
        return "_" if after else "SpaceAfter=No"
    parts = [f"SpacesBefore={_escaped(before)}"] if before else []
    if not after:
        parts.append("SpaceAfter=No")
    elif after != " ":
        parts.append(f"SpacesAfter={_escaped(after)}")
    return "|".join(parts)


def _escaped(spacing: str) -> str:
    return "".join(_ESCAPES.get(space) or f"\\u{ord(space):04x}" for space in spacing)


def _gap(column: str) -> str:
    """Return the spacing after a word with this column MISC."""
    for part in column.split("|"):
        if part == "SpaceAfter=No":
            return ""
        if part.startswith("SpacesAfter="):
            return _ESCAPE.sub(_unescape, part.removeprefix("SpacesAfter="))
    return " "


def _unescape(match: re.Match[str]) -> str:
    return _UNESCAPES.get(match.group()) or chr(int(match.group()[2:], 16))
