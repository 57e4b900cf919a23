"""The other half of a treebank, made: dependencies by head rules, phrases from dependencies."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from pathlib import Path

from h3n.config import expand
from h3n.convert import to_phrases
from h3n.convert.rules import load_scheme, to_dependencies
from h3n.errors import TreeError
from h3n.experiments.experiment import Make
from h3n.files import input_errors
from h3n.formats import read, write
from h3n.trees import Sentence

PHRASES = "phrases"
ShowReading = Callable[[Iterable[Sentence], str], Iterable[Sentence]]


def make_file(make: Make, *, watch: ShowReading | None = None) -> Path:
    """Make the file and return where it is; one that is there already is left alone.

    It appears whole or not at all, and it holds a sentence for every one of the source, or an error says which fails.
    """
    target = Path(make.target)
    if target.exists():
        return target
    sentences: Iterable[Sentence] = read(expand(make.source))
    if watch is not None:
        sentences = watch(sentences, make.source)
    with input_errors(target, "written"):
        target.parent.mkdir(parents=True, exist_ok=True)
    write(_converted(sentences, make.scheme), target)
    return target


def _converted(sentences: Iterable[Sentence], scheme: str) -> Iterator[Sentence]:
    convert = _phrases if scheme == PHRASES else _dependencies(scheme)
    for number, sentence in enumerate(sentences, start=1):
        try:
            yield convert(sentence)
        except TreeError as error:
            raise TreeError(f"{sentence.place or f'sentence {number}'}: {error}") from None


def _phrases(sentence: Sentence) -> Sentence:
    if sentence.dependencies is None:
        raise TreeError("no dependencies; phrases are made from them")
    tags = sentence.tags or sentence.upos
    return replace(sentence, tree=to_phrases(sentence.dependencies, sentence.words, tags, labels="main").tree)


def _dependencies(scheme: str) -> Callable[[Sentence], Sentence]:
    rules = load_scheme(scheme)

    def convert(sentence: Sentence) -> Sentence:
        if sentence.tree is None:
            raise TreeError("no phrase structure tree; rules make dependencies from one")
        return replace(sentence, dependencies=to_dependencies(sentence.tree, rules))

    return convert
