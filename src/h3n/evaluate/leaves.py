"""The leaf-ancestor metric (Sampson and Babarczy, 2003), the second measure of the SPMRL shared tasks.

The lineage of a word is the labels of the brackets over it, inner first, with ``[`` before the outermost bracket that
starts with the word and ``]`` after the outermost one that ends with it. A word scores 1 less the edit distance of its
two lineages over their summed length. Putting in or leaving out a label costs 1, replacing it by another 2, by one
that starts with the same letter 0.5.
"""

from __future__ import annotations

from dataclasses import dataclass

from h3n.evaluate.bracketing import Bracketed, Brackets, count_brackets, with_tags_of
from h3n.evaluate.parameters import Parameters, load_parameters

SIMILAR = 0.5
DIFFERENT = 2.0


@dataclass(frozen=True, slots=True)
class LeafCounts:
    """Sums over any number of sentences; they add up with ``+``. Means are in percent."""

    sentences: int = 0
    words: int = 0
    word_scores: float = 0.0
    sentence_scores: float = 0.0

    def __add__(self, other: LeafCounts) -> LeafCounts:
        return LeafCounts(
            self.sentences + other.sentences,
            self.words + other.words,
            self.word_scores + other.word_scores,
            self.sentence_scores + other.sentence_scores,
        )

    @property
    def word_mean(self) -> float:
        return 100.0 * self.word_scores / self.words if self.words else 0.0

    @property
    def sentence_mean(self) -> float:
        return 100.0 * self.sentence_scores / self.sentences if self.sentences else 0.0


def count_leaves(gold: Bracketed, predicted: Bracketed, *, parameters: Parameters | None = None) -> LeafCounts:
    """Return the sums of one sentence, by default with the parameters ``spmrl``; other words or no parse score 0."""
    parameters = parameters or load_parameters("spmrl")
    wanted = count_brackets(gold, parameters=parameters)
    found = count_brackets(with_tags_of(gold, predicted) if parameters.gold_tags else predicted, parameters=parameters)
    words = len(wanted.words)
    if wanted.words != found.words or not words:
        return LeafCounts(1, words)
    total = sum(map(score_lineages, lineages(wanted), lineages(found)))
    return LeafCounts(1, words, total, total / words)


def lineages(brackets: Brackets) -> list[list[str]]:
    """Return the lineage of each word."""
    result: list[list[str]] = [[] for _ in brackets.words]
    opens: dict[int, int] = {}
    closes: dict[int, int] = {}
    # Inner brackets come first, so the last one to start (or end) at a word is the outermost.
    for index, (start, end) in enumerate(brackets.spans):
        opens[start] = index
        closes[end - 1] = index
    for index, ((start, end), label) in enumerate(zip(brackets.spans, brackets.labels, strict=True)):
        for word in range(start, end):
            if word == start and opens[word] == index:
                result[word].append("[")
            result[word].append(label)
            if word == end - 1 and closes[word] == index:
                result[word].append("]")
    return result


def score_lineages(gold: list[str], predicted: list[str]) -> float:
    """Return the similarity of two lineages, between 0 and 1."""
    if gold == predicted:
        return 1.0
    row = [float(column) for column in range(len(predicted) + 1)]
    for number, wanted in enumerate(gold, start=1):
        corner, row[0] = row[0], float(number)
        for column, found in enumerate(predicted, start=1):
            replaced = corner + _cost(wanted, found)
            corner = row[column]
            row[column] = min(replaced, corner + 1.0, row[column - 1] + 1.0)
    return 1.0 - row[-1] / (len(gold) + len(predicted))


def _cost(one: str, other: str) -> float:
    if one == other:
        return 0.0
    return SIMILAR if one[:1] == other[:1] else DIFFERENT
