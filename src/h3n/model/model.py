"""A trained model: sentences in, scores and parses out; loaded from a folder and saved into one.

A saved model is a folder: ``model.safetensors`` (all weights), ``parser.json`` (options and vocabulary), and for a
pretrained encoder its own configuration and tokenizer. Nothing in it is executed on loading.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import torch
from safetensors.numpy import save_file

from h3n.config import Config, table_of, without_folders
from h3n.decode import DECODERS, EXACT_UP_TO, Constraints, Parse, Scores, decode_batch, usual_decoder, weigh
from h3n.engine.storage import Array, pack
from h3n.engine.vocabulary import Vocabulary
from h3n.engine.words import name_words
from h3n.errors import UsageError
from h3n.files import checksum, drafted, write_text, written_folder
from h3n.model.batch import Inputs, collate, read_inputs, to_device
from h3n.model.naming import Named, name_parse
from h3n.model.network import Network, Output
from h3n.model.ranking import check_ranking, rank
from h3n.model.saved import load_saved
from h3n.model.scoring import level_classes, name_relations, name_tags, scores_of
from h3n.models import ABOUT, ENCODER, SHA256, VERSION, WEIGHTS
from h3n.trees import JointTree, Sentence

CPU_WORDS = 400  # in a batch: more of them fall out of a processor's caches
NO_PARSE = Parse((), (), 0.0)


@dataclass(frozen=True, slots=True)
class Scored:
    """Sentences with everything the network says of them, before decoding. Reusable with several decoders."""

    sentences: tuple[Sentence, ...]
    output: Output
    scores: tuple[Scores, ...]


@dataclass(frozen=True, slots=True)
class Parsed:
    """A parsed sentence: its trees in ``sentence``, the two as one in ``joint`` where the decoder is a joint one.

    ``parse`` is what the decoder found, in numbers.
    """

    sentence: Sentence
    joint: JointTree | None = None
    levels: tuple[int, ...] = ()
    parse: Parse = NO_PARSE

    @property
    def score(self) -> float:
        return self.parse.score


class Model:
    """A network with its vocabulary and options; a user sees it as `h3n.parser.Parser`. Load or train one."""

    def __init__(self, network: Network, vocabulary: Vocabulary, config: Config) -> None:
        self.network = network
        self.vocabulary = vocabulary
        self.config = config

    @classmethod
    def load(cls, folder: str | Path, *, device: str = "cpu") -> Model:
        """Return the model saved in a folder."""
        network, vocabulary, config = load_saved(Path(folder))
        return cls(network.to(device).eval(), vocabulary, config)

    def save(
        self,
        folder: str | Path,
        *,
        bits: int = 32,
        embedding_bits: int | None = None,
        inner_bits: int | None = None,
    ) -> None:
        """Write the model into a folder; see `h3n.engine.storage` for fewer bits a weight.

        The folder appears whole; where it is there already, the files are replaced one by one and others are kept.
        """
        path = Path(folder)
        state = {name: value.detach().cpu().numpy() for name, value in self.network.state_dict().items()}
        weights = pack(state, bits, embedding_bits=embedding_bits, inner_bits=inner_bits)
        if path.is_dir():
            self._write(path, weights)
        else:
            with written_folder(path) as draft:
                self._write(draft, weights)

    def _write(self, path: Path, weights: dict[str, Array]) -> None:
        with drafted(path / WEIGHTS) as draft:
            save_file(weights, draft, metadata={"format": "pt"})
        if self.network.tokenizer is not None:
            (path / ENCODER).mkdir(exist_ok=True)
            self.network.encoder.save(path / ENCODER)
        about = {"version": VERSION, SHA256: checksum(path / WEIGHTS), "config": table_of(without_folders(self.config))}
        about["vocabulary"] = self.vocabulary.to_json()
        write_text(path / ABOUT, json.dumps(about, ensure_ascii=False, indent=1) + "\n")
        (path / WEIGHTS).chmod((path / ABOUT).stat().st_mode)  # who may read a model may read all of it

    def parse(
        self,
        sentences: Iterable[Sentence | Sequence[str]],
        *,
        decoder: str | None = None,
        weight: float | None = None,
        head_score: str | None = None,
        threads: int = 1,
        styles: Sequence[str] | None = None,
    ) -> list[Parsed]:
        """Return the sentences parsed, in their order. Given tags are kept; a sentence without words stays as it is.

        ``weight`` is that of spans against arcs, by default the one tuned in training; ``head_score`` names what
        heads are ranked by. ``styles`` are the styles of annotation to follow, one for each sentence.
        """
        given = [s if isinstance(s, Sentence) else Sentence(words=tuple(s)) for s in sentences]
        parsed: dict[int, Parsed] = {at: Parsed(s) for at, s in enumerate(given) if not len(s)}
        for numbers, scored in self.score(given, styles=styles):
            batch = self.decode(scored, decoder=decoder, weight=weight, head_score=head_score, threads=threads)
            parsed.update(zip(numbers, batch, strict=True))
        return [parsed[at] for at in range(len(given))]

    def score(
        self, sentences: Sequence[Sentence], *, styles: Sequence[str] | None = None
    ) -> Iterator[tuple[list[int], Scored]]:
        """Yield sentences with their scores, in batches with the sentences' numbers; see `batches`."""
        for numbers, inputs in self.batches(sentences, styles=styles):
            yield numbers, self.score_batch([sentences[at] for at in numbers], inputs)

    def batches(
        self, sentences: Sequence[Sentence], *, styles: Sequence[str] | None = None
    ) -> Iterator[tuple[list[int], list[Inputs]]]:
        """Yield the numbers and inputs of sentences of like length; sentences without words are left out."""
        return self.group(self.read(dict(enumerate(sentences)), styles=styles))

    def read(self, sentences: Mapping[int, Sentence], *, styles: Sequence[str] | None = None) -> dict[int, Inputs]:
        """Return the inputs of the sentences that have words, by their numbers."""
        known, tokenizer = self.vocabulary, self.network.tokenizer
        characters = bool(known.characters)
        style_ids = [known.style(name) for name in styles] if styles is not None else None
        return {
            at: read_inputs(
                sentence.words,
                known,
                tags=sentence.tags,
                tokenizer=tokenizer,
                characters=characters,
                style=style_ids[at] if style_ids is not None else 0,
            )
            for at, sentence in sentences.items()
            if sentence.words
        }

    def group(self, inputs: Mapping[int, Inputs]) -> Iterator[tuple[list[int], list[Inputs]]]:
        """Yield batches of sentences of like length, the longest first.

        Length is what the encoder reads: pieces, where it is a pretrained one, as most time goes there.
        """
        room = self.config.batches.parse_words
        if self.network.device.type == "cpu":
            room = min(room, CPU_WORDS)
        order = sorted(inputs, key=lambda at: inputs[at].width, reverse=True)
        while order:
            fit = max(1, room // inputs[order[0]].width)
            numbers, order = order[:fit], order[fit:]
            yield numbers, [inputs[at] for at in numbers]

    @torch.inference_mode()
    def score_batch(self, sentences: Sequence[Sentence], inputs: Sequence[Inputs]) -> Scored:
        """Return what the network says of sentences that were read."""
        network, tokenizer = self.network, self.network.tokenizer
        output = network(to_device(collate(inputs, tokenizer=tokenizer), network.device))
        scores = scores_of(network, output, helper=self.vocabulary.helper)
        return Scored(tuple(sentences), output, tuple(scores))

    @torch.inference_mode()
    def decode(
        self,
        scored: Scored,
        *,
        decoder: str | None = None,
        weight: float | None = None,
        head_score: str | None = None,
        threads: int = 1,
        constraints: Sequence[Constraints | None] | None = None,
    ) -> list[Parsed]:
        """Return the parses of scored sentences. ``cky`` finds no dependencies, ``mst`` and ``eisner`` no phrases.

        ``head_score`` is a name in `h3n.model.ranking.RANKINGS`, by default the one chosen in training.
        """
        name = self.decoder_for(decoder)
        ready = self.prepare(scored, decoder=name, weight=weight, head_score=head_score)
        parses = decode_batch(ready, decoder=name, threads=threads, constraints=constraints)
        return [
            Parsed(named.complete(), named.joint(), levels, named.parse)
            for named, levels in zip(self.name(scored, parses), level_classes(scored.output), strict=True)
        ]

    @torch.inference_mode()
    def name(self, scored: Scored, parses: Sequence[Parse]) -> list[Named]:
        """Return what a decoder found with the names of relations and tags; trees can be made of it."""
        output, known = scored.output, self.vocabulary
        nothing: list[tuple[str, ...] | None] = [None] * len(parses)
        tags = name_tags(output.tags, output, names=known.tags) if known.tags else nothing
        upos = name_tags(output.upos, output, names=known.upos) if known.upos else nothing
        governors = [parse.governors for parse in parses]
        relations: Sequence[tuple[str, ...] | None] = nothing
        if known.relations and all(map(len, governors)):
            relations = name_relations(self.network, output, governors, vocabulary=known)
        named = [
            name_parse(sentence, parse, known, relations=found, tags=tag_row, upos=upos_row)
            for sentence, parse, found, tag_row, upos_row in zip(
                scored.sentences, parses, relations, tags, upos, strict=True
            )
        ]
        if output.word_scores is None:
            return named
        words = name_words([one.sentence for one in named], output.word_scores.arrays(), known)
        return [replace(one, sentence=sentence) for one, sentence in zip(named, words, strict=True)]

    def prepare(
        self, scored: Scored, *, decoder: str, weight: float | None = None, head_score: str | None = None
    ) -> list[Scores]:
        """Return what a decoder reads: heads ranked where it asks for them, then spans weighted against arcs."""
        return self.weigh(self.rank(scored, decoder=decoder, head_score=head_score), weight=weight)

    @torch.inference_mode()
    def rank(self, scored: Scored, *, decoder: str, head_score: str | None = None) -> Sequence[Scores]:
        """Return the scores, with heads if the decoder asks for them."""
        if "head" not in DECODERS[decoder].needs:
            return scored.scores
        how = head_score if head_score is not None else self.config.decoding.head_score
        check_ranking(how, ordered=scored.output.order is not None)
        # Short sentences are decoded exactly by `auto`, which asks for no head scores.
        beyond = EXACT_UP_TO if decoder == "auto" else 0
        if all(len(sentence) <= beyond for sentence in scored.sentences):
            return scored.scores
        heads = rank(scored.output.levels, scored.scores, how, order=scored.output.order, beyond=beyond)
        return [replace(one, head=head) for one, head in zip(scored.scores, heads, strict=True)]

    def weigh(self, scores: Sequence[Scores], *, weight: float | None = None) -> list[Scores]:
        """Return the scores with spans weighted against arcs, by default as tuned in training."""
        share = weight if weight is not None else self.config.decoding.weight
        return [weigh(one, share) for one in scores]

    def decoder_for(self, asked: str | None) -> str:
        """Return the decoder asked for, or the usual one as far as the treebank had the trees for it."""
        name = asked if asked is not None else self.config.decoding.decoder
        phrases = len(self.vocabulary.labels) > 1
        fitting = usual_decoder(name, phrases=phrases, dependencies=bool(self.vocabulary.relations))
        if asked is not None and fitting != name:
            missing = "dependencies" if phrases else "phrase structure"
            raise UsageError(f"decoder {name!r}: the parser was trained without {missing}; accepted: {fitting!r}")
        return fitting
