"""The network in native code: a whole batch in one call, linear layers in 8 bits, without the interpreter's lock.

Weights are rounded once, each output with a scale of its own; inputs on the way, to 8 bits, each row with a scale of
its own. Tables of vectors stay as they are stored. All instruction sets give the same numbers to the last bit.
"""

from __future__ import annotations

import os
import time
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from h3n.convert import LEVELS
from h3n.decode import Scores, trusted
from h3n.engine.features import Features
from h3n.engine.inputs import Inputs, pieces_of
from h3n.engine.output import Floats, Numbers, WordScores
from h3n.engine.plain import Encoder
from h3n.engine.saved import Saved
from h3n.engine.storage import Stored
from h3n.engine.words import PREFIX, WordHeads
from h3n.errors import UsageError

try:
    from h3n.engine import _layers
except ImportError:  # not built where the compiler cannot do it
    if not TYPE_CHECKING:
        _layers = None

CHOICE = "H3N_ISA"  # the environment variable that chooses an instruction set
BASELINE = "baseline"  # the instruction set that every processor has
MODEL = "encoder.model."
EMBEDDINGS = {
    "pieces": "word_embeddings.weight",
    "places": "position_embeddings.weight",
    "types": "token_type_embeddings.weight",
    "norm.weight": "LayerNorm.weight",
    "norm.bias": "LayerNorm.bias",
}
PARTS = ("query", "key", "value", "joined", "joined_norm", "inner", "outer", "outer_norm")
# Computed in numpy: what they give comes in beside the tables.
LEFT_TO_NUMPY = ("encoder.features.characters.", "encoder.features.vectors.", "encoder.features.vector_map.")
NONE = np.empty(0, dtype=np.int64)
RECURRENT = "recurrent"  # a kind of encoder

Packed = tuple[NDArray[Any], NDArray[Any] | None]


def is_built() -> bool:
    """Return whether there is native code for networks in this installation."""
    return _layers is not None


def is_fast() -> bool:
    """Return whether 8 bits are faster than 32 on this machine."""
    return is_built() and targets()[target()] != BASELINE


def target() -> int:
    """Return the place of the instruction set to use: the best one, or the one named by `CHOICE`."""
    wanted, known = os.environ.get(CHOICE), targets()
    if not wanted:
        return 0
    if wanted not in known:
        raise UsageError(f"{CHOICE} is {wanted!r}; accepted on this machine: {', '.join(known)}")
    return known.index(wanted)


def targets() -> list[str]:
    """Return the instruction sets that native code can use here, the best first."""
    return list(_layers.targets()) if is_built() else []


class NativeNetwork:
    """A saved model, run in native code with one of the instruction sets of this machine."""

    device, precision = "cpu", "int8"

    def __init__(self, saved: Saved) -> None:
        if not is_built():
            raise UsageError("8-bit layers are not built for this platform; accepted: float32")
        self.tokenizer = saved.tokenizer
        # Recurrent layers are left to numpy, in 32 bits: their steps are small, and wait for each other.
        self.encoder = Encoder(saved) if saved.config.encoder.kind == RECURRENT else None
        self.features = self.encoder.features if self.encoder is not None else Features(saved)
        self.words = WordHeads(saved) if saved.config.words.learned else None
        self.ordered = saved.config.scorers.order > 0
        self._network = _layers.Network(options_of(saved), weights_of(saved), target())

    @property
    def computes(self) -> str:
        """Return the name of the instruction set."""
        return str(self._network.target)

    def run(self, sentences: Sequence[Inputs]) -> NativeOutput:
        """Return what the network says of sentences."""
        lengths = [one.length for one in sentences]
        started = time.thread_time()
        columns = self.features.columns(sentences) if self.encoder is None else {}
        if self.encoder is None:
            extra = self.features.extra(sentences)
        else:  # one by one: numpy's last digits depend on the size of a batch, and 8 bits would make them large
            extra = np.concatenate([self.encoder.run([one]) for one in sentences])
        seconds = time.thread_time() - started
        found = self._network.run(
            np.array(lengths, dtype=np.int64),
            *self._pieces(sentences, lengths),
            words=columns.get("words", NONE),
            tags=columns.get("tags", NONE),
            shapes=columns.get("shapes", NONE),
            styles=columns.get("styles", NONE),
            extra=extra,
        )
        return NativeOutput(self, found, tuple(sentences), seconds=seconds)

    def _pieces(
        self, sentences: Sequence[Inputs], lengths: Sequence[int]
    ) -> tuple[Numbers, Numbers, Numbers, Numbers, Numbers]:
        """Return ids, types and the lengths of rows, and which pieces stand for which position."""
        if self.tokenizer is None:
            return NONE, NONE, NONE, NONE, NONE
        return self.tokenizer.lay_out(pieces_of(sentences), lengths).without_padding()


