"""The metrics of the CoNLL 2018 shared task, from raw text to trees (Zeman et al., 2018).

Gold and predicted files hold the same text, cut into sentences, tokens and words as each sees fit. Words are aligned
first, by the characters they cover; inside multiword tokens, whose words cover no characters of their own, by their
forms. A metric then counts the aligned words that agree in something. Relations are compared without subtypes and
features only if they are universal.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass, replace

from h3n.evaluate.alignment import NOT_ALIGNED, Text, align, parallel_parts
from h3n.evaluate.evalb import share
from h3n.trees import ROOT, Dependencies, Sentence

CONTENT = frozenset(
    {"acl", "advcl", "advmod", "amod", "appos", "ccomp", "compound", "conj", "csubj", "dep", "discourse", "dislocated"}
    | {"expl", "fixed", "flat", "goeswith", "iobj", "list", "nmod", "nsubj", "nummod", "obj", "obl", "orphan"}
    | {"parataxis", "reparandum", "root", "vocative", "xcomp"}
)
SEGMENTATION = ("Tokens", "Words", "Sentences")
FUNCTION = frozenset({"aux", "case", "cc", "clf", "cop", "det", "mark"})


@dataclass(frozen=True, slots=True)
class AlignedCounts:
    """Counts of one metric; they add up with ``+``. Shares are in percent. ``aligned`` is None where the metric is not
    about aligned words."""

    correct: int = 0
    gold: int = 0
    predicted: int = 0
    aligned: int | None = None

    def __add__(self, other: AlignedCounts) -> AlignedCounts:
        aligned = None if self.aligned is None and other.aligned is None else (self.aligned or 0) + (other.aligned or 0)
        return AlignedCounts(
            self.correct + other.correct, self.gold + other.gold, self.predicted + other.predicted, aligned
        )

    @property
    def precision(self) -> float:
        return share(self.correct, self.predicted)

    @property
    def recall(self) -> float:
        return share(self.correct, self.gold)

    @property
    def f1(self) -> float:
        return share(2 * self.correct, self.predicted + self.gold)

    @property
    def aligned_accuracy(self) -> float | None:
        return None if self.aligned is None else share(self.correct, self.aligned)


def score_conll18(gold: Iterable[Sentence], predicted: Iterable[Sentence]) -> dict[str, AlignedCounts]:
    """Return the counts per metric; raise `MismatchError` where the two texts differ.

    Both sides are read as they are needed and scored part by part (`parallel_parts`), so that memory does not grow with
    the files.
    """
    total = score_texts(Text(), Text())
    for wanted, found in parallel_parts(gold, predicted):
        part = score_texts(wanted, found)
        total = {name: counts + part[name] for name, counts in total.items()}
    return total


def score_segmentation(gold: Iterable[Sentence], predicted: Iterable[Sentence]) -> dict[str, AlignedCounts]:
    """Return the counts of tokens, words and sentences, for which neither side needs trees."""
    counts = score_conll18(map(_with_some_tree, gold), map(_with_some_tree, predicted))
    return {name: counts[name] for name in SEGMENTATION}


def _with_some_tree(sentence: Sentence) -> Sentence:
    if sentence.dependencies is not None:
        return sentence
    size = len(sentence)
    return replace(sentence, dependencies=Dependencies(tuple(range(-1, size - 1)), ("root", *["dep"] * (size - 1))))


def score_texts(wanted: Text, found: Text) -> dict[str, AlignedCounts]:
    """Return the counts per metric of two texts of the same characters."""
    partner = align(wanted, found)
    pairs = [(gold_word, word) for word, gold_word in enumerate(partner) if gold_word != NOT_ALIGNED]
    scores = {
        "Tokens": _same_stretches(wanted.tokens, found.tokens),
        "Sentences": _same_stretches(wanted.sentences, found.sentences),
        "Words": AlignedCounts(len(pairs), len(wanted.forms), len(found.forms)),
    }
    keys = _Keys(wanted, found, partner)
    for name, (key, content) in METRICS.items():
        kept = [pair for pair in pairs if wanted.relations[pair[0]] in CONTENT] if content else pairs
        scores[name] = AlignedCounts(
            sum(key(keys, *pair) for pair in kept),
            sum(relation in CONTENT for relation in wanted.relations) if content else len(wanted.forms),
            sum(relation in CONTENT for relation in found.relations) if content else len(found.forms),
            len(kept),
        )
    return scores


def _same_stretches(gold: list[tuple[int, int]], predicted: list[tuple[int, int]]) -> AlignedCounts:
    return AlignedCounts(len(set(gold) & set(predicted)), len(gold), len(predicted))


class _Keys:
    """What a metric may ask of a gold word and the predicted word aligned with it."""

    def __init__(self, gold: Text, predicted: Text, partner: list[int]) -> None:
        self.gold, self.predicted, self.partner = gold, predicted, partner
        self.gold_function = _function_words(gold)
        self.predicted_function = _function_words(predicted)

    def upos(self, gold: int, word: int) -> bool:
        return self.gold.upos[gold] == self.predicted.upos[word]

    def xpos(self, gold: int, word: int) -> bool:
        return self.gold.xpos[gold] == self.predicted.xpos[word]

    def features(self, gold: int, word: int) -> bool:
        return self.gold.features[gold] == self.predicted.features[word]

    def all_tags(self, gold: int, word: int) -> bool:
        return self.upos(gold, word) and self.xpos(gold, word) and self.features(gold, word)

    def lemma(self, gold: int, word: int) -> bool:
        # A gold lemma that is not given matches anything.
        return self.gold.lemmas[gold] in ("_", self.predicted.lemmas[word])

    def governor(self, gold: int, word: int) -> bool:
        return self.gold.governors[gold] == self._as_gold(self.predicted.governors[word])

    def labelled(self, gold: int, word: int) -> bool:
        return self.governor(gold, word) and self.gold.relations[gold] == self.predicted.relations[word]

    def morphology(self, gold: int, word: int) -> bool:
        return (
            self.labelled(gold, word)
            and self.upos(gold, word)
            and self.features(gold, word)
            and [self._function(self.gold, child, child) for child in self.gold_function.get(gold, ())]
            == [
                self._function(self.predicted, child, self._as_gold(child))
                for child in self.predicted_function.get(word, ())
            ]
        )

    def lexical(self, gold: int, word: int) -> bool:
        return self.labelled(gold, word) and self.lemma(gold, word)

    def _as_gold(self, word: int) -> int:
        return ROOT if word == ROOT else self.partner[word]

    @staticmethod
    def _function(text: Text, child: int, as_gold: int) -> tuple[Hashable, ...]:
        return as_gold, text.relations[child], text.upos[child], text.features[child]


def _function_words(text: Text) -> dict[int, list[int]]:
    found: dict[int, list[int]] = {}
    for word, (governor, relation) in enumerate(zip(text.governors, text.relations, strict=True)):
        if relation in FUNCTION and governor != ROOT:
            found.setdefault(governor, []).append(word)
    return found


# metric -> (what has to agree, whether only content words count)
METRICS: dict[str, tuple[Callable[[_Keys, int, int], bool], bool]] = {
    "UPOS": (_Keys.upos, False),
    "XPOS": (_Keys.xpos, False),
    "UFeats": (_Keys.features, False),
    "AllTags": (_Keys.all_tags, False),
    "Lemmas": (_Keys.lemma, False),
    "UAS": (_Keys.governor, False),
    "LAS": (_Keys.labelled, False),
    "CLAS": (_Keys.labelled, True),
    "MLAS": (_Keys.morphology, True),
    "BLEX": (_Keys.lexical, True),
}


def conll18_lines(scores: dict[str, AlignedCounts]) -> list[str]:
    """Return the lines of the shared task's table."""
    lines = ["Metric     | Precision |    Recall |  F1 Score | AligndAcc", "-----------+" * 4 + "-----------"]
    for name, counts in scores.items():
        accuracy = counts.aligned_accuracy
        lines.append(
            f"{name:11}|{counts.precision:10.2f} |{counts.recall:10.2f} |{counts.f1:10.2f} |"
            + ("" if accuracy is None else f"{accuracy:10.2f}")
        )
    return lines
