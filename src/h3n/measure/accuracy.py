"""How good a parser is on gold sentences: they are scored by the network once and decoded in any number of ways."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from h3n.config import Treebank
from h3n.convert import join
from h3n.engine.engine import Scored
from h3n.evaluate import ClassCounts, Convention, SentenceCounts, count_sentence
from h3n.evaluate.treebank import usual_parameters
from h3n.parser import ParseOptions, Parser
from h3n.training.comparison import count_right_heads
from h3n.training.data import Example, load_examples
from h3n.training.evaluation import Parsed, compare, decode_examples, score_examples

Figures = dict[str, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Gold:
    """Sentences with gold trees; ``scoring`` names EVALB's parameters for them."""

    name: str
    examples: list[Example]
    scoring: str = "collins"
    test: bool = False

    @property
    def words(self) -> int:
        return sum(len(example.sentence) for example in self.examples)

    def compare(self, parsed: Sequence[Parsed]) -> Figures:
        """Return LP, LR, LF1, UAS, LAS and the accuracies of levels and tags, as far as gold has them."""
        return compare(self.examples, parsed, scoring=self.scoring)

    def count(self, parsed: Sequence[Parsed]) -> list[SentenceCounts]:
        """Return what counts in each sentence."""
        convention = Convention(parameters=usual_parameters(self.scoring))
        pairs = zip(self.examples, parsed, strict=True)
        return [count_sentence(one.sentence, found.sentence, convention=convention) for one, found in pairs]


@dataclass(frozen=True, slots=True)
class ScoredGold:
    """What the network says of gold sentences, in batches with their numbers, and the seconds it took."""

    parts: list[tuple[list[int], Scored]]
    seconds: float


def read_gold(
    parser: Parser, files: Iterable[str], *, name: str, limit: int = 0, scoring: str = "collins", test: bool = False
) -> Gold:
    """Return the sentences of files that hold the same ones, each with a tree, as training reads them."""
    examples = load_examples([Treebank(files=tuple(files), limit=limit)], data=parser.engine.config.data)
    return Gold(name=name, examples=examples, scoring=scoring, test=test)


def clock_for(parser: Parser) -> Callable[[], float]:
    """Return the clock for a parser: processor time, or that of the clock on the wall on another device."""
    return time.process_time if parser.engine.network.device == "cpu" else time.perf_counter


def score_gold(parser: Parser, gold: Gold) -> ScoredGold:
    """Run the network on gold words, and on gold tags if the model reads tags."""
    clock = clock_for(parser)
    for _ in score_examples(parser, gold.examples[:2]):
        pass  # warm up: some work is done once in a process
    started = clock()
    parts = list(score_examples(parser, gold.examples))
    return ScoredGold(parts, clock() - started)


def decode_gold(
    parser: Parser, scored: ScoredGold, *, decoder: str, weight: float, head_score: str | None = None
) -> tuple[list[Parsed], float]:
    """Return the parses in the sentences' order and the seconds of decoding.

    ``decoder`` is one of `DECODERS`, or two with a plus between them: the first for phrases, the second for
    dependencies.
    """
    clock = clock_for(parser)
    started = clock()
    first, _, second = decoder.partition("+")
    found = decode_examples(parser, scored.parts, _options(parser, first, weight, head_score))
    if second:
        arcs = decode_examples(parser, scored.parts, _options(parser, second, weight, head_score))
        found = [
            replace(one, sentence=replace(one.sentence, dependencies=other.sentence.dependencies))
            for one, other in zip(found, arcs, strict=True)
        ]
    return found, clock() - started


def _options(parser: Parser, decoder: str, weight: float, head_score: str | None) -> ParseOptions:
    return parser.options(decoder=decoder, weight=weight, head_score=head_score)


def right_heads(parser: Parser, gold: Gold, scored: ScoredGold, *, head_score: str) -> ClassCounts:
    """Return how many spans of the gold joint trees have the head that a head score picks.

    Spans of one word are left out. It is what `h3n` depends on: a span with a wrong head gets wrong arcs.
    """
    counts = ClassCounts()
    for numbers, part in scored.parts:
        ranked = parser.engine.rank(part, decoder="h3n", head_score=head_score)
        for number, scores in zip(numbers, ranked, strict=True):
            sentence = gold.examples[number].sentence
            if sentence.tree is not None and sentence.dependencies is not None:
                counts += count_right_heads(scores, join(sentence.tree, sentence.dependencies).tree.spans)
    return counts


# Decoders that weigh spans against arcs.
WEIGHING = ("hpsg", "h3n", "auto")
