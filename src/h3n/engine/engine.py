"""A trained model that is run: sentences in, scores and parses out, whatever computes the network."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, chain
from typing import TypeVar

import numpy as np

from h3n.config import Config
from h3n.decode import DECODERS, EXACT_UP_TO, Constraints, Parse, Scores, decode_batch, usual_decoder, weigh
from h3n.engine.inputs import Inputs, group, read_inputs
from h3n.engine.naming import Named, filled, name_parse
from h3n.engine.output import Network, Output
from h3n.engine.pieces import Numbers, Tokenizer
from h3n.engine.ranking import check_ranking, rank
from h3n.engine.required import show_required
from h3n.engine.vocabulary import Vocabulary
from h3n.engine.words import name_features, name_lemmas
from h3n.errors import UsageError
from h3n.text import ENGLISH, Segmenter
from h3n.trees import ROOT, Sentence

CPU_WORDS = 400  # in a batch: more of them fall out of a processor's caches

T = TypeVar("T")
Columns = list[tuple[str, ...] | None]  # of each sentence a name for every word, or none


@dataclass(frozen=True, slots=True)
class Scored:
    """Sentences with everything the network says of them, before decoding. Reusable with several decoders."""

    sentences: tuple[Sentence, ...]
    output: Output
    scores: tuple[Scores, ...]


class Engine:
    """A network with what is needed to feed it and to name what comes out; a user sees it as `h3n.parser.Parser`."""

    def __init__(
        self,
        network: Network,
        vocabulary: Vocabulary,
        config: Config,
        tokenizer: Tokenizer | None,
        segmenter: Segmenter = ENGLISH,
    ) -> None:
        self.network = network
        self.vocabulary = vocabulary
        self.config = config
        self.tokenizer = tokenizer
        self.segmenter = segmenter

    def score(
        self, sentences: Sequence[Sentence], *, styles: Sequence[str | None] | None = None
    ) -> Iterator[tuple[list[int], Scored]]:
        """Yield sentences with their scores, in batches of like length, each with the sentences' numbers.

        Sentences without words are left out. ``styles`` are those of annotation to follow, one for each sentence.
        """
        inputs = self.read(dict(enumerate(sentences)), styles=styles)
        for numbers, batch in self.group(inputs):
            yield numbers, self.score_batch([sentences[at] for at in numbers], batch)

    def read(
        self, sentences: Mapping[int, Sentence], *, styles: Sequence[str | None] | None = None
    ) -> dict[int, Inputs]:
        """Return the inputs of the sentences that have words, by their numbers."""
        characters = bool(self.vocabulary.characters)
        style_ids = [self.vocabulary.style(name) for name in styles] if styles is not None else None
        return {
            at: read_inputs(
                sentence.words,
                self.vocabulary,
                tags=sentence.tags,
                tokenizer=self.tokenizer,
                characters=characters,
                style=style_ids[at] if style_ids is not None else 0,
            )
            for at, sentence in sentences.items()
            if sentence.words
        }

    def group(self, inputs: Mapping[int, Inputs]) -> Iterator[tuple[list[int], list[Inputs]]]:
        """Yield batches of sentences of like length, the longest first."""
        room = self.config.batches.parse_words
        return group(inputs, room=min(room, CPU_WORDS) if self.network.device == "cpu" else room)

    def score_batch(self, sentences: Sequence[Sentence], inputs: Sequence[Inputs]) -> Scored:
        """Return what the network says of sentences that were read."""
        output = self.network.run(inputs)
        return Scored(tuple(sentences), output, tuple(output.scores()))

    def decode(
        self,
        scored: Scored,
        *,
        decoder: str | None = None,
        weight: float | None = None,
        head_score: str | None = None,
        constraints: Sequence[Constraints | None] | None = None,
        projective: bool | None = None,
        threads: int = 1,
    ) -> list[Parse]:
        """Return the parses of scored sentences. ``cky`` finds no dependencies, ``mst`` and ``eisner`` no phrases.

        ``weight`` is that of spans against arcs, ``head_score`` a name in `h3n.engine.ranking.RANKINGS`; by default
        those chosen in training. With ``projective`` no arc crosses another, whatever the model's own choice.
        """
        name, own = self.decoder_for(decoder), self.config.decoding
        crossing = own.crossing if projective is None else not projective
        if constraints is not None:
            shown = show_required(scored.output, scored.scores, constraints, helper=self.vocabulary.helper)
            scored = replace(scored, scores=shown)
        ready = self.weigh(self.rank(scored, decoder=name, head_score=head_score), weight=weight)
        agreement = own.agreement if crossing else None
        return decode_batch(ready, decoder=name, threads=threads, constraints=constraints, agreement=agreement)

    def rank(self, scored: Scored, *, decoder: str, head_score: str | None = None) -> Sequence[Scores]:
        """Return the scores, with heads if the decoder asks for them."""
        if "head" not in DECODERS[decoder].needs:
            return scored.scores
        how = head_score if head_score is not None else self.config.decoding.head_score
        check_ranking(how, ordered=self.network.ordered)
        # Short sentences are decoded exactly by `auto`, which asks for no head scores.
        beyond = EXACT_UP_TO if decoder == "auto" else 0
        if all(len(sentence) <= beyond for sentence in scored.sentences):
            return scored.scores
        heads = rank(scored.output, scored.scores, how, beyond=beyond)
        return [replace(one, head=head) for one, head in zip(scored.scores, heads, strict=True)]

    def weigh(self, scores: Sequence[Scores], *, weight: float | None = None) -> list[Scores]:
        """Return the scores with spans weighted against arcs, by default as tuned in training."""
        share = weight if weight is not None else self.config.decoding.weight
        return [weigh(one, share) for one in scores]

    def name(self, scored: Scored, parses: Sequence[Parse]) -> list[Named]:
        """Return what a decoder found, and what the network says of words, with names; trees can be made of it."""
        output, known = scored.output, self.vocabulary
        nothing: Columns = [None] * len(parses)
        tags = _names(output.tags(), known.tags, output.lengths) if known.tags else nothing
        upos = _names(output.upos(), known.upos, output.lengths) if known.upos else nothing
        lemmas, features = self._name_words(scored, upos if known.upos else tags)
        relations = nothing
        if known.relations and all(parse.governors for parse in parses):
            best = output.relations(governor_ids([parse.governors for parse in parses]))
            relations = _names(best, known.relations, output.lengths)
        columns = zip(relations, tags, upos, lemmas, features, strict=True)
        return [
            name_parse(
                sentence, parse, known, relations=found, tags=tag_row, upos=upos_row, lemmas=lemma_row, features=row
            )
            for sentence, parse, (found, tag_row, upos_row, lemma_row, row) in zip(
                scored.sentences, parses, columns, strict=True
            )
        ]

    def _name_words(self, scored: Scored, tags: Columns) -> tuple[Columns, Columns]:
        """Return lemmas and features, as far as the network has learned them; lemmas are of words with their tags."""
        known, lengths = self.vocabulary, scored.output.lengths
        lemmas: Columns = [None] * len(lengths)
        features: Columns = [None] * len(lengths)
        scores = scored.output.word_scores()
        if scores is not None and scores.lemmas is not None and known.scripts:
            given = [one.upos if known.upos else one.tags for one in scored.sentences]
            rows = [filled(*pair) or ("",) * n for pair, n in zip(zip(given, tags, strict=True), lengths, strict=True)]
            words = [word for one in scored.sentences for word in one.words]
            lemmas = [*_split(name_lemmas(words, [*chain.from_iterable(rows)], scores.lemmas, known), lengths)]
        if scores is not None and scores.features:
            features = [*_split(name_features(scores.features, known), lengths)]
        return lemmas, features

    def decoder_for(self, asked: str | None) -> str:
        """Return the decoder asked for, or the usual one as far as the treebank had the trees for it."""
        name = asked if asked is not None else self.config.decoding.decoder
        phrases = len(self.vocabulary.labels) > 1
        fitting = usual_decoder(name, phrases=phrases, dependencies=bool(self.vocabulary.relations))
        if asked is not None and fitting != name:
            missing = "dependencies" if phrases else "phrase structure"
            raise UsageError(f"decoder {name!r}: the parser was trained without {missing}; accepted: {fitting!r}")
        return fitting


def governor_ids(governors: Sequence[Sequence[int]]) -> Numbers:
    """Return the governors of all sentences in a row: 0 is the root, k the sentence's word k - 1."""
    return np.fromiter(chain.from_iterable(governors), np.int64) - ROOT


def level_classes(output: Output) -> list[tuple[int, ...]]:
    """Return the likeliest level of every word, counted from 1."""
    return _split((output.levels().argmax(axis=-1) + 1).tolist(), output.lengths)


def _names(ids: Numbers, names: Sequence[str], lengths: Sequence[int]) -> Columns:
    return [*_split(list(map(names.__getitem__, ids.tolist())), lengths)]


def _split(row: Sequence[T], lengths: Sequence[int]) -> list[tuple[T, ...]]:
    """Return one row per sentence from the words of all sentences."""
    return [tuple(row[end - n : end]) for n, end in zip(lengths, accumulate(lengths), strict=True)]
