"""How good a parser is on dev, and which weight of spans against arcs suits it best."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from h3n.decode import Parse
from h3n.engine.engine import Scored, level_classes
from h3n.evaluate.treebank import Convention, TreebankTotals, count_sentence, main_scores, usual_parameters
from h3n.parser import ParseOptions, Parser
from h3n.training.data import Example
from h3n.trees import Sentence

LOGGED_FIRST = ("LP", "LR", "LF1", "exact", "UAS", "LAS")
LOGGED = {"heads": "heads", "XPOS": "tags", "UPOS": "upos"}  # name of a class -> its name in logs
WEIGHTS = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)


def bare(sentence: Sentence, *, tags: bool) -> Sentence:
    """Return what a parser may see of a gold sentence: its words, and its tags if the parser reads tags."""
    return Sentence(words=sentence.words, tags=sentence.tags if tags else None, place=sentence.place)


@dataclass(frozen=True, slots=True)
class Parsed:
    """A gold sentence as it was parsed: its trees, the levels of its words, and what the decoder found, in numbers."""

    sentence: Sentence
    levels: tuple[int, ...]
    parse: Parse


def score_examples(parser: Parser, examples: Sequence[Example]) -> Iterator[tuple[list[int], Scored]]:
    """Yield what the network says of gold sentences: it sees their words, their style, and tags if it reads tags."""
    reads_tags = parser.engine.config.encoder.tags
    sentences = [bare(example.sentence, tags=reads_tags) for example in examples]
    return parser.engine.score(sentences, styles=[example.style for example in examples])


def decode_examples(parser: Parser, scored: Iterable[tuple[list[int], Scored]], options: ParseOptions) -> list[Parsed]:
    """Return the parses of gold sentences that the network has scored, in the order of their numbers."""
    found: dict[int, Parsed] = {}
    for numbers, part in scored:
        levels = level_classes(part.output)
        for number, result, row in zip(numbers, parser.decode(part, options), levels, strict=True):
            found[number] = Parsed(result.sentence, row, result.parse)
    return [found[number] for number in sorted(found)]


def parse_examples(
    parser: Parser, examples: Sequence[Example], *, decoder: str | None = None, weight: float | None = None
) -> list[Parsed]:
    """Return gold sentences as the parser finds them."""
    return decode_examples(parser, score_examples(parser, examples), parser.options(decoder=decoder, weight=weight))


def evaluate(
    parser: Parser, examples: Sequence[Example], *, decoder: str | None = None, weight: float | None = None
) -> dict[str, float]:
    """Return the scores of a parser in percent: LF1, UAS, LAS, head and tag accuracy, as far as gold allows."""
    return compare(examples, parse_examples(parser, examples, decoder=decoder, weight=weight))


def evaluate_each(parser: Parser, examples: Sequence[Example]) -> tuple[dict[str, float], dict[str, dict[str, float]]]:
    """Return the scores of a parser on all examples, and on each of their treebanks if there are several."""
    parsed = parse_examples(parser, examples)
    return compare(examples, parsed), by_treebank(examples, parsed)


def compare(examples: Sequence[Example], parsed: Sequence[Parsed], *, scoring: str = "collins") -> dict[str, float]:
    """Return the scores of parses against gold, counted as `h3n.evaluate.treebank` says.

    ``heads`` is the share of words whose level the network classifies rightly, whatever tree was decoded.
    """
    totals = TreebankTotals(Convention(parameters=usual_parameters(scoring)))
    for example, found in zip(examples, parsed, strict=True):
        levels = {"heads": (example.levels, found.levels)}
        counts = count_sentence(example.sentence, found.sentence, convention=totals.convention, classes=levels)
        totals.add(counts)
    scores = main_scores(totals)
    return {LOGGED.get(name, name): scores[name] for name in (*LOGGED_FIRST, *LOGGED) if name in scores}


def by_treebank(examples: Sequence[Example], parsed: Sequence[Parsed]) -> dict[str, dict[str, float]]:
    """Return the scores of each treebank apart, where there are several."""
    numbers: dict[str, list[int]] = {}
    for number, example in enumerate(examples):
        numbers.setdefault(example.treebank, []).append(number)
    if len(numbers) < 2:
        return {}
    return {
        name: compare([examples[number] for number in part], [parsed[number] for number in part])
        for name, part in numbers.items()
    }


def quality(scores: dict[str, float]) -> float:
    """Return the figure the best model is chosen by: LF1 + LAS (paper, section IV-A), or whichever of them there is."""
    return scores.get("LF1", 0.0) + scores.get("LAS", 0.0)


def tune_weight(
    parser: Parser, examples: Sequence[Example], *, weights: Iterable[float] = WEIGHTS
) -> tuple[float, dict[float, dict[str, float]]]:
    """Return the weight of spans with which dev comes out best, and the scores with each; the network runs once."""
    scored = list(score_examples(parser, examples))
    tried = {
        weight: compare(examples, decode_examples(parser, scored, parser.options(weight=weight))) for weight in weights
    }
    best = max(tried, key=lambda weight: quality(tried[weight]))
    return best, tried
