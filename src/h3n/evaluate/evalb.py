"""Bracket scoring as EVALB does it, sentence by sentence, with counts that add up.

The rules, all EVALB's. A word whose tag is deleted is gone before anything is counted; a deleted label takes its
bracket, not its words. Labels end before the first ``-`` or ``=``. A bracket over no word does not count. Each gold
bracket matches at most one predicted bracket of the same words and label. A sentence without predicted words is
skipped, one whose words differ is an error; neither counts. `Parameters` says what the SPMRL variant does otherwise.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import IntEnum

from h3n.evaluate.bracketing import Bracketed, Brackets, count_brackets, leaf_tags, with_tags_of
from h3n.evaluate.parameters import Parameters, cutter, equal_labels, load_parameters
from h3n.evaluate.quotes import mistaken_quotes


class Status(IntEnum):
    """What became of a sentence; the numbers are EVALB's."""

    VALID = 0
    ERROR = 1
    SKIPPED = 2
    UNPARSED = 3


@dataclass(frozen=True, slots=True)
class BracketCounts:
    """Counts over any number of sentences; they add up with ``+``. Shares are in percent, 0 where nothing counts."""

    sentences: int = 0
    errors: int = 0
    skipped: int = 0
    matched: int = 0
    gold: int = 0
    predicted: int = 0
    complete: int = 0
    crossing: int = 0
    none_crossing: int = 0
    few_crossing: int = 0
    words: int = 0
    tags: int = 0

    def __add__(self, other: BracketCounts) -> BracketCounts:
        # Written out, since it is done for every sentence.
        return BracketCounts(
            self.sentences + other.sentences,
            self.errors + other.errors,
            self.skipped + other.skipped,
            self.matched + other.matched,
            self.gold + other.gold,
            self.predicted + other.predicted,
            self.complete + other.complete,
            self.crossing + other.crossing,
            self.none_crossing + other.none_crossing,
            self.few_crossing + other.few_crossing,
            self.words + other.words,
            self.tags + other.tags,
        )

    @property
    def valid(self) -> int:
        return self.sentences - self.errors - self.skipped

    @property
    def recall(self) -> float:
        return share(self.matched, self.gold)

    @property
    def precision(self) -> float:
        return share(self.matched, self.predicted)

    @property
    def f1(self) -> float:
        total = self.precision + self.recall
        return 2 * self.precision * self.recall / total if total else 0.0

    @property
    def exact(self) -> float:
        return share(self.complete, self.valid)

    @property
    def average_crossing(self) -> float:
        return self.crossing / self.valid if self.valid else 0.0

    @property
    def tagging(self) -> float:
        return share(self.tags, self.words)


_ERROR = BracketCounts(sentences=1, errors=1)
_SKIPPED = BracketCounts(sentences=1, skipped=1)


@dataclass(frozen=True, slots=True)
class BracketScore:
    """The score of one sentence. ``length`` is the gold sentence's, as EVALB takes it; ``problem`` says what is wrong
    with an erroneous one."""

    status: Status
    length: int
    counts: BracketCounts
    problem: str | None = None


def share(part: int, whole: int) -> float:
    """Return a part in percent, 0 of nothing."""
    return 100.0 * part / whole if whole else 0.0


def score_sentence(gold: Bracketed, predicted: Bracketed, *, parameters: Parameters | None = None) -> BracketScore:
    """Return the score of one sentence, by default with the parameters ``collins``."""
    parameters = parameters or load_parameters("collins")
    if parameters.gold_tags and (retagged := with_tags_of(gold, predicted)) is not predicted:
        score = score_sentence(gold, retagged, parameters=parameters)
        right = _right_leaf_tags(gold, predicted, parameters)
        return replace(score, counts=replace(score.counts, tags=right)) if score.status is Status.VALID else score
    wanted = count_brackets(gold, parameters=parameters)
    found = count_brackets(predicted, parameters=parameters)
    if not found.words:
        return _unparsed(gold, wanted, parameters)
    if len(wanted.words) != len(found.words) and parameters.quote_labels and not parameters.keep_words:
        spared, spared_too = mistaken_quotes(gold.events, predicted.events, parameters)
        wanted = count_brackets(gold, parameters=parameters, spared=spared)
        found = count_brackets(predicted, parameters=parameters, spared=spared_too)
    if wanted.words != found.words and not _same_words(wanted.words, found.words, parameters):
        problem = _difference(gold, predicted, wanted, found, parameters)
        return BracketScore(Status.ERROR, wanted.length, _ERROR, problem)
    return BracketScore(Status.VALID, wanted.length, _compare(wanted, found, parameters))


def _same_words(gold: list[str], predicted: list[str], parameters: Parameters) -> bool:
    return len(gold) == len(predicted) and all(
        pair[0] == pair[1] or pair in parameters.equal_words for pair in zip(gold, predicted, strict=True)
    )


