"""Likely annotation errors in a treebank with both trees, the likeliest first.

Each arc and each phrase is judged by what stands in the same context elsewhere in the treebank: the relation of a word
by its tag and its governor's, the governor among the words of the sentence, the label of a phrase by what it is made
of, by its head and by what is around it. An arc that leaves a phrase whose head is another word breaks the Head Feature
Principle: a phrase has one head, and all else in it depends on words inside.

Probabilities are estimated from the treebank that is checked, without the occurrence in question, so that a mistake
does not vouch for itself. A context leans on the next wider one the more, the more kinds of values it has for its size
(Witten and Bell, 1991).
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass

from h3n.convert import join
from h3n.errors import MismatchError, Place
from h3n.trees import HELPER, ROOT, Dependencies, HeadedSpan, Sentence, strip_tree

FLOOR = 1e-4  # the probability of what was never seen in any context


class Expectation:
    """Values in contexts, each context a sequence of wider and wider ones."""

    def __init__(self) -> None:
        self._counts: defaultdict[Hashable, Counter[str]] = defaultdict(Counter)
        self._totals: Counter[Hashable] = Counter()

    def add(self, value: str, contexts: Sequence[Hashable]) -> None:
        """Count a value in its contexts, the narrowest first."""
        for depth, context in enumerate(contexts):
            self._counts[depth, context][value] += 1
            self._totals[depth, context] += 1

    def probability(self, value: str, contexts: Sequence[Hashable], *, without: str | None = None) -> float:
        """Return how likely a value is; ``without`` is the value of the occurrence that does not count."""
        found = FLOOR
        for depth in reversed(range(len(contexts))):
            key = (depth, contexts[depth])
            # `get` does not make an entry, which would grow the table with every question.
            counts = self._counts.get(key, Counter())
            count = counts[value] - (value == without)
            total = self._totals[key] - (without is not None)
            kinds = max(1, len(counts))
            found = (count + kinds * found) / (total + kinds)
        return found

    def best(self, contexts: Sequence[Hashable], *, without: str) -> tuple[str, float]:
        """Return the likeliest value and its probability."""
        values: Iterable[str] = self._counts.get((0, contexts[0]), Counter())
        known = {*values, without, *self._frequent(contexts)}
        rated = ((self.probability(value, contexts, without=without), value) for value in sorted(known))
        probability, value = max(rated)
        return value, probability

    def _frequent(self, contexts: Sequence[Hashable]) -> list[str]:
        wider = self._counts.get((len(contexts) - 1, contexts[-1]), Counter())
        return [value for value, _ in wider.most_common(5)]

    def surprise(self, value: str, contexts: Sequence[Hashable]) -> tuple[float, str]:
        """Return how many times as likely the best other value is, as a natural logarithm, and that value."""
        other, probability = self.best(contexts, without=value)
        return math.log(probability / self.probability(value, contexts, without=value)), other


NEAR = (1, 2, 4, 8)  # bounds of the bands of distance


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """Something that looks wrong. ``suspicion`` is the logarithm of how many times as likely what is usual would be;
    ``sentence`` counts from 1, ``start`` and ``end`` are the words, half-open from 0; ``reasons`` come worst first."""

    suspicion: float
    sentence: int
    kind: str  # "arc" or "phrase"
    start: int
    end: int
    what: str
    reasons: tuple[str, ...]
    sent_id: str | None = None
    place: Place | None = None


@dataclass(frozen=True, slots=True)
class _Checked:
    """A sentence made ready: phrases with heads, without helper spans; ``outer`` is the phrase around each phrase."""

    number: int
    sentence: Sentence
    arcs: Dependencies
    tags: tuple[str, ...]
    spans: tuple[HeadedSpan, ...]
    outer: tuple[str, ...]
    children: tuple[tuple[str, ...], ...]


def check_treebank(sentences: Iterable[Sentence]) -> list[Finding]:
    """Return what looks wrong, the most suspicious first; every sentence has both trees and tags."""
    return _Checker([_ready(sentence, number) for number, sentence in enumerate(sentences, start=1)]).findings()


def _ready(sentence: Sentence, number: int) -> _Checked:
    tree = strip_tree(sentence.tree) if sentence.tree is not None else None
    tags = sentence.tags or sentence.upos
    if tree is None or sentence.dependencies is None or tags is None:
        missing = "phrase structure" if tree is None else "dependencies" if sentence.dependencies is None else "tags"
        raise MismatchError(
            f"{sentence.place or f'sentence {number}'}: the sentence has no {missing}; both trees are needed"
        )
    spans = tuple(span for span in join(tree, sentence.dependencies).tree.spans if span.label != HELPER)
    outer, children = _surroundings(spans, tags)
    return _Checked(number, sentence, sentence.dependencies, tags, spans, outer, children)


def _surroundings(
    spans: Sequence[HeadedSpan], tags: Sequence[str]
) -> tuple[tuple[str, ...], tuple[tuple[str, ...], ...]]:
    """Return for each span, in pre-order, the label around it and the labels and tags of its parts."""
    outer: list[str] = []
    parts: list[list[str]] = [[] for _ in spans]
    covered: list[int] = [span.start for span in spans]
    open_spans: list[int] = []

    def close(at: int) -> None:
        parts[at] += tags[covered[at] : spans[at].end]

    for at, span in enumerate(spans):
        while open_spans and spans[open_spans[-1]].end <= span.start:
            close(open_spans.pop())
        if open_spans:
            parent = open_spans[-1]
            parts[parent] += [*tags[covered[parent] : span.start], span.label]
            covered[parent] = span.end
        outer.append(spans[open_spans[-1]].label if open_spans else "")
        open_spans.append(at)
    while open_spans:
        close(open_spans.pop())
    return tuple(outer), tuple(map(tuple, parts))


class _Checker:
    """Counts of everything in a treebank, and the judgement by them."""

    def __init__(self, sentences: Sequence[_Checked]) -> None:
        self.sentences = sentences
        self.relations, self.governors, self.breaks, self.by_parts, self.by_head = (Expectation() for _ in range(5))
        for one in sentences:
            for word, relation in enumerate(one.arcs.relations):
                self.relations.add(relation, _relation_contexts(one, word))
                self.governors.add(*_governor_event(one, word, one.arcs.governors[word]))
            for word, broken in enumerate(_broken(one)):
                self.breaks.add(str(broken is not None), _break_contexts(one, word))
            for at, span in enumerate(one.spans):
                self.by_parts.add(span.label, _part_contexts(one, at))
                self.by_head.add(span.label, _head_contexts(one, at))

    def findings(self) -> list[Finding]:
        found = [finding for one in self.sentences for finding in (*self._arcs(one), *self._phrases(one))]
        return sorted(found, key=lambda finding: (-finding.suspicion, finding.sentence, finding.start))

    def _arcs(self, one: _Checked) -> Iterable[Finding]:
        broken = _broken(one)
        for word, (governor, relation) in enumerate(zip(one.arcs.governors, one.arcs.relations, strict=True)):
            odd, usual = self.relations.surprise(relation, _relation_contexts(one, word))
            far, other = self._governor(one, word)
            reasons = [
                (odd, f"{usual} is usual here, not {relation}"),
                (far, f"{other} would be a more usual governor"),
            ]
            phrase = broken[word]
            if phrase is not None:
                surprise, _ = self.breaks.surprise("True", _break_contexts(one, word))
                head = one.sentence.words[phrase.head]
                reasons.append((max(surprise, 0.0), f"it leaves the {phrase.label} whose head is {head}"))
            what = relation if governor == ROOT else f"{relation} of {one.sentence.words[governor]}"
            yield _finding(one, "arc", (word, word + 1), what, reasons)

    def _governor(self, one: _Checked, word: int) -> tuple[float, str]:
        """Return how many times as likely the best other governor is, as a logarithm, and that word."""
        value, contexts = _governor_event(one, word, one.arcs.governors[word])
        own = self.governors.probability(value, contexts, without=value)
        best, name = own, ""
        for other in range(len(one.tags)):
            if other not in (word, one.arcs.governors[word]):
                event, _ = _governor_event(one, word, other)
                likely = self.governors.probability(event, contexts, without=value)
                if likely > best:
                    best, name = likely, one.sentence.words[other]
        return math.log(best / own), name

    def _phrases(self, one: _Checked) -> Iterable[Finding]:
        for at, span in enumerate(one.spans):
            parts, usual = self.by_parts.surprise(span.label, _part_contexts(one, at))
            head, by_head = self.by_head.surprise(span.label, _head_contexts(one, at))
            word = one.sentence.words[span.head]
            reasons = [
                (parts, f"{usual} is usual for {' '.join(one.children[at][:8])}"),
                (head, f"{by_head} is usual with the head {word}/{one.tags[span.head]}"),
            ]
            yield _finding(one, "phrase", (span.start, span.end), span.label, reasons)


def _finding(
    one: _Checked, kind: str, words: tuple[int, int], what: str, reasons: Sequence[tuple[float, str]]
) -> Finding:
    kept = sorted((reason for reason in reasons if reason[0] > 0.5), reverse=True)
    text = " ".join(one.sentence.words[words[0] : words[1]][:8])
    return Finding(
        suspicion=sum(surprise for surprise, _ in reasons),
        sentence=one.number,
        kind=kind,
        start=words[0],
        end=words[1],
        what=f"{text}: {what}",
        reasons=tuple(reason for _, reason in kept),
        sent_id=one.sentence.sent_id,
        place=one.sentence.place,
    )


def _broken(one: _Checked) -> list[HeadedSpan | None]:
    """Return for each word the outermost phrase that its arc leaves although another word is the phrase's head."""
    broken: list[HeadedSpan | None] = [None] * len(one.tags)
    for span in one.spans:
        for word in range(span.start, span.end):
            governor = one.arcs.governors[word]
            inside = span.start <= governor < span.end
            if broken[word] is None and not inside and word != span.head:
                broken[word] = span
    return broken


