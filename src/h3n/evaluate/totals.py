"""Scores of many sentences: totals, and EVALB's own table to the last digit."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from h3n.errors import MismatchError
from h3n.evaluate.bracketing import Bracketed, count_brackets, is_empty, with_tags_of
from h3n.evaluate.evalb import BracketCounts, BracketScore, Status, match_labels, score_sentence, share
from h3n.evaluate.pairs import pair
from h3n.evaluate.parameters import Parameters, load_parameters

_RULE = "=" * 76
_HEAD = f"""\
  Sent.                        Matched  Bracket   Cross        Correct Tag
 ID  Len.  Stat. Recal  Prec.  Bracket gold test Bracket Words  Tags Accracy
{_RULE}"""


def score_brackets(
    gold: Iterable[Bracketed],
    predicted: Iterable[Bracketed],
    *,
    parameters: Parameters | None = None,
    strict: bool = True,
) -> Iterator[BracketScore]:
    """Yield the score of each sentence.

    A sentence whose words differ raises `MismatchError` if ``strict``; otherwise it is yielded as an error until there
    are more of them than the parameters allow.
    """
    parameters = parameters or load_parameters("collins")
    errors = 0
    for number, (wanted, found) in enumerate(pair(gold, predicted, empty=is_empty), start=1):
        score = score_sentence(wanted, found, parameters=parameters)
        if score.status is Status.ERROR:
            problem = _where(wanted, found, number) + f": {score.problem}"
            if strict:
                raise MismatchError(problem)
            if errors > parameters.maximum_errors:
                raise MismatchError(f"{problem}; more errors than MAX_ERROR {parameters.maximum_errors} allows")
            errors += 1
            score = BracketScore(score.status, score.length, score.counts, problem)
        yield score


def _where(gold: Bracketed, predicted: Bracketed, number: int) -> str:
    places = [
        f"{side} {item.place}" for side, item in (("gold", gold), ("predicted", predicted)) if item.place is not None
    ]
    return f"sentence {number}" + (f" ({', '.join(places)})" if places else "")


@dataclass(slots=True)
class BracketTotals:
    """Counts of all sentences and of those up to the parameters' cut-off length, taken up one score at a time."""

    parameters: Parameters
    all: BracketCounts = field(default_factory=BracketCounts)
    short: BracketCounts = field(default_factory=BracketCounts)
    by_length: dict[int, BracketCounts] = field(default_factory=dict)

    def add(self, score: BracketScore) -> None:
        """Take up one sentence."""
        self.all += score.counts
        if score.length <= self.parameters.cutoff_length:
            self.short += score.counts
        ten = length_band(score.length)
        self.by_length[ten] = self.by_length.get(ten, BracketCounts()) + score.counts


def length_band(length: int) -> int:
    """Return the number of a sentence's band of ten lengths: 0 for 1 to 10 words, 1 for 11 to 20."""
    return (max(length, 1) - 1) // 10


def band_name(band: int) -> str:
    """Return the lengths of a band: 11-20."""
    return f"{10 * band + 1}-{10 * band + 10}"


def evalb_lines(scores: Iterable[BracketScore], totals: BracketTotals) -> Iterator[str]:
    """Yield the lines of EVALB's report, its misspellings included, while taking up the scores into ``totals``."""
    yield _HEAD
    for number, score in enumerate(scores, start=1):
        totals.add(score)
        yield _sentence_line(number, score)
    yield _RULE
    yield _total_line(totals.all)
    yield "=== Summary ===\n\n-- All --"
    yield from _summary(totals.all)
    yield f"\n-- len<={totals.parameters.cutoff_length} --"
    yield from _summary(totals.short)


def _sentence_line(number: int, score: BracketScore) -> str:
    c = score.counts
    return (
        f"{number:4d}  {score.length:3d}    {int(score.status)}  {c.recall:6.2f} {c.precision:6.2f}   {c.matched:3d}"
        f"    {c.gold:3d}  {c.predicted:3d}    {c.crossing:3d}   {c.words:4d}  {c.tags:4d}   {c.tagging:6.2f}"
    )


def _total_line(c: BracketCounts) -> str:
    brackets = ""
    if c.gold and c.predicted:
        brackets = (
            f"{'':16}{c.recall:6.2f} {c.precision:6.2f} {c.matched:6d} {c.gold:5d} {c.predicted:5d}  {c.crossing:5d}"
        )
    return f"{brackets}  {c.words:5d} {c.tags:5d}   {c.tagging:6.2f}"


