"""The finite sets a model was trained on: labels, relations, tags, words, characters.

Index 0 of ``labels`` is the empty label. Index 0 of the sets that are *read* (words, characters, input tags) is
padding and index 1 the unknown. Targets outside the sets are `IGNORE`: dev data may hold what training data lacks.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from h3n.config import build_options
from h3n.engine.lemmas import Irregular, count_lemmas, table_of_irregular
from h3n.errors import UnknownName, UsageError
from h3n.trees import HELPER, ROOT, Dependencies, Span

EMPTY = ""
PADDING, UNKNOWN = 0, 1
IGNORE = -100
OFTEN = 3  # a bundle of features seen so many times is a class
CHARACTER_SIZE = 32  # of a character's vector in the scorers of lemmas and features
SHAPES = 8  # classes of a word's spelling, padding among them
NO_TAG = frozenset({"", "_"})  # of a word among others that have one: in brackets, in CoNLL


@dataclass(frozen=True, kw_only=True)
class Vocabulary:
    """What the network can read and say. Made by `count_vocabulary`."""

    labels: tuple[str, ...] = (EMPTY,)
    relations: tuple[str, ...] = ()
    at_root: tuple[bool, ...] = ()  # per relation: seen on the root word
    elsewhere: tuple[bool, ...] = ()  # per relation: seen on another word
    tags: tuple[str, ...] = ()
    upos: tuple[str, ...] = ()
    features: tuple[str, ...] = ()  # NAME=VALUE, those of one name together
    bundles: tuple[str, ...] = ()  # all features of a word, as they stand in its column
    scripts: tuple[str, ...] = ()  # from words to lemmas, see `h3n.engine.lemmas`
    irregular: tuple[Irregular, ...] = ()
    top: str = "TOP"
    words: tuple[str, ...] = ()
    word_counts: tuple[int, ...] = ()
    characters: tuple[str, ...] = ()
    pieces: tuple[str, ...] = ()  # of words, that have static vectors
    styles: tuple[str, ...] = ("",)  # of annotation, the usual one first

    @cached_property
    def label_index(self) -> Mapping[str, int]:
        return {label: at for at, label in enumerate(self.labels)}

    @cached_property
    def relation_index(self) -> Mapping[str, int]:
        return {relation: at for at, relation in enumerate(self.relations)}

    @cached_property
    def tag_index(self) -> Mapping[str, int]:
        return {tag: at for at, tag in enumerate(self.tags)}

    @cached_property
    def upos_index(self) -> Mapping[str, int]:
        return {tag: at for at, tag in enumerate(self.upos)}

    @cached_property
    def feature_index(self) -> Mapping[str, Mapping[str, int]]:
        """Return for the name of each feature its values, counted from 1; 0 is a word without the feature."""
        index: dict[str, dict[str, int]] = {}
        for feature in self.features:
            name, _, value = feature.partition("=")
            values = index.setdefault(name, {})
            values[value] = len(values) + 1
        return index

    @cached_property
    def bundle_index(self) -> Mapping[str, int]:
        """Return the bundles, counted from 1; 0 is another one."""
        return {bundle: at for at, bundle in enumerate(self.bundles, start=1)}

    @cached_property
    def script_index(self) -> Mapping[str, int]:
        return {script: at for at, script in enumerate(self.scripts)}

    @cached_property
    def lemma_table(self) -> Mapping[tuple[str, str], str]:
        return table_of_irregular(self.irregular)

    @property
    def feature_widths(self) -> list[int]:
        """Return the number of classes of each choice for a word's features: bundles, and the values of each."""
        return [len(self.bundles) + 1, *(len(values) + 1 for values in self.feature_index.values())]

    @property
    def tag_widths(self) -> list[int]:
        """Return the number of classes of each choice for a word: tags, universal tags, and the values of each feature.

        A set without names has one class that is never the right one.
        """
        features = [len(values) + 1 for values in self.feature_index.values()]
        return [max(len(self.tags), 1), max(len(self.upos), 1), *features]

    @cached_property
    def word_index(self) -> Mapping[str, int]:
        return {word: at + 2 for at, word in enumerate(self.words)}

    @cached_property
    def piece_index(self) -> Mapping[str, int]:
        return {piece: at + 2 for at, piece in enumerate(self.pieces)}

    @cached_property
    def character_index(self) -> Mapping[str, int]:
        return {character: at + 2 for at, character in enumerate(self.characters)}

    @cached_property
    def spelled(self) -> dict[str, NDArray[np.int64]]:
        """Return the characters of words that were read before, filled by who reads them."""
        return {}

    def style(self, name: str | None) -> int:
        """Return the index of a style of annotation, by default of the usual one."""
        if name in self.styles:
            return self.styles.index(name)
        if name:
            raise UnknownName("style", name, [style for style in self.styles if style])
        return 0

    @property
    def helper(self) -> int | None:
        """Return the index of the helper label, or None where no training tree needed one."""
        return self.label_index.get(HELPER)

    def to_json(self) -> dict[str, Any]:
        """Return plain lists, for `from_json`."""
        return {name: list(value) if isinstance(value, tuple) else value for name, value in asdict(self).items()}

    @classmethod
    def from_json(cls, table: Mapping[str, Any]) -> Vocabulary:
        """Return the vocabulary that `to_json` wrote, its names and types checked."""
        return build_options(cls, table, where="vocabulary")


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """What one training sentence adds to the vocabulary."""

    words: tuple[str, ...]
    spans: tuple[Span, ...] = ()
    dependencies: Dependencies | None = None
    tags: tuple[str, ...] = ()
    upos: tuple[str, ...] = ()
    features: tuple[str, ...] = ()
    lemmas: tuple[str, ...] = ()
    top: str = "TOP"
    style: str = ""


