"""One parser on a treebank by several decoders and head scores; the network runs once for all of them."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from h3n.convert import join
from h3n.decode import DECODERS, Scores
from h3n.engine.engine import Scored
from h3n.engine.ranking import RANKINGS
from h3n.errors import DecodeError, UnknownName, UsageError
from h3n.evaluate import ClassCounts, Convention, TreebankTotals, count_sentence, main_scores
from h3n.parser import Parser
from h3n.training.data import Example
from h3n.training.evaluation import score_examples
from h3n.trees import HeadedSpan


@dataclass(frozen=True, slots=True)
class Way:
    """A way to decode: with which head scores, where the decoder uses them, and which weight of spans against arcs."""

    decoder: str
    head_score: str = ""
    weight: float | None = None


@dataclass(slots=True)
class Outcome:
    """What one way of decoding came to. ``right_heads`` counts the gold spans of two words or more whose head has the
    highest head score; ``problem`` says why a way has no figures."""

    way: Way
    totals: TreebankTotals = field(default_factory=TreebankTotals)
    right_heads: ClassCounts = field(default_factory=ClassCounts)
    seconds: float = 0.0
    problem: str | None = None

    def scores(self) -> dict[str, float]:
        """Return the scores in percent, as `h3n.evaluate.treebank` counts them."""
        share = {"right_heads": self.right_heads.accuracy} if self.right_heads.words else {}
        return {} if self.problem else main_scores(self.totals) | share


def ways_of(parser: Parser, names: Sequence[str] = ()) -> list[Way]:
    """Return the ways to decode of these names: a decoder, or one with a head score such as ``h3n/soft``.

    Without names it is the parser's own way. ``all`` stands for every decoder that it has the trees for, and for every
    head score that it has.
    """
    own = parser.engine.config.decoding.head_score
    ways: list[Way] = []
    for name in names or (parser.decoder_for(None),):
        if name == "all":
            ways += _every_way(parser)
            continue
        decoder, slash, head_score = name.partition("/")
        if decoder not in DECODERS:
            raise UnknownName("decoder", decoder, [*DECODERS, "all"])
        if slash and (head_score not in RANKINGS or not uses_heads(decoder)):
            raise UnknownName(f"head score of {decoder}", head_score, RANKINGS if uses_heads(decoder) else ())
        parser.decoder_for(decoder)
        ways.append(Way(decoder, (head_score or own) if uses_heads(decoder) else ""))
    return list(dict.fromkeys(ways))


def _every_way(parser: Parser) -> list[Way]:
    ways: list[Way] = []
    for decoder in DECODERS:
        try:
            parser.decoder_for(decoder)
        except UsageError:
            continue
        ways += [Way(decoder, name) for name in head_scores_of(parser)] if uses_heads(decoder) else [Way(decoder)]
    # `auto` is one of the others on every sentence.
    return [way for way in ways if way.decoder != "auto"]


def uses_heads(decoder: str) -> bool:
    """Return whether a decoder finds the heads of spans by a score."""
    return DECODERS[decoder].takes_heads


def head_scores_of(parser: Parser) -> list[str]:
    """Return the head scores that a parser has."""
    return [name for name in RANKINGS if parser.engine.network.ordered or "order" not in name]


def compare_ways(parser: Parser, examples: Sequence[Example], ways: Sequence[Way]) -> list[Outcome]:
    """Return what each way of decoding comes to on gold sentences.

    The model sees no gold tags, unless it was trained to read tags. Parses are counted batch by batch, so that memory
    does not grow with the treebank. A decoder that refuses a sentence gets no figures.
    """
    outcomes = [Outcome(way) for way in ways]
    for numbers, scored in score_examples(parser, examples):
        batch = [examples[number] for number in numbers]
        spans = [_gold_spans(example) for example in batch]
        for outcome in outcomes:
            if outcome.problem is None:
                _take_up(outcome, parser, scored, batch, spans)
    return outcomes


def _take_up(
    outcome: Outcome, parser: Parser, scored: Scored, batch: Sequence[Example], spans: Sequence[Sequence[HeadedSpan]]
) -> None:
    way = outcome.way
    started = time.process_time()
    try:
        options = parser.options(decoder=way.decoder, weight=way.weight, head_score=way.head_score or None)
        parsed = parser.decode(scored, options)
    except DecodeError as error:
        outcome.problem = str(error)
        return
    outcome.seconds += time.process_time() - started
    for example, found in zip(batch, parsed, strict=True):
        counts = count_sentence(example.sentence, found.sentence, convention=Convention())
        outcome.totals.add(counts)
    if way.head_score:
        ranked = parser.engine.rank(scored, decoder="h3n", head_score=way.head_score)
        for one, gold in zip(ranked, spans, strict=True):
            outcome.right_heads += count_right_heads(one, gold)


def _gold_spans(example: Example) -> Sequence[HeadedSpan]:
    sentence = example.sentence
    if sentence.tree is None or sentence.dependencies is None:
        return ()
    return join(sentence.tree, sentence.dependencies).tree.spans


def count_right_heads(scores: Scores, spans: Sequence[HeadedSpan]) -> ClassCounts:
    """Return how many spans of two words or more have the highest head score, the last on a tie, at their head."""
    if scores.head is None:
        return ClassCounts()
    longer = [span for span in spans if span.end - span.start > 1]
    best = [span.end - 1 - int(np.argmax(scores.head[span.start : span.end][::-1])) for span in longer]
    right = sum(span.head == word for span, word in zip(longer, best, strict=True))
    return ClassCounts(len(longer), right)
