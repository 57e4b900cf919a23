"""How good a parser is on dev, and which weight of spans against arcs suits it best."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from h3n.evaluate.treebank import Convention, TreebankTotals, count_sentence, main_scores, usual_parameters
from h3n.model.model import Model, Parsed, Scored
from h3n.training.data import Example
from h3n.trees import Sentence

LOGGED_FIRST = ("LP", "LR", "LF1", "exact", "UAS", "LAS")
# Name of a class -> its name in logs.
LOGGED = {"heads": "heads", "XPOS": "tags", "UPOS": "upos", "lemmas": "lemmas", "features": "features"}
NONE = "_"  # the features of a word without any
Column = tuple[str, ...] | None
WEIGHTS = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)


def bare(sentence: Sentence, *, tags: bool) -> Sentence:
    """Return what a parser may see of a gold sentence: its words, and its tags if the parser reads tags."""
    return Sentence(words=sentence.words, tags=sentence.tags if tags else None, place=sentence.place)


def evaluate(
    parser: Model, examples: Sequence[Example], *, decoder: str | None = None, weight: float | None = None
) -> dict[str, float]:
    """Return the scores of a parser in percent: LF1, UAS, LAS, head and tag accuracy, as far as gold allows."""
    return compare(examples, _parse(parser, examples, decoder=decoder, weight=weight))


def evaluate_each(parser: Model, examples: Sequence[Example]) -> tuple[dict[str, float], dict[str, dict[str, float]]]:
    """Return the scores of a parser on all examples, and on each of their treebanks if there are several."""
    parsed = _parse(parser, examples)
    return compare(examples, parsed), by_treebank(examples, parsed)


def _parse(
    parser: Model, examples: Sequence[Example], *, decoder: str | None = None, weight: float | None = None
) -> list[Parsed]:
    reads_tags = parser.config.encoder.tags
    sentences = [bare(example.sentence, tags=reads_tags) for example in examples]
    styles = [example.style for example in examples]
    return parser.parse(sentences, decoder=decoder, weight=weight, styles=styles)


def compare(examples: Sequence[Example], parsed: Sequence[Parsed], *, scoring: str = "collins") -> dict[str, float]:
    """Return the scores of parses against gold, counted as `h3n.evaluate.treebank` says.

    ``heads`` is the share of words whose level the network classifies rightly, whatever tree was decoded.
    """
    totals = TreebankTotals(Convention(parameters=usual_parameters(scoring)))
    for example, found in zip(examples, parsed, strict=True):
        classes = {"heads": (example.levels, found.levels)} | word_classes(example.sentence, found.sentence)
        counts = count_sentence(example.sentence, found.sentence, convention=totals.convention, classes=classes)
        totals.add(counts)
    scores = main_scores(totals)
    return {LOGGED.get(name, name): scores[name] for name in (*LOGGED_FIRST, *LOGGED) if name in scores}


def word_classes(gold: Sentence, found: Sentence) -> dict[str, tuple[Column, Column]]:
    """Return lemmas and features to be compared; where there are lemmas, a sentence without any feature has none."""
    without = (NONE,) * len(gold) if gold.lemmas is not None else None
    return {"lemmas": (gold.lemmas, found.lemmas), "features": (gold.features or without, found.features)}


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
    parser: Model, examples: Sequence[Example], *, weights: Iterable[float] = WEIGHTS
) -> tuple[float, dict[float, dict[str, float]]]:
    """Return the weight of spans with which dev comes out best, and the scores with each; the network runs once."""
    reads_tags = parser.config.encoder.tags
    scored: list[tuple[list[int], Scored]] = list(
        parser.score(
            [bare(example.sentence, tags=reads_tags) for example in examples],
            styles=[example.style for example in examples],
        )
    )
    tried: dict[float, dict[str, float]] = {}
    for weight in weights:
        found = {
            number: parsed
            for numbers, part in scored
            for number, parsed in zip(numbers, parser.decode(part, weight=weight), strict=True)
        }
        tried[weight] = compare(examples, [found[at] for at in range(len(examples))])
    best = max(tried, key=lambda weight: quality(tried[weight]))
    return best, tried


def with_weight(parser: Model, weight: float) -> Model:
    """Return the parser with another weight of spans against arcs."""
    config = replace(parser.config, decoding=replace(parser.config.decoding, weight=weight))
    return Model(parser.network, parser.vocabulary, config)
