"""How good a parser is on dev, and which weight of spans against arcs suits it best."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from h3n.evaluate.attachment import AttachmentCounts, count_attachments
from h3n.evaluate.bracketing import bracketed_tree
from h3n.evaluate.brackets import BracketCounts, score_sentence
from h3n.evaluate.heads import ClassCounts, count_classes
from h3n.evaluate.parameters import load_parameters, without_top
from h3n.model.model import Model, Parsed, Scored
from h3n.training.data import Example
from h3n.trees import Constituent, Sentence, leaves, rebuild

WEIGHTS = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)


def bare(sentence: Sentence, *, tags: bool) -> Sentence:
    """Return what a parser may see of a gold sentence: its words, and its tags if the parser reads tags."""
    return Sentence(words=sentence.words, tags=sentence.tags if tags else None, place=sentence.place)


def evaluate(
    parser: Model, examples: Sequence[Example], *, decoder: str | None = None, weight: float | None = None
) -> dict[str, float]:
    """Return the scores of a parser in percent: LF1, UAS, LAS, head and tag accuracy, as far as gold allows."""
    reads_tags = parser.config.encoder.tags
    sentences = [bare(example.sentence, tags=reads_tags) for example in examples]
    styles = [example.style for example in examples]
    parsed = parser.parse(sentences, decoder=decoder, weight=weight, styles=styles)
    return compare(examples, parsed)


def compare(examples: Sequence[Example], parsed: Sequence[Parsed], *, scoring: str = "collins") -> dict[str, float]:
    """Return the scores of parses against gold.

    Brackets are counted as EVALB does with the parameters that ``scoring`` names and no top label. Which words are
    punctuation is decided by the gold tags on both sides: tags are scored by themselves. Attachment leaves out words of
    punctuation only.
    """
    brackets, attachments = BracketCounts(), AttachmentCounts()
    heads, tags, upos = ClassCounts(), ClassCounts(), ClassCounts()
    parameters = without_top(load_parameters(scoring))
    for example, found in zip(examples, parsed, strict=True):
        gold, made = example.sentence, found.sentence
        if gold.tree is not None and made.tree is not None:
            predicted = bracketed_tree(_with_tags_of(gold.tree, made.tree))
            brackets += score_sentence(bracketed_tree(gold.tree), predicted, parameters=parameters).counts
        if gold.dependencies is not None and made.dependencies is not None:
            attachments += count_attachments(gold, made)
        if example.levels is not None:
            heads += count_classes(example.levels, found.levels)
        if gold.tags is not None and made.tags is not None:
            tags += count_classes(gold.tags, made.tags)
        if gold.upos is not None and made.upos is not None:
            upos += count_classes(gold.upos, made.upos)
    scores: dict[str, float] = {}
    if brackets.sentences:
        scores |= {"LP": brackets.precision, "LR": brackets.recall, "LF1": brackets.f1, "exact": brackets.exact}
    if attachments.words:
        scores |= {"UAS": attachments.uas, "LAS": attachments.las}
    named = {"heads": heads, "tags": tags, "upos": upos}
    return scores | {name: counts.accuracy for name, counts in named.items() if counts.words}


def quality(scores: dict[str, float]) -> float:
    """Return the figure the best model is chosen by: LF1 + LAS (paper, Setup), or whichever of them there is."""
    return scores.get("LF1", 0.0) + scores.get("LAS", 0.0)


def _with_tags_of(gold: Constituent, made: Constituent) -> Constituent:
    """Return the second tree with the first one's leaves."""
    gold_leaves = leaves(gold)
    found = rebuild(made, lambda _: next(gold_leaves), lambda node, children: Constituent(node.label, children))
    if not isinstance(found, Constituent):
        raise ValueError("the tree has no words")
    return found


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
