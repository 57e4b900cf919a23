"""Attachment scores: how many words have the right governor (UAS), and the right relation with it (LAS).

Which words count is decided by the gold sentence alone. Three habits exist for leaving punctuation out, and give
different figures: by the characters of the word, by its tag, by its relation.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeAlias

from h3n.errors import MismatchError, UnknownName
from h3n.evaluate.evalb import share
from h3n.evaluate.pairs import pair_words
from h3n.trees import Dependencies, Sentence

PUNCTUATION_TAGS = frozenset({"''", "``", ":", ",", "."})
PUNCTUATION_RELATIONS = frozenset({"punct"})

Counted: TypeAlias = Callable[[Sentence, Dependencies], list[bool]]


@dataclass(frozen=True, slots=True)
class AttachmentCounts:
    """Counts over any number of words; they add up with ``+``. Shares are in percent.

    ``governors`` counts words with the right governor, ``relations`` those of them with the right relation. A sentence
    is right as a whole if all its counted words are.
    """

    words: int = 0
    governors: int = 0
    relations: int = 0
    sentences: int = 0
    sentences_unlabelled: int = 0
    sentences_labelled: int = 0

    def __add__(self, other: AttachmentCounts) -> AttachmentCounts:
        return AttachmentCounts(
            self.words + other.words,
            self.governors + other.governors,
            self.relations + other.relations,
            self.sentences + other.sentences,
            self.sentences_unlabelled + other.sentences_unlabelled,
            self.sentences_labelled + other.sentences_labelled,
        )

    @property
    def uas(self) -> float:
        return share(self.governors, self.words)

    @property
    def las(self) -> float:
        return share(self.relations, self.words)

    @property
    def exact_unlabelled(self) -> float:
        return share(self.sentences_unlabelled, self.sentences)

    @property
    def exact(self) -> float:
        return share(self.sentences_labelled, self.sentences)


@lru_cache(maxsize=1 << 16)
def is_punctuation(word: str) -> bool:
    """Return whether a word consists of Unicode punctuation alone."""
    return all(unicodedata.category(character).startswith("P") for character in word)


def _every_word(sentence: Sentence, _: Dependencies) -> list[bool]:
    return [True] * len(sentence)


def _by_unicode(sentence: Sentence, _: Dependencies) -> list[bool]:
    return [not is_punctuation(word) for word in sentence.words]


def _by_relation(_: Sentence, dependencies: Dependencies) -> list[bool]:
    return [relation.split(":")[0] not in PUNCTUATION_RELATIONS for relation in dependencies.relations]


def by_tag(tags: frozenset[str] = PUNCTUATION_TAGS) -> Counted:
    """Return a choice of words that leaves out those with one of these tags; without tags every word counts."""

    def counted(sentence: Sentence, _: Dependencies) -> list[bool]:
        return [tag not in tags for tag in sentence.tags] if sentence.tags else [True] * len(sentence)

    return counted


# How punctuation is left out -> which words of a gold sentence count.
PUNCTUATION: dict[str, Counted] = {
    "all": _every_word,
    "unicode": _by_unicode,
    "tag": by_tag(),
    "relation": _by_relation,
}


def punctuation(name: str) -> Counted:
    """Return the choice of words of this name."""
    if name not in PUNCTUATION:
        raise UnknownName("way to leave out punctuation", name, PUNCTUATION)
    return PUNCTUATION[name]


def count_attachments(
    gold: Sentence, predicted: Sentence, *, counted: Counted = _by_unicode, subtypes: bool = True
) -> AttachmentCounts:
    """Return the counts of one sentence, whose words must be the same on both sides.

    Without ``subtypes`` a relation is compared up to its first colon, as the scorer of Universal Dependencies does.
    """
    wanted, found = _dependencies(gold, "gold"), _dependencies(predicted, "predicted")
    words = governors = relations = 0
    for keep, governor, relation, guess, guessed in zip(
        counted(gold, wanted), wanted.governors, wanted.relations, found.governors, found.relations, strict=True
    ):
        if keep:
            words += 1
            if governor == guess:
                governors += 1
                relations += relation == guessed or (not subtypes and relation.split(":")[0] == guessed.split(":")[0])
    return AttachmentCounts(words, governors, relations, 1, int(governors == words), int(relations == words))


def score_attachments(
    gold: Iterable[Sentence],
    predicted: Iterable[Sentence],
    *,
    counted: Counted = _by_unicode,
    subtypes: bool = True,
) -> AttachmentCounts:
    """Return the counts of all sentences; raise `MismatchError` where words or numbers of sentences differ."""
    total = AttachmentCounts()
    for wanted, found in pair_words(gold, predicted):
        total += count_attachments(wanted, found, counted=counted, subtypes=subtypes)
    return total


def _dependencies(sentence: Sentence, side: str) -> Dependencies:
    if sentence.dependencies is None:
        raise MismatchError(f"{sentence.place or side}: the {side} sentence has no dependencies to score")
    return sentence.dependencies
