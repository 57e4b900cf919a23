"""How good a model is on gold sentences: they are scored by the network once and decoded in any number of ways."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from h3n.config import Treebank
from h3n.convert import join
from h3n.evaluate import ClassCounts, Convention, SentenceCounts, count_sentence
from h3n.evaluate.treebank import usual_parameters
from h3n.model.model import Model, Parsed, Scored
from h3n.training.comparison import count_right_heads
from h3n.training.data import Example, load_examples
from h3n.training.evaluation import bare, compare

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
    model: Model, files: Iterable[str], *, name: str, limit: int = 0, scoring: str = "collins", test: bool = False
) -> Gold:
    """Return the sentences of files that hold the same ones, each with a tree, as this model's training reads them."""
    examples = load_examples([Treebank(files=tuple(files), limit=limit)], data=model.config.data)
    return Gold(name=name, examples=examples, scoring=scoring, test=test)


def clock_for(model: Model) -> Callable[[], float]:
    """Return the clock for a model: processor time, or that of the clock on the wall on another device."""
    return time.process_time if model.network.device.type == "cpu" else time.perf_counter


def score_gold(model: Model, gold: Gold) -> ScoredGold:
    """Run the network on gold words, and on gold tags if the model reads tags."""
    clock = clock_for(model)
    sentences = [bare(example.sentence, tags=model.config.encoder.tags) for example in gold.examples]
    styles = [example.style for example in gold.examples]
    for _ in model.score(sentences[:2], styles=styles[:2]):
        pass  # warm up: some work is done once in a process
    started = clock()
    parts = list(model.score(sentences, styles=styles))
    return ScoredGold(parts, clock() - started)


def decode_gold(
    model: Model, scored: ScoredGold, *, decoder: str, weight: float, head_score: str | None = None
) -> tuple[list[Parsed], float]:
    """Return the parses in the sentences' order and the seconds of decoding.

    ``decoder`` is one of `DECODERS`, or two with a plus between them: the first for phrases, the second for
    dependencies.
    """
    clock = clock_for(model)
    started = clock()
    parses: dict[int, Parsed] = {}
    for numbers, part in scored.parts:
        parses.update(zip(numbers, _decode_part(model, part, decoder, weight, head_score), strict=True))
    return [parses[at] for at in range(len(parses))], clock() - started


def _decode_part(model: Model, part: Scored, decoder: str, weight: float, head_score: str | None) -> Iterator[Parsed]:
    first, _, second = decoder.partition("+")
    phrases = model.decode(part, decoder=first, weight=weight, head_score=head_score)
    if not second:
        yield from phrases
        return
    arcs = model.decode(part, decoder=second, weight=weight, head_score=head_score)
    for one, other in zip(phrases, arcs, strict=True):
        yield replace(one, sentence=replace(one.sentence, dependencies=other.sentence.dependencies))


def right_heads(model: Model, gold: Gold, scored: ScoredGold, *, head_score: str) -> ClassCounts:
    """Return how many spans of the gold joint trees have the head that a head score picks.

    Spans of one word are left out. It is what `h3n` depends on: a span with a wrong head gets wrong arcs.
    """
    counts = ClassCounts()
    for numbers, part in scored.parts:
        ranked = model.rank(part, decoder="h3n", head_score=head_score)
        for number, scores in zip(numbers, ranked, strict=True):
            sentence = gold.examples[number].sentence
            if sentence.tree is not None and sentence.dependencies is not None:
                counts += count_right_heads(scores, join(sentence.tree, sentence.dependencies).tree.spans)
    return counts


# Decoders that weigh spans against arcs.
WEIGHING = ("hpsg", "h3n", "auto")
