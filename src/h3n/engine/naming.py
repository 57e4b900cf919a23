"""A parse with names in place of numbers, and the trees that can be made of it.

Trees are made when they are asked for: most of what is parsed is written in one form alone.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from h3n.decode import Parse
from h3n.engine.vocabulary import NO_TAG, Vocabulary
from h3n.formats.brackets import bracket_line
from h3n.trees import Constituent, Dependencies, HeadedSpan, JointTree, Sentence, Span, tree_of


@dataclass(frozen=True, slots=True)
class Named:
    """What was found in a sentence: ``sentence`` has words, tags and dependencies, but no phrase structure yet."""

    sentence: Sentence
    parse: Parse
    vocabulary: Vocabulary

    @property
    def _leaf_tags(self) -> tuple[str, ...]:
        return self.sentence.tags or self.sentence.upos or ("",) * len(self.sentence)

    def tree(self) -> Constituent | None:
        """Return the phrase structure, or None if the decoder found none."""
        if not self.parse.spans:
            return None
        labels = self.vocabulary.labels
        spans = [Span(start, end, labels[label]) for start, end, label, _ in self.parse.spans]
        return tree_of(spans, self.sentence.words, self._leaf_tags, top=self.vocabulary.top)

    def brackets(self) -> str | None:
        """Return the phrase structure on one line; None where that takes the tree and its writer."""
        labels = self.vocabulary.labels
        spans = [(start, end, labels[label]) for start, end, label, _ in self.parse.spans]
        return bracket_line(spans, self.sentence.words, self._leaf_tags, top=self.vocabulary.top)

    def joint(self) -> JointTree | None:
        """Return both trees as one, or None if the decoder found one alone."""
        dependencies, labels = self.sentence.dependencies, self.vocabulary.labels
        if not self.parse.spans or dependencies is None:
            return None
        spans = tuple(HeadedSpan(start, end, labels[label], head) for start, end, label, head in self.parse.spans)
        return JointTree(self.sentence.words, self._leaf_tags, spans, dependencies.relations, self.vocabulary.top)

    def complete(self) -> Sentence:
        """Return the sentence with all its trees."""
        return replace(self.sentence, tree=self.tree())


def name_parse(
    sentence: Sentence,
    parse: Parse,
    vocabulary: Vocabulary,
    *,
    relations: tuple[str, ...] | None,
    tags: tuple[str, ...] | None,
    upos: tuple[str, ...] | None,
    lemmas: tuple[str, ...] | None = None,
    features: tuple[str, ...] | None = None,
) -> Named:
    """Return a parse with its names; given tags, lemmas and features stay, predicted ones stand where there are none.

    This is the one place where what a model predicts for words becomes part of a result.
    """
    dependencies = Dependencies(parse.governors, relations) if relations is not None else None
    complete = replace(
        sentence,
        tags=_filled(sentence.tags, tags),
        upos=_filled(sentence.upos, upos),
        lemmas=_filled(sentence.lemmas, lemmas),
        features=sentence.features or features,  # "_" among given ones says that a word has none
        dependencies=dependencies,
    )
    return Named(complete, parse, vocabulary)


def _filled(given: tuple[str, ...] | None, predicted: tuple[str, ...] | None) -> tuple[str, ...] | None:
    """Return the tags or lemmas that were given, with predicted ones where a word has none."""
    if given is None or predicted is None:
        return given or predicted
    return tuple(guess if tag in NO_TAG else tag for tag, guess in zip(given, predicted, strict=True))
