"""The whole network: an encoder and its scorers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode

from h3n.config import Config
from h3n.convert import LEVELS
from h3n.engine.pieces import Tokenizer
from h3n.engine.vocabulary import Vocabulary
from h3n.errors import UnknownName
from h3n.model.batch import Batch
from h3n.model.encoders import Attentive, Pretrained
from h3n.model.recurrent import Recurrent
from h3n.model.scorers import ArcScorer, Posts, RelationScorer, SpanScorer, WordScorer
from h3n.model.spans import Spans, spans_of
from h3n.model.words import WordHeads, WordTensors

ENCODERS: dict[str, type[Attentive] | type[Recurrent] | type[Pretrained]] = {
    "attentive": Attentive,
    "recurrent": Recurrent,
    "pretrained": Pretrained,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Output:
    """What the network says of a batch. Spans stay fenceposts until somebody asks for their scores."""

    spans: Spans
    mask: Tensor  # (B, n + 2)
    posts: Posts
    arcs: Tensor  # (B, n, n + 1): arcs[b, m, h], h = 0 the root
    governors: Tensor  # (B, n + 2, relation hidden), for relations
    dependents: Tensor  # (B, n + 2, relation hidden)
    make_levels: Callable[[], Tensor]  # see `levels`
    order: Tensor | None  # (B, n): the head score learned by order, where the network has one
    tags: Tensor  # (B, n, tags)
    upos: Tensor  # (B, n, tags)
    vectors: Tensor  # (B, n, d)
    word_scores: WordTensors | None = None  # lemmas and features, where the network has learned them
    early: tuple[Tensor, ...] = ()  # (B, n, classes) each: tags, upos and every feature, after the first layer

    @property
    def levels(self) -> Tensor:
        """Return (B, n, LEVELS). Most parses are found without them, so that they may be computed only here."""
        return self.make_levels()

    @property
    def words(self) -> Tensor:
        """Return (B, n), true where a word stands."""
        return self.mask[:, 2:]


class Network(nn.Module):
    """Words to scores (paper, section III)."""

    def __init__(
        self, config: Config, vocabulary: Vocabulary, *, folder: Path | None = None, vector_size: int = 0
    ) -> None:
        super().__init__()
        if config.encoder.kind not in ENCODERS:
            raise UnknownName("encoder", config.encoder.kind, ENCODERS)
        encoder = ENCODERS[config.encoder.kind]
        self.encoder = encoder(config.encoder, vocabulary, folder=folder, vector_size=vector_size)
        size, options = self.encoder.size, config.scorers
        dropout = options.dropout
        # A treebank of one kind leaves the other kind's scorer with a single class that nobody asks for.
        self.span = SpanScorer(
            size, options.span, max(len(vocabulary.labels) - 1, 1), dropout=dropout, pair=options.pair
        )
        self.arc = ArcScorer(size, options.arc, dropout=dropout)
        self.relation = RelationScorer(
            size, options.relation, at_root=vocabulary.at_root, elsewhere=vocabulary.elsewhere, dropout=dropout
        )
        self.head = WordScorer(size, options.head, (LEVELS,), dropout=dropout)
        self.order = WordScorer(size, options.order, (1,), dropout=dropout) if options.order else None
        self.tag = WordScorer(size, options.tag, (len(vocabulary.tags), len(vocabulary.upos)), dropout=dropout)
        self.words = WordHeads(size, config.words, vocabulary) if config.words.learned else None

    @property
    def tokenizer(self) -> Tokenizer | None:
        """Return the pretrained model's tokenizer, which inputs have to be read with, if there is one."""
        return self.encoder.tokenizer

    @property
    def device(self) -> torch.device:
        return self.span.bias.device

    def forward(self, batch: Batch) -> Output:
        early: tuple[Tensor, ...] = ()
        if isinstance(self.encoder, Recurrent):
            words, early = self.encoder.encode(batch)  # (B, n + 2, d)
        else:
            words = self.encoder(batch)
        governors, dependents = self.relation.roles(words)
        inner = words[:, 1:-1]
        (levels,) = self.head(inner)
        tags, upos = self.tag(inner)
        return Output(
            spans=spans_of(batch.lengths, device=words.device),
            mask=batch.mask,
            posts=self.span.posts(words),
            arcs=self.arc(words, batch.mask),
            governors=governors,
            dependents=dependents,
            make_levels=lambda: levels,
            order=self.order(inner)[0][..., 0] if self.order is not None else None,
            tags=tags,
            upos=upos,
            vectors=inner,
            word_scores=self.words.read(batch, inner, tags, upos) if self.words is not None else None,
            early=tuple(scores[:, 1:-1] for scores in early),
        )

    def relations(self, output: Output, governors: Tensor) -> Tensor:
        """Return (words, relations) for one governor per word of all sentences in a row; governor 0 is the root."""
        sentence, word = output.words.nonzero(as_tuple=True)
        scores: Tensor = self.relation(
            output.governors[sentence, governors], output.dependents[sentence, word + 1], root=governors == 0
        )
        return scores


def build_network(config: Config, vocabulary: Vocabulary) -> Network:
    """Return a network to be trained, with the pretrained encoder's weights and static vectors if the options ask."""
    return Network(config, vocabulary)


RANDOM = (Tensor.normal_, Tensor.uniform_, nn.init.normal_, nn.init.uniform_, nn.init.kaiming_uniform_)


class _Unfilled(TorchFunctionMode):
    """Leaves out the random numbers that weights start from; on the device ``meta`` they also load a compiler."""

    def __torch_function__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Mapping[str, Any] | None = None
    ) -> Any:
        given = kwargs or {}
        if func in RANDOM:
            return given["tensor"] if "tensor" in given else args[0]
        return func(*args, **given)


def unfilled_network(config: Config, vocabulary: Vocabulary, *, folder: Path | None, vector_size: int = 0) -> Network:
    """Return a network whose weights take no memory and have yet to come; buffers of our own are there."""
    with torch.device("meta"), _Unfilled():
        return Network(config, vocabulary, folder=folder, vector_size=vector_size)


def fill_network(network: Network, state: dict[str, Tensor]) -> bool:
    """Give an unfilled network its weights, without a copy; return whether it is whole then.

    Encoders of other libraries may have parts that are not saved, which are known only where they are built for use.
    """
    network.load_state_dict(state, assign=True)
    return not any(value.is_meta for value in chain(network.parameters(), network.buffers()))


def restore_network(
    config: Config, vocabulary: Vocabulary, state: dict[str, Tensor], *, folder: Path | None
) -> Network:
    """Return a trained network from its weights; ``folder`` holds a pretrained encoder's configuration."""
    vectors = state.get("encoder.features.vectors.weight")
    network = Network(config, vocabulary, folder=folder, vector_size=vectors.shape[1] if vectors is not None else 0)
    network.load_state_dict(state)
    return network
