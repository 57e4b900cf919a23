"""The scores of a parsed treebank, and what counts in them: said here for `h3n evaluate`, training, experiments and
benchmarks alike, so that a figure means the same wherever it is printed.

Brackets are counted as EVALB does with Collins's parameters, with two differences. No top bracket counts, whatever its
label, since it is always right. The gold tag of a word decides on both sides whether it is punctuation, which does not
count; tags are scored on their own. Attachment leaves out words of Unicode punctuation alone and compares relations
whole.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from h3n.evaluate.attachment import PUNCTUATION, AttachmentCounts, Counted, by_tag, count_attachments
from h3n.evaluate.bracketing import Bracketed, bracketed_tree, with_words_of
from h3n.evaluate.evalb import BracketScore, score_sentence
from h3n.evaluate.heads import ClassCounts, count_classes
from h3n.evaluate.pairs import pair_words
from h3n.evaluate.parameters import Parameters, by_gold_tags, load_parameters, without_top
from h3n.evaluate.totals import BracketTotals, LabelCounts, LabelTotals, label_counts, length_band
from h3n.trees import Sentence

TAGS_GIVEN = "# tags = given"


def mark_tags(sentence: Sentence, *, given: bool) -> Sentence:
    """Return a sentence to be parsed, with a comment if its tags are ``given`` to a parser that copies them."""
    comments = tuple(comment for comment in sentence.comments if comment != TAGS_GIVEN)
    if given and (sentence.tags is not None or sentence.upos is not None):
        comments += (TAGS_GIVEN,)
    return sentence if comments == sentence.comments else replace(sentence, comments=comments)


def has_given_tags(sentence: Sentence) -> bool:
    """Return whether a parsed sentence says that its tags came from the input."""
    return TAGS_GIVEN in sentence.comments


def usual_parameters(name: str = "collins") -> Parameters:
    """Return the named parameters with the convention of this module: no top bracket, punctuation by gold tags."""
    return by_gold_tags(without_top(load_parameters(name)))


@dataclass(frozen=True, slots=True, kw_only=True)
class Convention:
    """What counts; by default as this module says.

    ``punctuation`` is the way to leave out punctuation in the plain UAS and LAS; a choice of ``punctuation_tags``
    changes the way called ``tag``.
    """

    parameters: Parameters = field(default_factory=usual_parameters)
    punctuation: str = "unicode"
    punctuation_tags: frozenset[str] = frozenset()
    subtypes: bool = True

    def ways(self) -> dict[str, Counted]:
        """Return which words count, for each way to leave out punctuation."""
        return {**PUNCTUATION, "tag": by_tag(self.punctuation_tags)} if self.punctuation_tags else PUNCTUATION

    def relation(self, name: str) -> str:
        """Return a relation as it is compared."""
        return name if self.subtypes else name.split(":")[0]


@dataclass(frozen=True, slots=True, kw_only=True)
class SentenceCounts:
    """What was counted in one sentence; None or nothing where the two sides do not both have it."""

    words: int
    tags_given: bool = False
    brackets: BracketScore | None = None
    attachments: Mapping[str, AttachmentCounts] = field(default_factory=dict)
    classes: Mapping[str, ClassCounts] = field(default_factory=dict)


def count_sentence(
    gold: Sentence,
    predicted: Sentence,
    *,
    convention: Convention,
    classes: Mapping[str, tuple[Sequence[Hashable] | None, Sequence[Hashable] | None]] | None = None,
) -> SentenceCounts:
    """Return the counts of one sentence, whose words are the same on both sides.

    Tags are compared as ``XPOS`` and ``UPOS``; ``classes`` names further columns of gold and predicted classes.
    """
    brackets = None
    if gold.tree is not None and predicted.tree is not None:
        brackets = score_sentence(*_bracketed(gold, predicted), parameters=convention.parameters)
    attachments = {}
    if gold.dependencies is not None and predicted.dependencies is not None:
        attachments = {
            name: count_attachments(gold, predicted, counted=counted, subtypes=convention.subtypes)
            for name, counted in convention.ways().items()
        }
    columns = {"XPOS": (gold.tags, predicted.tags), "UPOS": (gold.upos, predicted.upos), **(classes or {})}
    return SentenceCounts(
        words=len(gold),
        tags_given=has_given_tags(predicted),
        brackets=brackets,
        attachments=attachments,
        classes={
            name: count_classes(wanted, found)
            for name, (wanted, found) in columns.items()
            if wanted is not None and found is not None
        },
    )


def _bracketed(gold: Sentence, predicted: Sentence) -> tuple[Bracketed, Bracketed]:
    """Return both trees; the spelling of words, such as that of quotation marks, is gold's."""
    wanted = bracketed_tree(gold.tree, gold.place)
    return wanted, with_words_of(wanted, bracketed_tree(predicted.tree, predicted.place))


