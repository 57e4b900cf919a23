"""From one kind of tree to the other, sentence by sentence, for `h3n convert --scheme`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import TypeAlias

from h3n.convert import to_phrases
from h3n.convert.rules import load_scheme, scheme_names, to_dependencies, with_made_dependencies
from h3n.errors import H3nError, TreeError, UnknownName
from h3n.trees import Sentence

PHRASES = "phrases"

Handler: TypeAlias = Callable[[H3nError], object]
Maker: TypeAlias = Callable[[Sentence], Sentence]


def converted(sentences: Iterable[Sentence], make: Maker, *, on_problem: Handler | None = None) -> Iterator[Sentence]:
    """Yield the sentences with the tree they lacked.

    A sentence that cannot be converted raises an error with its place, or goes to the handler and is left out.
    """
    for number, sentence in enumerate(sentences, start=1):
        try:
            complete = replace(make(sentence), soft_labels=None)  # which were beside the tree that is replaced
        except TreeError as error:
            where = sentence.place if sentence.place is not None else f"sentence {number}"
            placed = TreeError(f"{where}: {error}")
            if on_problem is None:
                raise placed from None
            on_problem(placed)
        else:
            yield complete


def maker(scheme: str, *, labels: str, unknown: Counter[str]) -> Maker:
    """Return the function that gives a sentence its other tree; categories without a head rule are counted."""
    if scheme == PHRASES:
        return lambda sentence: _with_phrases(sentence, labels)
    try:
        rules = load_scheme(scheme)
    except UnknownName:
        raise UnknownName("scheme", scheme, [PHRASES, *scheme_names()]) from None

    def with_dependencies(sentence: Sentence) -> Sentence:
        if sentence.tree is None:
            raise TreeError("no phrase structure tree; rules make dependencies from one")
        return with_made_dependencies(sentence, to_dependencies(sentence.tree, rules, unknown=unknown), rules)

    return with_dependencies


def _with_phrases(sentence: Sentence, labels: str) -> Sentence:
    if sentence.dependencies is None:
        raise TreeError("no dependencies; phrases are made from them")
    tags = sentence.tags or sentence.upos
    made = to_phrases(sentence.dependencies, sentence.words, tags, upos=sentence.upos, labels=labels)
    return replace(sentence, tree=made.tree)