def _summary(c: BracketCounts) -> Iterator[str]:
    # The C program divides nothing by nothing and prints what comes of it.
    f1 = f"{c.f1:6.2f}" if c.matched else "  -nan"
    yield f"Number of sentence        = {c.sentences:6d}"
    yield f"Number of Error sentence  = {c.errors:6d}"
    yield f"Number of Skip  sentence  = {c.skipped:6d}"
    yield f"Number of Valid sentence  = {c.valid:6d}"
    yield f"Bracketing Recall         = {c.recall:6.2f}"
    yield f"Bracketing Precision      = {c.precision:6.2f}"
    yield f"Bracketing FMeasure       = {f1}"
    yield f"Complete match            = {c.exact:6.2f}"
    yield f"Average crossing          = {c.average_crossing:6.2f}"
    yield f"No crossing               = {share(c.none_crossing, c.valid):6.2f}"
    yield f"2 or less crossing        = {share(c.few_crossing, c.valid):6.2f}"
    yield f"Tagging accuracy          = {c.tagging:6.2f}"


def compact_line(counts: BracketCounts, *, file: str) -> str:
    """Return the one line of EVALB_SPMRL's option -L, which by mistake swaps precision and recall."""
    return (
        f"F1: {counts.f1:6.2f} %\tPrec: {counts.precision:6.2f} %\tRec: {counts.recall:6.2f} %\t"
        f"POS: {counts.tagging:6.2f} %\tEX: {counts.exact:6.2f} %\tUnparsed: {counts.skipped + counts.errors:6d}\t"
        f"Sent: {counts.sentences:6d}\tfile: {file}"
    )


@dataclass(frozen=True, slots=True)
class LabelCounts:
    """Counts of the brackets of one label; they add up with ``+``. Shares are in percent.

    Where unequal labels may match, the gold brackets that were found are not as many as the predicted ones that were
    right, so both are kept.
    """

    gold: int = 0
    gold_matched: int = 0
    predicted: int = 0
    predicted_matched: int = 0

    def __add__(self, other: LabelCounts) -> LabelCounts:
        return LabelCounts(
            self.gold + other.gold,
            self.gold_matched + other.gold_matched,
            self.predicted + other.predicted,
            self.predicted_matched + other.predicted_matched,
        )

    @property
    def recall(self) -> float:
        return share(self.gold_matched, self.gold)

    @property
    def precision(self) -> float:
        return share(self.predicted_matched, self.predicted)

    @property
    def f1(self) -> float:
        total = self.precision + self.recall
        return 2 * self.precision * self.recall / total if total else 0.0


@dataclass(slots=True)
class LabelTotals:
    """Counts per label, taken up one sentence at a time."""

    parameters: Parameters
    gold: Counter[str] = field(default_factory=Counter)
    gold_matched: Counter[str] = field(default_factory=Counter)
    predicted: Counter[str] = field(default_factory=Counter)
    predicted_matched: Counter[str] = field(default_factory=Counter)

    def add(self, gold: Bracketed, predicted: Bracketed) -> None:
        """Take up one sentence, if it has as many words on both sides."""
        if self.parameters.gold_tags:
            predicted = with_tags_of(gold, predicted)
        left = count_brackets(gold, parameters=self.parameters)
        right = count_brackets(predicted, parameters=self.parameters)
        if len(left.words) == len(right.words):
            self.gold.update(left.labels)
            self.predicted.update(right.labels)
            matched = match_labels(left, right, parameters=self.parameters)
            self.gold_matched.update(label for label, _ in matched)
            self.predicted_matched.update(label for _, label in matched)

    def counts(self) -> dict[str, LabelCounts]:
        """Return the counts per label, frequent gold labels first."""
        return label_counts(self.gold, self.gold_matched, self.predicted, self.predicted_matched)


def label_counts(
    gold: Counter[str], gold_matched: Counter[str], predicted: Counter[str], predicted_matched: Counter[str]
) -> dict[str, LabelCounts]:
    """Return the counts of each name, frequent gold ones first."""
    return {
        name: LabelCounts(gold[name], gold_matched[name], predicted[name], predicted_matched[name])
        for name in sorted(gold | predicted, key=lambda name: (-gold[name], name))
    }


def count_labels(
    gold: Iterable[Bracketed], predicted: Iterable[Bracketed], *, parameters: Parameters | None = None
) -> dict[str, LabelCounts]:
    """Return the counts per label, frequent gold labels first, over the sentences with as many words on both sides."""
    totals = LabelTotals(parameters or load_parameters("collins"))
    for one, other in pair(gold, predicted, empty=is_empty):
        totals.add(one, other)
    return totals.counts()
