"""Parsers that are NLTK's `ParserI`: lists of words or plain sentences in, NLTK's trees or dependency graphs out.

NLTK gives every sentence an iterator of its parses, the best first. These give one, or none to a sentence without words
or over the parser's limits.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from h3n.errors import MissingExtra, TreeError
from h3n.parser import Parser as TextParser
from h3n.parser import Result, load
from h3n.trees import ROOT, Sentence

try:
    from nltk.parse.api import ParserI
    from nltk.parse.dependencygraph import DependencyGraph
except ImportError:
    raise MissingExtra("parsers for NLTK", "nltk") from None


class _Parser(ParserI):  # type: ignore[misc] # NLTK has no types
    """What both kinds of parsers have in common: all ways in that NLTK's users know."""

    def __init__(self, model: str | Path | TextParser = "en", *, decoder: str | None = None) -> None:
        """Take a loaded parser, or load one by the name or folder of its model."""
        self.parser = model if isinstance(model, TextParser) else load(model)
        self.decoder = decoder

    @abstractmethod
    def convert(self, result: Result) -> Any:
        """Return one result as NLTK has it."""

    def parse(self, sent: Sequence[str]) -> Iterator[Any]:
        """Return the parses of a sentence given as a list of words."""
        return next(self.parse_sents([sent]))

    def parse_sents(self, sents: Iterable[Sequence[str]]) -> Iterator[Iterator[Any]]:
        """Yield the parses of each sentence, in order; the sentences may be a stream."""
        return self._parses(Sentence(words=tuple(words)) for words in sents)

    def tagged_parse(self, sentence: Sequence[tuple[str, str]]) -> Iterator[Any]:
        """Return the parses of a sentence given as words with the treebank's tags, which are kept."""
        return next(self.tagged_parse_sents([sentence]))

    def tagged_parse_sents(self, sentences: Iterable[Sequence[tuple[str, str]]]) -> Iterator[Iterator[Any]]:
        """Yield the parses of each sentence of words with tags."""
        return self._parses(
            Sentence(words=tuple(word for word, _ in one), tags=tuple(tag for _, tag in one)) for one in sentences
        )

    def raw_parse(self, sentence: str) -> Iterator[Any]:
        """Return the parses of one sentence as it is written; `parse_text` is for more than one."""
        return next(self.raw_parse_sents([sentence]))

    def raw_parse_sents(self, sentences: Iterable[str]) -> Iterator[Iterator[Any]]:
        """Yield the parses of each sentence as it is written."""
        return self._parses(self.parser.segmenter.lines(" ".join(one.split()) + "\n" for one in sentences))

    def parse_text(self, text: str) -> Iterator[Any]:
        """Yield the best parse of every sentence of a text."""
        for result in self.parser.parse(text, decoder=self.decoder):
            yield from self._of(result)

    def _parses(self, sentences: Iterable[Sentence]) -> Iterator[Iterator[Any]]:
        return map(self._of, self.parser.parse(sentences, decoder=self.decoder))

    def _of(self, result: Result) -> Iterator[Any]:
        return iter([self.convert(result)] if result.words and result.note is None else [])


class Parser(_Parser):
    """A parser that gives phrase structure as ``nltk.Tree``."""

    def convert(self, result: Result) -> Any:
        return result.to_nltk()


class DependencyParser(_Parser):
    """A parser that gives dependencies as ``nltk.parse.DependencyGraph``."""

    def convert(self, result: Result) -> Any:
        return dependency_graph(result)


def dependency_graph(result: Result) -> Any:
    """Return the dependencies of a result as a ``DependencyGraph``, whose words count from 1.

    ``ctag`` is the universal tag and ``tag`` the treebank's; each stands in for the other where there is one alone.
    """
    if not result.arcs:
        raise TreeError(f"{result!r} has no dependencies: it was parsed with a decoder for phrases alone")
    graph = DependencyGraph()
    tags, upos = result.tags or result.upos, result.upos or result.tags
    for arc in result.arcs:
        word, head = arc.word + 1, arc.governor + 1
        names = {"address": word, "word": result.words[arc.word]}
        columns = {"lemma": result.lemmas, "tag": tags, "ctag": upos, "feats": result.features}
        kinds = {name: column[arc.word] if column else "_" for name, column in columns.items()}
        graph.nodes[word].update(names | kinds | {"head": head, "rel": arc.relation})
        graph.nodes[head]["deps"][arc.relation].append(word)
        if arc.governor == ROOT:
            graph.root = graph.nodes[word]
            graph.top_relation_label = arc.relation
    return graph
