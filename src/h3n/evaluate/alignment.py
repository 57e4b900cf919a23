"""Words of two cuts of one text, aligned by the characters they cover.

Two versions of one text, read side by side and cut into parts that can be scored on their own.

A part ends where both sides end a sentence with the same token. No arc crosses such a place, and the alignment, which
may take in words left over from before a multiword token, is through with both sides there. So the counts of the parts
add up to those of the whole files, to the last word as the official scorer aligns them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from h3n.errors import EmptyField, MismatchError, Place
from h3n.trees import ROOT, MultiwordToken, Sentence

NOT_ALIGNED = -2  # not -1, which is the governor of a root word
UNIVERSAL_FEATURES = frozenset(
    {"Abbr", "Animacy", "Aspect", "Case", "Definite", "Degree", "Evident", "Foreign", "Gender", "Mood", "NumType"}
    | {"Number", "Person", "Polarity", "Polite", "Poss", "PronType", "Reflex", "Tense", "VerbForm", "Voice"}
)
# Unicode category Zs: a word may hold blanks, which another cut may not see.
_BLANKS = re.compile("[\u0020\u00a0\u1680\u2000-\u200a\u202f\u205f\u3000]")


@dataclass(slots=True)
class Text:
    """Sentences in a row, one list per column over all their words; words and characters are numbered throughout.

    A word of a multiword token covers all the characters of the token. ``before`` counts the sentences of the file that
    come before these.
    """

    before: int = 0
    characters: list[str] = field(default_factory=list)
    tokens: list[tuple[int, int]] = field(default_factory=list)
    sentences: list[tuple[int, int]] = field(default_factory=list)
    places: list[Place | None] = field(default_factory=list)
    stretches: list[tuple[int, int]] = field(default_factory=list)
    in_multiword: list[bool] = field(default_factory=list)
    forms: list[str] = field(default_factory=list)
    upos: list[str] = field(default_factory=list)
    xpos: list[str] = field(default_factory=list)
    features: list[str] = field(default_factory=list)
    lemmas: list[str] = field(default_factory=list)
    governors: list[int] = field(default_factory=list)
    relations: list[str] = field(default_factory=list)

    def _token(self, form: str) -> tuple[int, int]:
        start = self.tokens[-1][1] if self.tokens else 0
        self.characters.append(form)
        self.tokens.append((start, start + len(form)))
        return self.tokens[-1]


def text_of(sentences: Iterable[Sentence], side: str, *, before: int = 0) -> Text:
    """Return the sentences as one text; ``side`` and the number of sentences ``before`` them name them in errors."""
    text = Text(before)
    for sentence in sentences:
        if sentence.dependencies is None:
            raise MismatchError(f"{sentence.place or side}: the {side} sentence has no dependencies to score")
        first_word, first_token = len(text.forms), len(text.tokens)
        _add_words(text, sentence)
        dependencies, blank = sentence.dependencies, ("_",) * len(sentence)
        text.upos += sentence.upos or blank
        text.xpos += sentence.tags or blank
        text.lemmas += sentence.lemmas or blank
        text.features += map(_universal, sentence.features or blank)
        text.governors += [ROOT if word == ROOT else first_word + word for word in dependencies.governors]
        text.relations += [relation.split(":")[0] for relation in dependencies.relations]
        if len(text.tokens) > first_token:
            text.sentences.append((text.tokens[first_token][0], text.tokens[-1][1]))
            text.places.append(sentence.place)
    return text


def _universal(features: str) -> str:
    return "|".join(sorted(one for one in features.split("|") if one.split("=", 1)[0] in UNIVERSAL_FEATURES))


def _add_words(text: Text, sentence: Sentence) -> None:
    word = 0
    for form, size in tokens_of(sentence):
        stretch = text._token(form)
        words = sentence.words[word : word + max(size, 1)]
        inside = size > 0
        text.forms += [(one if inside else _BLANKS.sub("", one)).lower() for one in words]
        text.stretches += [stretch] * len(words)
        text.in_multiword += [inside] * len(words)
        word += len(words)


def tokens_of(sentence: Sentence) -> Iterator[tuple[str, int]]:
    """Yield the form of each token without blanks, and the number of its words if it is a multiword token, else 0."""
    multiword = {
        insert.start: (insert.form, insert.end - insert.start)
        for insert in sentence.inserts
        if isinstance(insert, MultiwordToken)
    }
    word = 0
    while word < len(sentence):
        form, size = multiword.get(word, (sentence.words[word], 0))
        characters = _BLANKS.sub("", form)
        if not characters:
            place = sentence.place or Place("<sentence>", 1)
            raise EmptyField(place, f"word {word + 1} {form!r} has no characters to align", "a form with characters")
        yield characters, size
        word += max(size, 1)


def align(gold: Text, predicted: Text) -> list[int]:
    """Return for each predicted word the gold word it is aligned with, or `NOT_ALIGNED`."""
    check_characters(gold, predicted)
    partner = [NOT_ALIGNED] * len(predicted.forms)
    one = other = 0
    while one < len(gold.forms) and other < len(predicted.forms):
        if gold.in_multiword[one] or predicted.in_multiword[other]:
            start, start_too, one, other = _multiword_region(gold, predicted, one, other)
            _align_forms(gold.forms[start:one], predicted.forms[start_too:other], start, start_too, partner)
        elif gold.stretches[one] == predicted.stretches[other]:
            partner[other] = one
            one, other = one + 1, other + 1
        elif gold.stretches[one][0] <= predicted.stretches[other][0]:
            one += 1
        else:
            other += 1
    return partner


def _multiword_region(gold: Text, predicted: Text, one: int, other: int) -> tuple[int, int, int, int]:
    """Return the first words of a region of multiword tokens on both sides, and the first words after it.

    The region takes in, in the order of their start and gold first, all words that begin before its end; a multiword
    token among them moves its end.
    """
    if gold.in_multiword[one]:
        begin, end = gold.stretches[one]
        other += not predicted.in_multiword[other] and predicted.stretches[other][0] < begin
    else:
        begin, end = predicted.stretches[other]
        one += gold.stretches[one][0] < begin
    start, start_too = one, other
    while _reaches(gold, one, end) or _reaches(predicted, other, end):
        gold_next = one < len(gold.forms) and (
            other >= len(predicted.forms) or gold.stretches[one][0] <= predicted.stretches[other][0]
        )
        text, word = (gold, one) if gold_next else (predicted, other)
        if text.in_multiword[word]:
            end = max(end, text.stretches[word][1])
        one, other = one + gold_next, other + (not gold_next)
    return start, start_too, one, other


def _reaches(text: Text, word: int, end: int) -> bool:
    """Return whether a word belongs to a region up to ``end``: a plain word must lie inside, a multiword one begin."""
    if word >= len(text.forms):
        return False
    first, last = text.stretches[word]
    return first < end if text.in_multiword[word] else last <= end


def _align_forms(gold: list[str], predicted: list[str], start: int, start_too: int, partner: list[int]) -> None:
    """Align the words of a longest common subsequence of forms, gold words passed over first."""
    if not gold or not predicted:
        return
    width = len(predicted)
    longest = [[0] * (width + 1) for _ in range(len(gold) + 1)]
    for row in reversed(range(len(gold))):
        for column in reversed(range(width)):
            longest[row][column] = (
                longest[row + 1][column + 1] + 1
                if gold[row] == predicted[column]
                else max(longest[row + 1][column], longest[row][column + 1])
            )
    row = column = 0
    while row < len(gold) and column < width:
        if gold[row] == predicted[column]:
            partner[start_too + column] = start + row
            row, column = row + 1, column + 1
        elif longest[row][column] == longest[row + 1][column]:
            row += 1
        else:
            column += 1


def check_characters(gold: Text, predicted: Text) -> None:
    """Raise `MismatchError` unless both texts have the same characters."""
    wanted, found = "".join(gold.characters), "".join(predicted.characters)
    if wanted == found:
        return
    at = next(
        (index for index, (one, other) in enumerate(zip(wanted, found, strict=False)) if one != other),
        min(len(wanted), len(found)),
    )
    raise MismatchError(
        f"the texts differ: {_context(gold, wanted, at, 'gold')}, {_context(predicted, found, at, 'predicted')}"
    )


def _context(text: Text, characters: str, at: int, side: str) -> str:
    number = next((index for index, (_, end) in enumerate(text.sentences) if at < end), None)
    if number is None:
        return f"{side} ends after {text.before + len(text.sentences)} sentences"
    place = text.places[number]
    where = f"sentence {text.before + number + 1}" + (f" ({place})" if place is not None else "")
    word = sum(text.sentences[number][0] < end <= at for _, end in text.tokens) + 1
    return f"{side} has {characters[at : at + 20]!r} in {where} from token {word}"


PART = 200  # sentences: enough to make little of the work around each part


def parallel_parts(gold: Iterable[Sentence], predicted: Iterable[Sentence]) -> Iterator[tuple[Text, Text]]:
    """Yield the two texts part by part; raise `MismatchError` as soon as their characters differ.

    A part has at least `PART` gold sentences, unless it is the last, and as many more as it takes until both sides end
    a sentence with the same token.
    """
    wanted, found = _Side(gold, "gold"), _Side(predicted, "predicted")
    while True:
        level = not wanted.ahead and not found.ahead and wanted.last_token == found.last_token
        if level and len(wanted.held) >= PART:
            yield wanted.text(), found.text()
        behind, other = (found, wanted) if wanted.ahead else (wanted, found)
        if not behind.read() and (other.ahead or not other.read()):
            break
        if not _matched(wanted, found):
            break
    # Equal here unless one side differs or goes on alone.
    check_characters(last := wanted.text(), rest := found.text())
    yield last, rest


class _Side:
    """One file on its way: the sentences held back, and how many of their last characters the other lacks so far."""

    def __init__(self, sentences: Iterable[Sentence], name: str) -> None:
        self.sentences = iter(sentences)
        self.name = name
        self.before = 0
        self.held: list[Sentence] = []
        self.characters = ""  # of the sentences since both sides were level
        self.ahead = 0
        self.last_token = 0  # its length

    def read(self) -> bool:
        """Take up the next sentence; return whether there was one."""
        sentence = next(self.sentences, None)
        if sentence is None:
            return False
        self.held.append(sentence)
        forms = [form for form, _ in tokens_of(sentence)]
        self.last_token = len(forms[-1]) if forms else self.last_token
        characters = "".join(forms)
        self.characters = self.characters[len(self.characters) - self.ahead :] + characters
        self.ahead += len(characters)
        return True

    def text(self) -> Text:
        """Return the sentences held back as one text, and hold them no longer."""
        text = text_of(self.held, self.name, before=self.before)
        self.before += len(self.held)
        self.held = []
        return text


def _matched(one: _Side, other: _Side) -> bool:
    """Return whether the characters that both sides have by now are the same, and count them off."""
    shared = min(one.ahead, other.ahead)
    start, start_too = (len(side.characters) - side.ahead for side in (one, other))
    if one.characters[start : start + shared] != other.characters[start_too : start_too + shared]:
        return False
    one.ahead -= shared
    other.ahead -= shared
    return True
