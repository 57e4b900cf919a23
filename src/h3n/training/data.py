"""Treebanks to learn from: files that belong together merged sentence by sentence, trees joined, all of it numbered."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path

from h3n.config import Data, Treebank, expand
from h3n.convert.joint import governors_of, join, levels
from h3n.engine.inputs import Inputs, read_inputs
from h3n.engine.pieces import Tokenizer
from h3n.engine.vocabulary import Seen, Vocabulary
from h3n.errors import UsageError
from h3n.formats import pair, read
from h3n.model.batch import Targets, read_targets
from h3n.trees import Constituent, Dependencies, Sentence, SoftLabels, Span, spans_of, strip_tree, top_of

# Something that shows how far the reading of a file has come, by passing its sentences on.
ReadingProgress = Callable[[Iterable[Sentence], str], Iterable[Sentence]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Example:
    """A sentence with what can be learned from it. ``spans`` are those of the joint tree where both trees are known."""

    sentence: Sentence
    spans: tuple[Span, ...] | None = None
    levels: tuple[int, ...] | None = None
    ranks: tuple[int, ...] | None = None  # governors of the tree in which every word is to outrank those below it
    weight: float = 1.0
    style: str = ""
    treebank: str = ""  # the name of the one it is from


@dataclass(frozen=True, slots=True, kw_only=True)
class Numbered:
    """An example as the network reads it."""

    inputs: Inputs
    targets: Targets
    weight: float


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamedExamples:
    """The examples of several treebanks, read from their files whenever they are gone through."""

    treebanks: tuple[Treebank, ...]
    data: Data
    watch: ReadingProgress | None = None

    def __iter__(self) -> Iterator[Example]:
        if not all(treebank.files for treebank in self.treebanks):
            raise UsageError("a treebank in data.train or data.dev names no files; expected files = [...]")
        for treebank, name in zip(self.treebanks, treebank_names(self.treebanks), strict=True):
            sentences = read_treebank(treebank)
            for sentence in self.watch(sentences, treebank.files[0]) if self.watch is not None else sentences:
                if len(sentence):
                    example = make_example(sentence, data=self.data)
                    yield replace(example, weight=treebank.weight, style=treebank.style, treebank=name)


def load_examples(treebanks: Sequence[Treebank], *, data: Data, watch: ReadingProgress | None = None) -> list[Example]:
    """Return the examples of several treebanks; sentences without a word are left out."""
    return list(StreamedExamples(treebanks=tuple(treebanks), data=data, watch=watch))


def treebank_names(treebanks: Sequence[Treebank]) -> list[str]:
    """Return a name for each treebank: folder and stem of its first file, or its path where two are equal."""
    paths = [Path(treebank.files[0]) for treebank in treebanks]
    short = ["/".join([path.parent.name, path.name.split(".")[0]]).removeprefix("/") for path in paths]
    return [name if short.count(name) == 1 else str(path) for name, path in zip(short, paths, strict=True)]


def read_treebank(treebank: Treebank) -> Iterator[Sentence]:
    """Yield the sentences of a treebank's files, merged, without those to be left out."""
    sentences = pair(*(read(expand(name)) for name in treebank.files))
    for sentence in islice(sentences, treebank.limit or None):
        if not (treebank.without and (sentence.sent_id or "").startswith(treebank.without)):
            yield sentence


def make_example(sentence: Sentence, *, data: Data) -> Example:
    """Return what can be learned from a sentence: joined where it has both trees."""
    tree = strip_tree(sentence.tree, functions=not data.functions) if sentence.tree is not None else None
    dependencies = sentence.dependencies
    if dependencies is not None and data.renames:
        renamed = tuple(data.renames.get(relation, relation) for relation in dependencies.relations)
        dependencies = Dependencies(dependencies.governors, renamed)
    # A large treebank stays in memory for the whole run: only what is learned or scored.
    clean = Sentence(
        words=sentence.words,
        tags=sentence.tags,
        upos=sentence.upos,
        tree=tree,
        dependencies=dependencies,
        soft_labels=_renamed(sentence.soft_labels, data.renames),
        place=sentence.place,
    )
    if tree is None:
        return Example(sentence=clean, ranks=dependencies.governors if dependencies is not None else None)
    if dependencies is None:
        return Example(sentence=clean, spans=spans_of(tree))
    joint = join(tree, dependencies).tree
    spans = tuple(Span(s.start, s.end, s.label) for s in joint.spans) if data.helpers else spans_of(tree)
    return Example(sentence=clean, spans=spans, levels=levels(joint), ranks=governors_of(joint))


def _renamed(labels: SoftLabels | None, renames: Mapping[str, str]) -> SoftLabels | None:
    """Return soft labels with the names of relations that are learned."""
    if labels is None or not renames:
        return labels
    words = (tuple((renames.get(name, name), share) for name, share in word) for word in labels.relations)
    return replace(labels, relations=tuple(words))


def seen(example: Example) -> Seen:
    """Return what an example adds to the vocabulary."""
    sentence = example.sentence
    return Seen(
        words=sentence.words,
        spans=example.spans or (),
        dependencies=sentence.dependencies,
        tags=sentence.tags or (),
        upos=sentence.upos or (),
        top=_top(sentence.tree),
        style=example.style,
    )


def _top(tree: Constituent | None) -> str:
    return (top_of(tree) if tree is not None else None) or "TOP"


def number(example: Example, vocabulary: Vocabulary, *, tokenizer: Tokenizer | None) -> Numbered:
    """Return an example as the network reads it."""
    sentence = example.sentence
    return Numbered(
        inputs=read_inputs(
            sentence.words,
            vocabulary,
            tags=sentence.tags,
            tokenizer=tokenizer,
            characters=bool(vocabulary.characters),
            style=vocabulary.style(example.style),
        ),
        targets=read_targets(
            vocabulary,
            spans=example.spans,
            dependencies=sentence.dependencies,
            levels=example.levels,
            ranks=example.ranks,
            tags=sentence.tags,
            upos=sentence.upos,
            soft_labels=sentence.soft_labels,
            length=len(sentence),
        ),
        weight=example.weight,
    )