def feature_values(features: str) -> dict[str, str]:
    """Return a word's features by their names; ``_`` is none."""
    pairs = (feature.partition("=") for feature in features.split("|") if feature not in NO_TAG)
    return {name: value for name, _, value in pairs if value}


def count_vocabulary(
    sentences: Iterable[Seen],
    *,
    keep_words: bool,
    keep_characters: bool = False,
    keep_features: bool = False,
    keep_lemmas: bool = False,
) -> Vocabulary:
    """Return the vocabulary of training sentences, each set in order of frequency, ties in order of spelling.

    Words are kept only for an encoder that learns their vectors, characters only for one that reads them, features and
    lemmas only for a network that predicts them. Features stand in order of their names.
    """
    labels: Counter[str] = Counter()
    root: Counter[str] = Counter()
    other: Counter[str] = Counter()
    tags: Counter[str] = Counter()
    upos: Counter[str] = Counter()
    features: Counter[str] = Counter()
    bundles: Counter[str] = Counter()
    lemmas: Counter[Irregular] = Counter()
    words: Counter[str] = Counter()
    tops: Counter[str] = Counter()
    styles: dict[str, None] = {}  # in the order of the treebanks
    for seen in sentences:
        labels.update(span.label for span in seen.spans)
        tags.update(tag for tag in seen.tags if tag not in NO_TAG)
        upos.update(tag for tag in seen.upos if tag not in NO_TAG)
        if keep_features:
            clean = [word for word in seen.features if word.isprintable() and " " not in word]
            features.update(f"{name}={value}" for word in clean for name, value in feature_values(word).items() if name)
            bundles.update(clean)
        if keep_lemmas and seen.lemmas:
            tagged = seen.upos or seen.tags or ("",) * len(seen.words)
            rows = zip(seen.words, tagged, seen.lemmas, strict=True)
            lemmas.update(row for row in rows if row[2] not in NO_TAG and row[2].isprintable())
        words.update(seen.words)
        styles[seen.style] = None
        if seen.spans:
            tops[seen.top] += 1
        if seen.dependencies is not None:
            for governor, relation in zip(seen.dependencies.governors, seen.dependencies.relations, strict=True):
                (root if governor == ROOT else other)[relation] += 1
    if not words:
        raise UsageError("no sentence to learn from: the training treebanks hold no word")
    relations = _ranked(root + other)
    characters: Counter[str] = Counter()
    for word, count in words.items() if keep_characters else ():
        for character in word:
            characters[character] += count
    scripts, irregular = count_lemmas(lemmas)
    kept = _ranked(words) if keep_words else ()
    return Vocabulary(
        labels=(EMPTY, *_ranked(labels)),
        relations=relations,
        at_root=tuple(relation in root for relation in relations),
        elsewhere=tuple(relation in other for relation in relations),
        tags=_ranked(tags),
        upos=_ranked(upos),
        features=tuple(sorted(_ranked(features), key=lambda feature: feature.partition("=")[0])),
        bundles=tuple(bundle for bundle in _ranked(bundles) if bundles[bundle] >= OFTEN),
        scripts=scripts,
        irregular=irregular,
        top=_ranked(tops)[0] if tops else "TOP",
        words=kept,
        word_counts=tuple(words[word] for word in kept),
        characters=_ranked(characters),
        styles=tuple(styles),
    )


def _ranked(counts: Counter[str]) -> tuple[str, ...]:
    return tuple(sorted(counts, key=lambda name: (-counts[name], name)))
