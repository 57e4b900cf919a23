"""A component of spaCy: ``nlp.add_pipe("h3n", config={"model": "en"})``.

It parses the words that spaCy found, in the sentences of an earlier component or else in those that h3n finds, and
sets governors, relations, tags and universal tags, and lemmas and features where the model finds them; phrases are
extensions (`h3n.integrations.spacy_phrases`). White space that is a token in spaCy is not parsed: it hangs on the word
before it.
"""

from __future__ import annotations

import shutil
import warnings
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from h3n.errors import MissingExtra, UnknownName
from h3n.integrations import spacy_scores
from h3n.integrations.spacy_chunks import NounChunks
from h3n.integrations.spacy_phrases import NonConstituentException, Parsed, Piece, phrases, register
from h3n.models import locate
from h3n.parser import Parser, Result, load
from h3n.text import Segmenter
from h3n.trees import ROOT, Sentence

try:
    from spacy.attrs import DEP, HEAD, LEMMA, MORPH, POS, SENT_START, TAG
    from spacy.language import Language
    from spacy.parts_of_speech import IDS
except ImportError:
    raise MissingExtra("pipelines of spaCy", "spacy") from None

__all__ = ["Component", "NonConstituentException", "make"]

MODEL = "model"  # the folder of the model in that of a saved component
DEPENDENCIES = ("replace", "keep")
register()


class Component:
    """The component: documents of spaCy in, the same documents with both trees out."""

    def __init__(
        self, model: str, *, decoder: str | None, threads: int | None, tag: bool, split: bool, keep: bool = False
    ) -> None:
        self.model = model
        self.keep = keep
        self.decoder = decoder
        self.threads = threads
        self.tag = tag
        self.split = split
        self._parser: Parser | None = None

    @property
    def parser(self) -> Parser:
        """The parser, loaded when it is first needed: a saved pipeline brings a model of its own."""
        if self._parser is None:
            self._parser = load(self.model, threads=self.threads)
        return self._parser

    def __call__(self, doc: Any) -> Any:
        self._annotate([doc])
        return doc

    def pipe(self, stream: Iterable[Any], *, batch_size: int = 128) -> Iterator[Any]:
        """Yield the documents in order; the sentences of ``batch_size`` of them are parsed together."""
        documents = iter(stream)
        while docs := list(islice(documents, batch_size)):
            self._annotate(docs)
            yield from docs

    def _annotate(self, docs: Sequence[Any]) -> None:
        pieces = [_pieces(doc, self.parser.segmenter, split=self.split) for doc in docs]
        sentences = (
            Sentence(words=tuple(doc[word].text for word in piece.words))
            for doc, own in zip(docs, pieces, strict=True)
            for piece in own
        )
        results = self.parser.parse(sentences, decoder=self.decoder)
        for doc, own in zip(docs, pieces, strict=True):
            parsed = [(piece, next(results)) for piece in own]
            _write_columns(doc, parsed, tag=self.tag, keep=self.keep)
            doc._.h3n = phrases(doc, parsed)

    def score(self, examples: Iterable[Any], **options: Any) -> dict[str, Any]:
        """Return how well the examples are annotated: what ``nlp.evaluate`` shows."""
        return spacy_scores.score(list(examples), tag=self.tag, dependencies=not self.keep, **options)

    def to_disk(self, path: str | Path, *, exclude: Iterable[str] = ()) -> None:  # noqa: ARG002 - spaCy gives it
        """Save the model beside the pipeline, so that the folder works on another machine."""
        source = self._parser.source if self._parser is not None else None
        folder = source.folder if source is not None else locate(self.model)
        shutil.copytree(folder, Path(path) / MODEL, dirs_exist_ok=True)

    def from_disk(self, path: str | Path, *, exclude: Iterable[str] = ()) -> Component:  # noqa: ARG002
        """Load the model that was saved with the pipeline."""
        self._parser = load(Path(path) / MODEL, threads=self.threads)
        return self


def make(
    nlp: Any,
    name: str,  # noqa: ARG001
    model: str,
    decoder: str | None,
    threads: int | None,
    disable_tagger: bool,
    overwrite_sentences: bool,
    dependencies: str,
) -> Component:
    """Return the component; spaCy calls this through the entry point."""
    if dependencies not in DEPENDENCIES:
        raise UnknownName("dependencies", dependencies, DEPENDENCIES)
    keep = dependencies == "keep"
    before = nlp.vocab.get_noun_chunks
    nlp.vocab.get_noun_chunks = NounChunks(before.other if isinstance(before, NounChunks) else before, keep=keep)
    return Component(
        model, decoder=decoder, threads=threads, tag=not disable_tagger, split=overwrite_sentences, keep=keep
    )