def _tag(one: _Checked, word: int) -> str:
    return "ROOT" if word == ROOT else one.tags[word]


def _side(word: int, governor: int) -> str:
    return "" if governor == ROOT else "left" if governor < word else "right"


def _relation_contexts(one: _Checked, word: int) -> tuple[Hashable, ...]:
    governor = one.arcs.governors[word]
    tag, above, side = one.tags[word], _tag(one, governor), _side(word, governor)
    form = one.sentence.words[word].lower()
    return (tag, above, side, form), (tag, above, side), (tag, side), tag, ""


def _governor_event(one: _Checked, word: int, governor: int) -> tuple[str, tuple[Hashable, ...]]:
    """Return the kind of governor (tag, side and distance), and the contexts it is expected by."""
    relation = one.arcs.relations[word]
    distance = 0 if governor == ROOT else sum(abs(word - governor) > bound for bound in NEAR)
    return f"{_tag(one, governor)} {_side(word, governor)} {distance}", ((one.tags[word], relation), relation, "")


def _break_contexts(one: _Checked, word: int) -> tuple[Hashable, ...]:
    relation = one.arcs.relations[word]
    return (relation, one.tags[word]), relation, ""


def _part_contexts(one: _Checked, at: int) -> tuple[Hashable, ...]:
    parts = one.children[at]
    return (parts, one.outer[at]), parts, (parts[0], parts[-1], len(parts) > 1), len(parts) > 1, ""


def _head_contexts(one: _Checked, at: int) -> tuple[Hashable, ...]:
    span = one.spans[at]
    tag, relation, outer = one.tags[span.head], one.arcs.relations[span.head], one.outer[at]
    longer = span.end - span.start > 1
    return (tag, relation, outer, longer), (tag, outer, longer), (tag, longer), longer, ""
