"""What is to be drawn: the common ground of all drawings, whichever trees a sentence carries.

Words are numbered from 0; `ROOT` is the governor of the root word and the parent of a phrase or word that stands in no
other phrase.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TypeAlias

from h3n.convert import governors_of, join
from h3n.errors import MismatchError, TreeError, UsageError
from h3n.trees import HELPER, ROOT, Constituent, HeadedSpan, JointTree, Sentence, Span, leaves, spans_of, strip_tree


@dataclass(frozen=True, slots=True)
class WithConfidence:
    """A tree whose drawings show how sure each part is: ``spans`` by start and end, ``arcs`` by word, from 0 to 1.

    ``governors`` are drawn in place of those that a joint tree's heads imply: arcs that cross are not among these.
    """

    tree: JointTree | Sentence
    spans: Mapping[tuple[int, int], float] = field(default_factory=dict)
    arcs: Sequence[float] = ()
    governors: Sequence[int] = ()


Drawable: TypeAlias = JointTree | Sentence | WithConfidence


@dataclass(frozen=True, slots=True)
class Phrase:
    """A span with its place in the tree. ``head`` is None where no head is known."""

    start: int
    end: int
    label: str
    head: int | None
    parent: int
    confidence: float | None = None


@dataclass(frozen=True, slots=True)
class Arc:
    """One word's governor, `ROOT` for the root word, and its relation."""

    governor: int
    dependent: int
    relation: str
    confidence: float | None = None

    @property
    def left(self) -> int:
        return min(self.governor, self.dependent)

    @property
    def right(self) -> int:
        return max(self.governor, self.dependent)


@dataclass(frozen=True)
class Figure:
    """A sentence with its phrases in pre-order and its arcs by dependent; either may be missing.

    ``first`` is the number of words that stand before these in the sentence, where a long one is drawn in rows.
    """

    words: tuple[str, ...]
    tags: tuple[str, ...]
    phrases: tuple[Phrase, ...]
    arcs: tuple[Arc, ...]
    first: int = 0

    def __len__(self) -> int:
        return len(self.words)

    @cached_property
    def word_parents(self) -> tuple[int, ...]:
        """For each word, the number of the innermost phrase around it."""
        parents = [ROOT] * len(self.words)
        for number, phrase in enumerate(self.phrases):  # inner phrases come later and overwrite
            parents[phrase.start : phrase.end] = [number] * (phrase.end - phrase.start)
        return tuple(parents)


def figure_of(source: Drawable, *, helpers: bool = False) -> Figure:
    """Return what to draw of a joint tree, or of a sentence with whichever trees it carries.

    Helper spans are left out unless asked for. A sentence with both trees shows its arcs as they stand; the heads of
    its phrases are those of the joint tree.
    """
    if isinstance(source, WithConfidence):
        return _with_confidence(figure_of(source.tree, helpers=helpers), source)
    if isinstance(source, JointTree):
        arcs = _arcs(governors_of(source), source.relations, words=len(source))
        return Figure(source.words, source.tags, _phrases(source.spans, helpers=helpers), arcs)
    dependencies = source.dependencies
    arcs = ()
    if dependencies is not None:
        arcs = _arcs(dependencies.governors, dependencies.relations, words=len(source))
    tree = _without_traces(source)
    if tree is None:
        return Figure(source.words, source.tags or source.upos or ("",) * len(source), (), arcs)
    spans = spans_of(tree) if dependencies is None else joint_of(source).spans
    tags = tuple(leaf.tag for leaf in leaves(tree))
    return Figure(source.words, tags, _phrases(spans, helpers=helpers), arcs)


def joint_of(source: Drawable) -> JointTree:
    """Return the joint tree of a sentence that carries both trees."""
    if isinstance(source, WithConfidence):
        return joint_of(source.tree)
    if isinstance(source, JointTree):
        return source
    tree = _without_traces(source)
    if tree is None or source.dependencies is None:
        missing = "phrases" if tree is None else "dependencies"
        raise UsageError(f"{_name(source)} has no {missing}; a joint tree needs both phrases and dependencies")
    try:
        return join(tree, source.dependencies).tree
    except TreeError as error:
        raise TreeError(f"{_name(source)}: {error}") from None


def _with_confidence(figure: Figure, source: WithConfidence) -> Figure:
    phrases = tuple(replace(p, confidence=source.spans.get((p.start, p.end))) for p in figure.phrases)
    arcs = figure.arcs
    if source.governors:
        arcs = tuple(replace(arc, governor=governor) for arc, governor in zip(arcs, source.governors, strict=True))
    if arcs and source.arcs:
        arcs = tuple(replace(arc, confidence=sure) for arc, sure in zip(arcs, source.arcs, strict=True))
    return replace(figure, phrases=phrases, arcs=arcs)


def _without_traces(source: Sentence) -> Constituent | None:
    """Return the sentence's phrase structure tree without traces, if it has one with words in it."""
    tree = strip_tree(source.tree, functions=False) if source.tree is not None else None
    if tree is not None and (found := sum(1 for _ in leaves(tree))) != len(source):
        raise MismatchError(f"{_name(source)} has a phrase structure tree of {found} words")
    return tree


def _name(source: Sentence) -> str:
    where = f"{source.place}: " if source.place is not None else ""
    return f"{where}the sentence of {len(source)} words"


def _phrases(spans: Sequence[HeadedSpan] | Sequence[Span], *, helpers: bool) -> tuple[Phrase, ...]:
    phrases: list[Phrase] = []
    open_phrases: list[int] = []
    for span in spans:
        if span.label == HELPER and not helpers:
            continue
        while open_phrases and phrases[open_phrases[-1]].end <= span.start:
            open_phrases.pop()
        parent = open_phrases[-1] if open_phrases else ROOT
        head = span.head if isinstance(span, HeadedSpan) else None
        open_phrases.append(len(phrases))
        phrases.append(Phrase(span.start, span.end, span.label, head, parent))
    return tuple(phrases)


def _arcs(governors: tuple[int, ...], relations: tuple[str, ...], *, words: int) -> tuple[Arc, ...]:
    """Return the arcs; several roots and circles are drawn as they stand."""
    if not len(governors) == len(relations) == words:
        raise TreeError(f"{words} words, but {len(governors)} governors and {len(relations)} relations")
    for word, governor in enumerate(governors):
        if governor == word or not ROOT <= governor < words:
            raise TreeError(f"word {word + 1} has governor {governor + 1}; expected another of the {words} words, or 0")
    return tuple(Arc(g, w, r) for w, (g, r) in enumerate(zip(governors, relations, strict=True)))