class NativeOutput:
    """What the native network says of a batch. Arrays lie in its memory, and keep it."""

    def __init__(
        self, network: NativeNetwork, found: _layers.Output, inputs: tuple[Inputs, ...], *, seconds: float
    ) -> None:
        self.lengths = tuple(one.length for one in inputs)
        self._network, self._found, self._inputs = network, found, inputs
        self.encoder_seconds = found.encoder_seconds + seconds  # of the processor, for profiles

    def scores(self) -> list[Scores]:
        """Return what decoders read, without scores of heads."""
        return list(self._scores)

    @cached_property
    def _scores(self) -> list[Scores]:
        found = self._found
        full, both, label, arcs = found.full, found.open, found.label, found.arcs
        cell = arc = 0
        made: list[Scores] = []
        for n in self.lengths:
            chart, last = slice(cell, cell + (n + 1) * (n + 1)), arc + n * (n + 1)
            made.append(
                trusted(
                    full=full[chart].reshape(n + 1, n + 1),
                    open=both[chart].reshape(n + 1, n + 1),
                    label=label[chart].reshape(n + 1, n + 1),
                    arc=arcs[arc + n : last].reshape(n, n),
                    root=arcs[arc : arc + n],
                )
            )
            cell, arc = chart.stop, last
        return made

    def tags(self) -> Numbers:
        """Return the best tag of each word."""
        return self._found.tags

    def upos(self) -> Numbers:
        """Return the best universal tag of each word."""
        return self._found.upos

    def tag_scores(self) -> Floats:
        """Return (words, tags)."""
        return self._found.tag_scores

    def upos_scores(self) -> Floats:
        """Return (words, universal tags)."""
        return self._found.upos_scores

    def relations(self, governors: Numbers) -> Numbers:
        """Return the best relation of each word to its governor."""
        return self._found.relations(governors)

    def relation_scores(self, governors: Numbers) -> Floats:
        """Return (words, relations), minus infinity where a relation cannot stand."""
        return self._found.relation_scores(governors)

    def levels(self) -> Floats:
        """Return (words, levels)."""
        return self._found.levels()

    def order(self) -> Floats | None:
        """Return the head score learned by order, where there is one."""
        return self._found.order if self._network.ordered else None

    def vectors(self) -> Floats:
        """Return (words, size), the words' vectors in context."""
        return self._found.vectors()

    def word_scores(self) -> WordScores | None:
        """Return scores of lemmas and features, where the network has learned any."""
        heads = self._network.words
        if heads is None:
            return None
        beside = heads.beside(self._inputs, self.tag_scores(), self.upos_scores())
        lemmas = self._found.lemma_scores(beside) if heads.tasks["lemma"] else None
        widths = heads.tasks["feature"]
        features = np.split(self._found.feature_scores(beside), np.cumsum(widths)[:-1], axis=1) if widths else []
        return WordScores(lemmas, tuple(features))

    def label_scores(self, sentence: Numbers, start: Numbers, end: Numbers) -> Floats:
        """Return (spans, labels), of all labels but the empty one, for some spans."""
        return self._found.label_scores(sentence, start, end)

    def governor_shares(self, governors: Numbers, *, temperature: float) -> Floats:
        """Return how likely one governor of each word is, among all words and the root."""
        return self._found.governor_shares(governors, 1.0 / temperature)

    def label_shares(
        self, sentence: Numbers, start: Numbers, end: Numbers, label: Numbers, *, temperature: float, none: float
    ) -> Floats:
        """Return how likely one label of each of some spans is, among all that it may have and none."""
        return self._found.label_shares(sentence, start, end, label, 1.0 / temperature, none)


