"""What two files of trees over the same sentences disagree in: sentence by sentence, and counted in tables.

The first side is the one that shares are of: of its labels, its relations, its arcs.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from h3n.draw import WithConfidence
from h3n.errors import MismatchError
from h3n.evaluate import (
    ClassCounts,
    Convention,
    Interval,
    SentenceCounts,
    band_name,
    check_words,
    compare_parsers,
    count_sentence,
    length_band,
    mcnemar,
    pair,
)
from h3n.trees import ROOT, Dependencies, Sentence, Span, spans_of, strip_tree
from h3n.workbench.genres import genres

BARE = "(no phrase)"  # the label of a stretch that is a phrase on the other side only
DISTANCES = (1, 2, 3, 5, 10, 20)


@dataclass(frozen=True, slots=True)
class Difference:
    """One sentence on both sides. ``spans`` and ``arcs`` are what each side has alone."""

    number: int
    sides: tuple[Sentence, Sentence]
    spans: tuple[frozenset[Span], frozenset[Span]]
    arcs: frozenset[int]
    genre: str

    @property
    def size(self) -> int:
        """How much is different: words with another governor or relation, and phrases that one side has alone."""
        return len(self.arcs) + len(self.spans[0]) + len(self.spans[1])

    def drawable(self, side: int) -> WithConfidence:
        """Return one side's trees to draw, with what is different marked as if it were not sure."""
        sentence = self.sides[side]
        marked = {(span.start, span.end): 0.0 for span in self.spans[side]}
        arcs = [0.0 if word in self.arcs else 1.0 for word in range(len(sentence))] if sentence.dependencies else []
        return WithConfidence(sentence, spans=marked, arcs=arcs)


@dataclass(slots=True)
class Tables:
    """Counts over all sentences. In a confusion the first name is the first side's."""

    labels: Counter[tuple[str, str]] = field(default_factory=Counter)
    relations: Counter[tuple[str, str]] = field(default_factory=Counter)
    by_distance: dict[str, ClassCounts] = field(default_factory=dict)
    by_length: dict[str, ClassCounts] = field(default_factory=dict)
    by_genre: dict[str, ClassCounts] = field(default_factory=dict)
    phrases_by_length: dict[str, ClassCounts] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Verdict:
    """Two parsers against gold: intervals of their differences, and McNemar's test on words with governor and relation
    right, of which ``only`` counts those that one side alone has right."""

    intervals: dict[str, Interval]
    only: tuple[int, int]
    p: float


def find_differences(first: Iterable[Sentence], second: Iterable[Sentence]) -> tuple[list[Difference], Tables]:
    """Return what is different in each sentence, in the order of the files, and the tables over all of them."""
    pairs = list(pair(first, second))
    tables = Tables()
    differences = []
    for number, ((one, other), genre) in enumerate(zip(pairs, genres(one for one, _ in pairs), strict=True), start=1):
        check_words(one, other, number)
        difference = _difference(number, one, other, genre)
        _count(tables, difference)
        differences.append(difference)
    return differences, tables


def _difference(number: int, one: Sentence, other: Sentence, genre: str) -> Difference:
    left, right = _spans(one), _spans(other)
    both = left is not None and right is not None
    alone = (frozenset(left or ()) - frozenset(right or ()), frozenset(right or ()) - frozenset(left or ()))
    arcs: frozenset[int] = frozenset()
    if one.dependencies is not None and other.dependencies is not None:
        left_arcs, right_arcs = one.dependencies, other.dependencies
        arcs = frozenset(word for word in range(len(one)) if _arc(left_arcs, word) != _arc(right_arcs, word))
    elif not both:
        where = one.place or f"sentence {number}"
        raise MismatchError(f"{where}: the two files have no kind of tree in common")
    return Difference(number, (one, other), alone if both else (frozenset(), frozenset()), arcs, genre)


def _spans(sentence: Sentence) -> tuple[Span, ...] | None:
    tree = strip_tree(sentence.tree) if sentence.tree is not None else None
    return None if tree is None else spans_of(tree)


def _arc(arcs: Dependencies, word: int) -> tuple[int, str]:
    return arcs.governors[word], arcs.relations[word]


def _count(tables: Tables, difference: Difference) -> None:
    one, other = difference.sides
    band = band_name(length_band(len(one)))
    if one.dependencies is not None and other.dependencies is not None:
        same = len(one) - len(difference.arcs)
        _add(tables.by_length, band, len(one), same)
        _add(tables.by_genre, difference.genre, len(one), same)
        for word in range(len(one)):
            governor, relation = _arc(one.dependencies, word)
            _add(tables.by_distance, _distance(word, governor), 1, governor == other.dependencies.governors[word])
            tables.relations[relation, other.dependencies.relations[word]] += 1
    left, right = _spans(one), _spans(other)
    if left is not None and right is not None:
        _add(tables.phrases_by_length, band, len(left), len(left) - len(difference.spans[0]))
        labels = {(span.start, span.end): span.label for span in right}
        tables.labels.update((span.label, labels.pop((span.start, span.end), BARE)) for span in left)
        tables.labels.update((BARE, label) for label in labels.values())


def _add(table: dict[str, ClassCounts], name: str, words: int, right: int) -> None:
    table[name] = table.get(name, ClassCounts()) + ClassCounts(words, right)


def _distance(word: int, governor: int) -> str:
    if governor == ROOT:
        return "root"
    away = abs(word - governor)
    low = max((bound for bound in DISTANCES if bound <= away), default=1)
    later = [bound for bound in DISTANCES if bound > low]
    return str(low) if later and later[0] == low + 1 else f"{low}-{later[0] - 1}" if later else f"{low}+"


def judge(
    gold: Sequence[Sentence], first: Sequence[Sentence], second: Sequence[Sentence], *, samples: int, seed: int
) -> Verdict:
    """Return whether two parsers differ by more than chance, measured by gold sentences."""
    counts: list[list[SentenceCounts]] = [[], []]
    only = [0, 0]
    for number, (wanted, (one, other)) in enumerate(zip(gold, pair(first, second), strict=True), start=1):
        for side, found in zip(counts, (one, other), strict=True):
            check_words(wanted, found, number)
            side.append(count_sentence(wanted, found, convention=Convention()))
        if wanted.dependencies is not None and one.dependencies is not None and other.dependencies is not None:
            for word in range(len(wanted)):
                target = _arc(wanted.dependencies, word)
                right = [_arc(arcs, word) == target for arcs in (one.dependencies, other.dependencies)]
                only[0] += right[0] and not right[1]
                only[1] += right[1] and not right[0]
    intervals = compare_parsers(*counts, samples=samples, seed=seed)
    return Verdict(intervals, (only[0], only[1]), mcnemar(*only))