@dataclass(slots=True)
class TreebankTotals:
    """The counts of all sentences, taken up one at a time."""

    convention: Convention = field(default_factory=Convention)
    brackets: BracketTotals = field(init=False)
    labels: LabelTotals = field(init=False)
    attachments: dict[str, AttachmentCounts] = field(default_factory=dict)
    attachments_by_length: dict[int, AttachmentCounts] = field(default_factory=dict)
    relations: dict[str, Counter[str]] = field(default_factory=dict)
    classes: dict[str, ClassCounts] = field(default_factory=dict)
    sentences: int = 0
    tags_given: int = 0

    def __post_init__(self) -> None:
        self.brackets = BracketTotals(self.convention.parameters)
        self.labels = LabelTotals(self.convention.parameters)

    def add(self, counts: SentenceCounts) -> None:
        """Take up what was counted in one sentence."""
        self.sentences += 1
        self.tags_given += counts.tags_given
        if counts.brackets is not None:
            self.brackets.add(counts.brackets)
        for name, one in counts.attachments.items():
            self.attachments[name] = self.attachments.get(name, AttachmentCounts()) + one
        if counts.attachments:
            ten = length_band(counts.words)
            plain = counts.attachments[self.convention.punctuation]
            self.attachments_by_length[ten] = self.attachments_by_length.get(ten, AttachmentCounts()) + plain
        for name, share in counts.classes.items():
            self.classes[name] = self.classes.get(name, ClassCounts()) + share

    def add_details(self, gold: Sentence, predicted: Sentence) -> None:
        """Take up the labels and relations of one sentence."""
        if gold.tree is not None and predicted.tree is not None:
            self.labels.add(*_bracketed(gold, predicted))
        if gold.dependencies is None or predicted.dependencies is None:
            return
        names = ("gold", "matched", "predicted")
        wanted, matched, found = (self.relations.setdefault(name, Counter()) for name in names)
        kept_words = self.convention.ways()[self.convention.punctuation](gold, gold.dependencies)
        arcs = (
            zip(tree.governors, map(self.convention.relation, tree.relations), strict=True)
            for tree in (gold.dependencies, predicted.dependencies)
        )
        rows = zip(kept_words, *arcs, strict=True)
        for kept, (governor, relation), (guess, guessed) in rows:
            if kept:
                wanted[relation] += 1
                found[guessed] += 1
                matched[relation] += (governor, relation) == (guess, guessed)

    def relation_counts(self) -> dict[str, LabelCounts]:
        """Return the counts per relation; one is right if the governor is right too."""
        names = ("gold", "matched", "predicted", "matched")
        return label_counts(*(self.relations.get(name, Counter()) for name in names))


def score_treebank(
    gold: Iterable[Sentence], predicted: Iterable[Sentence], *, convention: Convention | None = None
) -> TreebankTotals:
    """Return the counts of all sentences; raise `MismatchError` where words or numbers of sentences differ."""
    totals = TreebankTotals(convention or Convention())
    for wanted, found in pair_words(gold, predicted):
        totals.add(count_sentence(wanted, found, convention=totals.convention))
    return totals


def main_scores(totals: TreebankTotals) -> dict[str, float]:
    """Return the scores that a log or a table shows, in percent, as far as both sides have what they need."""
    scores: dict[str, float] = {}
    if totals.brackets.all.sentences:
        counts = totals.brackets.all
        scores |= {"LP": counts.precision, "LR": counts.recall, "LF1": counts.f1, "exact": counts.exact}
    if totals.attachments:
        plain = totals.attachments[totals.convention.punctuation]
        scores |= {"UAS": plain.uas, "LAS": plain.las}
    return scores | {name: counts.accuracy for name, counts in totals.classes.items() if counts.words}