def _difference(
    gold: Bracketed, predicted: Bracketed, wanted: Brackets, found: Brackets, parameters: Parameters
) -> str:
    """Return what is wrong, told by all the words if they differ: the reader's file has them all."""
    every, other = ([event[1] for event in side.events if event[1]] for side in (gold, predicted))
    if _same_words(every, other, parameters):
        return f"other words are deleted by their tags: {len(wanted.words)} count in gold, {len(found.words)} predicted"
    for number, pair in enumerate(zip(every, other, strict=False), start=1):
        if pair[0] != pair[1] and pair not in parameters.equal_words:
            return f"word {number} is {pair[0]!r} in gold, {pair[1]!r} predicted"
    return f"{len(every)} words in gold, {len(other)} predicted"


def _compare(gold: Brackets, predicted: Brackets, parameters: Parameters) -> BracketCounts:
    if gold.spans == predicted.spans:
        crossing = 0
        same = gold.labels == predicted.labels
        matched = len(gold.spans) if same else len(match_labels(gold, predicted, parameters=parameters))
    else:
        crossing = _crossing(gold, predicted)
        matched = len(match_labels(gold, predicted, parameters=parameters))
    size, size_too = len(gold.spans), len(predicted.spans)
    return BracketCounts(
        1,
        0,
        0,
        matched,
        size,
        size_too,
        int(size == size_too == matched),
        crossing,
        int(crossing == 0),
        int(crossing <= 2),
        len(gold.words),
        _right_tags(gold.tags, predicted.tags, parameters),
    )


def match_labels(gold: Brackets, predicted: Brackets, *, parameters: Parameters) -> list[tuple[str, str]]:
    """Return the labels, gold and predicted, of the brackets that match: each gold bracket takes the first free one
    that fits, outer ones first. The order matters only where equality of labels is not transitive."""
    compared = predicted.labels if parameters.labelled else [""] * len(predicted.labels)
    free: dict[tuple[tuple[int, int], str], list[int]] = {}
    for number, key in enumerate(zip(predicted.spans, compared, strict=True)):
        if key in free:
            free[key].append(number)
        else:
            free[key] = [number]
    equal = equal_labels(parameters) if parameters.labelled else {}
    matched: list[tuple[str, str]] = []
    for span, label in zip(reversed(gold.spans), reversed(gold.labels), strict=True):
        found = free.get((span, label if parameters.labelled else ""))
        for other in equal.get(label, ()):
            rival = free.get((span, other))
            if rival and (not found or rival[-1] > found[-1]):
                found = rival
        if found:
            matched.append((label, predicted.labels[found.pop()]))
    return matched


def _crossing(gold: Brackets, predicted: Brackets) -> int:
    """Return how many predicted brackets cross a gold bracket: start inside it and end behind it, or the mirror."""
    known = set(gold.spans)
    last_end = list(range(len(gold.words) + 1))
    first_start = list(last_end)
    for start, end in known:
        last_end[start] = max(last_end[start], end)
        first_start[end] = min(first_start[end], start)
    return sum(
        max(last_end[start + 1 : end]) > end or min(first_start[start + 1 : end]) < start
        for start, end in predicted.spans
        if end - start > 1 and (start, end) not in known
    )


def _right_tags(gold: list[str], predicted: list[str], parameters: Parameters) -> int:
    if gold == predicted:
        return len(gold)
    if parameters.cut_tags:
        cut = cutter(parameters.cut_marks)
        gold, predicted = list(map(cut, gold)), list(map(cut, predicted))
    return sum(pair[0] == pair[1] or pair in parameters.equal_labels for pair in zip(gold, predicted, strict=True))


def _right_leaf_tags(gold: Bracketed, predicted: Bracketed, parameters: Parameters) -> int:
    """Return how many words that count by their gold tags have the right tag; the words are the same."""
    gone = frozenset[str]() if parameters.keep_words else parameters.delete_labels
    pairs = zip(leaf_tags(gold), leaf_tags(predicted), strict=True)
    kept = [(wanted, found) for (wanted, _), (found, _) in pairs if wanted not in gone]
    return _right_tags([wanted for wanted, _ in kept], [found for _, found in kept], parameters)


def _unparsed(gold: Bracketed, wanted: Brackets, parameters: Parameters) -> BracketScore:
    if parameters.unparsed == "skip":
        return BracketScore(Status.SKIPPED, wanted.length, _SKIPPED)
    missed = len(wanted.spans) if parameters.unparsed == "miss" else _missed_as_spmrl(gold, parameters)
    counts = BracketCounts(
        sentences=1,
        gold=missed,
        complete=int(missed == 0),
        none_crossing=1,
        few_crossing=1,
        words=len(wanted.words),
    )
    return BracketScore(Status.UNPARSED, wanted.length, counts)


def _missed_as_spmrl(gold: Bracketed, parameters: Parameters) -> int:
    """Return how many gold brackets EVALB_SPMRL's -X takes to be missed.

    It adds one for each bracket and one more for every deleted label that the bracket does not have, so a sentence
    weighs several times its brackets. The shared tasks' figures were made so.
    """
    cut = cutter(parameters.cut_marks)
    deleted = [cut(label) for label in parameters.delete_labels]
    everything = count_brackets(gold, parameters=replace(parameters, delete_labels=frozenset()))
    return sum(
        1 + sum(label != other and (label, other) not in parameters.equal_labels for other in deleted)
        for label in everything.labels
    )