def options_of(saved: Saved) -> dict[str, Any]:
    """Return the sizes of a network, as native code has them."""
    encoder, scorers, known, made = saved.config.encoder, saved.config.scorers, saved.vocabulary, saved.architecture
    layers = encoder.layers
    labels = max(len(known.labels) - 1, 1)
    options: dict[str, Any] = {
        "size": layers.size,
        "stack_layers": layers.count,
        "stack_heads": layers.heads,
        "stack_inside": layers.heads * layers.head_size,
        "stack_inner": layers.inner,
        "stack_places": layers.positions,
        "words": _rows(saved.weights, "words"),
        "tags_read": _rows(saved.weights, "tags"),
        "shapes": _rows(saved.weights, "shapes"),
        "styles": _rows(saved.weights, "styles"),
        **{name: getattr(scorers, name) for name in ("span", "pair", "arc", "relation", "head", "order", "tag")},
        "labels": labels,
        "relations": len(known.relations),
        "levels": LEVELS,
        "tags": max(len(known.tags), 1),
        "upos": max(len(known.upos), 1),
        "helper": known.helper - 1 if known.helper is not None else labels,
        "at_root": list(known.at_root),
        "elsewhere": list(known.elsewhere),
    }
    if saved.config.words.learned:
        options |= _word_options(saved)
    if encoder.kind == RECURRENT:
        options |= {"given": 1, **dict.fromkeys(("stack_layers", "words", "tags_read", "shapes", "styles"), 0)}
    if made is None:
        return options
    return options | {
        "pieces": made.vocab_size,
        "types": made.type_vocab_size,
        "hidden": made.hidden_size,
        "inner": made.intermediate_size,
        "layers": made.layers,
        "heads": made.heads,
        "places": made.max_positions,
        "place_offset": made.position_offset,
        "distances": made.buckets,
        "epsilon": made.epsilon,
        "pooling": encoder.pooling,
    }


def _word_options(saved: Saved) -> dict[str, int]:
    words, known = saved.config.words, saved.vocabulary
    return {
        "beside": sum(known.tag_widths[:2]) + words.characters,
        "lemma": words.lemmas,
        "lemma_classes": max(len(known.scripts), 1),
        "feature": words.features,
        "feature_classes": sum(known.feature_widths),
    }


def _rows(weights: Mapping[str, Stored], table: str) -> int:
    found = weights.get(f"encoder.features.{table}.weight")
    return found.shape[0] if found is not None else 0


def weights_of(saved: Saved) -> dict[str, Packed]:
    """Return the weights as they are stored, those of a pretrained encoder under names that all architectures share."""
    encoder = "encoder." if saved.config.encoder.kind == RECURRENT else MODEL
    left_out = (encoder, PREFIX, *LEFT_TO_NUMPY)
    names = {name: name for name in saved.weights if not name.startswith(left_out)}
    if saved.architecture is not None:
        names |= _encoder_names(saved)
    return {ours: _packed(saved.weights[theirs]) for ours, theirs in names.items()} | _word_weights(saved)


def _word_weights(saved: Saved) -> dict[str, Packed]:
    """Return the weights of the scorers of lemmas and features, whose choices stand side by side.

    What they read of a word's vector is rounded apart from what they read beside it: the sizes of both differ much.
    """
    size, words = saved.config.encoder.layers.size, saved.config.words
    made: dict[str, NDArray[Any]] = {}
    for name, hidden, tasks in (
        ("lemma", words.lemmas, 1),
        ("feature", words.features, len(saved.vocabulary.feature_widths)),
    ):
        if hidden:
            weight = _floats(saved, f"{name}.first.weight")
            made |= {f"{name}.vector.weight": weight[:, :size], f"{name}.beside": weight[:, size:]}
            made[f"{name}.vector.bias"] = _floats(saved, f"{name}.first.bias")
            for kind in ("weight", "bias"):
                made[f"{name}.norm.{kind}"] = _floats(saved, f"{name}.norm.{kind}")
                classes = [_floats(saved, f"{name}.classes.{task}.{kind}") for task in range(tasks)]
                made[f"{name}.classes.{kind}"] = np.concatenate(classes)
    return {f"{PREFIX}{name}": (np.ascontiguousarray(values), None) for name, values in made.items()}


def _floats(saved: Saved, name: str) -> Floats:
    return saved.weights[f"{PREFIX}{name}"].floats()


def _encoder_names(saved: Saved) -> dict[str, str]:
    """Return what the weights of the pretrained encoder are called in native code and in the file."""
    made = saved.architecture
    if made is None:
        return {}
    embeddings = {f"encoder.embeddings.{ours}": f"{MODEL}embeddings.{theirs}" for ours, theirs in EMBEDDINGS.items()}
    names = {ours: theirs for ours, theirs in embeddings.items() if theirs in saved.weights}
    if made.buckets:
        names["encoder.distances"] = f"{MODEL}encoder.relative_attention_bias.weight"
    for layer in range(made.layers):
        theirs = made.names.at(layer)
        for part in PARTS:
            for kind in ("weight", "bias"):
                names[f"encoder.layers.{layer}.{part}.{kind}"] = f"{getattr(theirs, part)}.{kind}"
    return names


def _packed(stored: Stored) -> Packed:
    scales = stored.scales
    return np.ascontiguousarray(stored.values), np.ascontiguousarray(scales) if scales is not None else None