Language.factory(
    "h3n",
    assigns=[*(f"token.{name}" for name in ("head", "dep", "tag", "pos", "lemma", "morph")), "doc.sents", "doc._.h3n"],
    default_score_weights=spacy_scores.WEIGHTS,
    default_config={
        "model": "en",
        "decoder": None,
        "threads": None,
        "disable_tagger": False,
        "overwrite_sentences": False,
        "dependencies": "replace",
    },
    func=make,
)


def _pieces(doc: Any, segmenter: Segmenter, *, split: bool) -> list[Piece]:
    """Return the sentences: those the document has, unless it has none or others are asked for."""
    if not split and doc.has_annotation("SENT_START"):
        bounds = [(sentence.start, sentence.end) for sentence in doc.sents]
    else:
        bounds = _find_sentences(doc, segmenter)
    spaces = [token.is_space for token in doc]
    return [Piece(start, end, tuple(i for i in range(start, end) if not spaces[i])) for start, end in bounds]


def _find_sentences(doc: Any, segmenter: Segmenter) -> list[tuple[int, int]]:
    offsets = [token.idx for token in doc]
    found = [bisect_left(offsets, tokens[0].start) for tokens in segmenter.split(doc.text)]
    starts = sorted({0, *found[1:]} - {len(doc)}) if offsets else []
    return list(zip(starts, [*starts[1:], len(doc)], strict=False))


def _write_columns(doc: Any, parsed: Parsed, *, tag: bool, keep: bool) -> None:
    """Set what was found of all tokens at once, since spaCy then makes its trees and sentences agree.

    White space gets what spaCy's own components give it. The root word's relation is ROOT, as everywhere in spaCy.
    """
    for piece, result in parsed:
        if result.note is not None:
            warnings.warn(f"h3n: tokens {piece.start} to {piece.end - 1} are not parsed: {result.note}", stacklevel=4)
    add = doc.vocab.strings.add
    columns: dict[int, Any] = {}
    if keep and doc.has_annotation("SENT_START"):
        pass  # as they are
    elif not keep and any(result.arcs for _, result in parsed):
        columns[HEAD] = _governors(len(doc), parsed)
        columns[DEP] = _column(len(doc), parsed, _relations, space="dep", code=add)
    else:
        starts = [1 if start else -1 for start in _starts(len(doc), parsed)]
        columns[SENT_START] = np.array(starts, np.int64).astype(np.uint64)
    if tag and any(result.tags for _, result in parsed):
        columns[TAG] = _column(len(doc), parsed, lambda result: result.tags, space="_SP", code=add)
    if tag and any(result.upos for _, result in parsed):
        columns[POS] = _column(
            len(doc), parsed, lambda result: result.upos, space="SPACE", code=lambda name: IDS.get(name, 0)
        )
    if tag and any(result.lemmas for _, result in parsed):
        columns[LEMMA] = _column(len(doc), parsed, _lemmas, space="", code=add)
    if tag and any(result.features for _, result in parsed):
        columns[MORPH] = _column(
            len(doc), parsed, lambda result: result.features, space="_", code=doc.vocab.morphology.add
        )
    if len(doc) and columns:
        doc.from_array(list(columns), np.stack(list(columns.values()), axis=1))


def _column(
    length: int, parsed: Parsed, labels: Callable[[Result], Sequence[str]], *, space: str, code: Callable[[str], int]
) -> Any:
    column = np.full(length, code(space), np.uint64)
    for piece, result in parsed:
        column[list(piece.words)] = [code(label) for label in labels(result)] or 0
    return column


def _relations(result: Result) -> list[str]:
    return ["ROOT" if arc.governor == ROOT else arc.relation for arc in result.arcs]


def _lemmas(result: Result) -> list[str]:
    return [word.lemma or "" for word in result] if result.lemmas else []


def _starts(length: int, parsed: Parsed) -> list[bool]:
    starts = {piece.start for piece, _ in parsed}
    return [token in starts for token in range(length)]


def _governors(length: int, parsed: Parsed) -> Any:
    """Return every token's distance to its governor; a sentence that was not parsed is attached to its first word.

    White space is attached to the word before it, or on the first one: such arcs never cross others.
    """
    governor = np.arange(length)
    for piece, result in parsed:
        last = piece.words[0] if piece.words else piece.start
        words = set(piece.words)
        for token in range(piece.start, piece.end):
            governor[token] = piece.words[0] if token in words else last
            last = token if token in words else last
        for arc in result.arcs:
            word = piece.words[arc.word]
            governor[word] = word if arc.governor == ROOT else piece.words[arc.governor]
    return (governor - np.arange(length)).astype(np.int64).astype(np.uint64)
