"""The network in numpy, in 32 bits: the plain twin of the native one, to be read beside the paper (section III).

Rows are the words (or pieces) of all sentences one after the other, without padding; what a row becomes depends on the
rows of its own sentence alone. Weights have the names that they have in the file of a saved model.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np

from h3n.decode import Scores
from h3n.engine.architectures import DISTANCES, EMBEDDINGS
from h3n.engine.features import Features
from h3n.engine.inputs import Inputs, pieces_of, word_positions
from h3n.engine.output import Floats, Numbers, best
from h3n.engine.saved import Saved
from h3n.engine.spans import bar_helper, charts, spans_of

LEAKY = 0.1  # what is left of a negative number by the activation of roles
EPSILON = 1e-5  # of every norm but those of a pretrained encoder
LEAST = np.finfo(np.float32).min
FAR = 128  # MPNet: pieces that are further apart than this are all alike


def linear(x: Floats, weight: Floats, bias: Floats | None = None) -> Floats:
    """Return x W^T + b."""
    product: Floats = x @ weight.T
    return product if bias is None else product + bias


def norm(x: Floats, weight: Floats, bias: Floats, epsilon: float = EPSILON) -> Floats:
    """Return every row with mean 0 and variance 1, then scaled and moved."""
    centred = x - x.mean(axis=-1, keepdims=True)
    variance = np.square(centred).mean(axis=-1, keepdims=True)
    return np.asarray(centred / np.sqrt(variance + np.float32(epsilon)) * weight + bias, dtype=np.float32)


def relu(x: Floats) -> Floats:
    return np.maximum(x, np.float32(0.0))


def leaky(x: Floats) -> Floats:
    return np.asarray(np.maximum(x, x * np.float32(LEAKY)), dtype=np.float32)


def gelu(x: Floats) -> Floats:
    """Return x times the share of a normal distribution that lies below x."""
    return np.asarray(np.float32(0.5) * x * (1 + _erf(x * np.float32(math.sqrt(0.5)))), dtype=np.float32)


# The error function as a fraction of two polynomials, fitted to 2e-8 as far as it is not yet 1; highest power first.
_ABOVE = (2.0347290e-6, 2.8748069e-4, 3.8683759e-3, 5.3060630e-2, 1.9276516e-1, 1.1283790)
_BELOW = (3.8070648e-5, 1.1881273e-3, 1.5172392e-2, 1.1508508e-1, 5.0416534e-1, 1.0)


def _erf(x: Floats) -> Floats:
    z = np.clip(x, np.float32(-3.92), np.float32(3.92))
    square = z * z
    return np.asarray(z * _polynomial(_ABOVE, square) / _polynomial(_BELOW, square), dtype=np.float32)


def _polynomial(factors: Sequence[float], x: Floats) -> Floats:
    """Return the value of a polynomial, the factor of the highest power first; numpy's makes more copies."""
    total = np.full_like(x, factors[0])
    for factor in factors[1:]:
        total *= x
        total += np.float32(factor)
    return total


def softmax(x: Floats) -> Floats:
    shares = np.exp(x - x.max(axis=-1, keepdims=True))
    return np.asarray(shares / shares.sum(axis=-1, keepdims=True), dtype=np.float32)


def log_softmax(x: Floats) -> Floats:
    """Return the logarithms of the shares; minus infinity stays."""
    moved = x - x.max(axis=-1, keepdims=True)
    return np.asarray(moved - np.log(np.exp(moved).sum(axis=-1, keepdims=True)), dtype=np.float32)


ACTIVATIONS: dict[str, Callable[[Floats], Floats]] = {"gelu": gelu, "relu": relu}


def attend(query: Floats, key: Floats, value: Floats, added: Floats | None = None) -> Floats:
    """Return the values mixed by attention; all are (heads, rows, size), ``added`` (heads, rows, rows)."""
    scores = query @ key.transpose(0, 2, 1) / np.float32(math.sqrt(query.shape[-1]))
    mixed: Floats = softmax(scores if added is None else scores + added) @ value
    return mixed


def _by_head(x: Floats, heads: int) -> Floats:  # (rows, heads * size) -> (heads, rows, size)
    return x.reshape(len(x), heads, -1).transpose(1, 0, 2)


def _joined(x: Floats) -> Floats:  # (heads, rows, size) -> (rows, heads * size)
    return np.ascontiguousarray(x.transpose(1, 0, 2)).reshape(x.shape[1], -1)


class Weights:
    """The weights of a saved model by name, in 32 bits; ``part`` looks below a prefix."""

    def __init__(self, saved: Saved, prefix: str = "") -> None:
        self._saved, self._prefix = saved, prefix

    def __call__(self, name: str) -> Floats:
        return self._saved.weights[self._prefix + name].floats()

    def part(self, name: str) -> Weights:
        return Weights(self._saved, f"{self._prefix}{name}.")

    def pair(self, name: str) -> tuple[Floats, Floats]:
        """Return weight and bias of a linear layer or a norm."""
        return self(f"{name}.weight"), self(f"{name}.bias")


class Transformer:
    """A pretrained encoder: BERT, RoBERTa and their kin, MPNet. One vector per piece."""

    def __init__(self, saved: Saved) -> None:
        if saved.architecture is None:
            raise ValueError("the model has no pretrained encoder")
        self.made = saved.architecture
        weights = Weights(saved)
        self.pieces = saved.weights[f"{EMBEDDINGS}word_embeddings.weight"]
        self.places = weights(f"{EMBEDDINGS}position_embeddings.weight")
        self.types = weights(f"{EMBEDDINGS}token_type_embeddings.weight") if self.made.type_vocab_size else None
        self.norm = weights.pair(f"{EMBEDDINGS}LayerNorm")
        self.layers = [
            {part: weights.pair(name) for part, name in asdict(self.made.names.at(layer)).items()}
            for layer in range(self.made.layers)
        ]
        self.distances = weights(DISTANCES) if self.made.buckets else None

    def run(self, ids: Numbers, types: Numbers, rows: Sequence[int]) -> Floats:
        """Return a vector for each piece; ``rows`` are the lengths of what is read together."""
        ends = np.cumsum(rows)
        places = np.concatenate([np.arange(count) for count in rows]) + self.made.position_offset
        # The order of the sum is torch's, so that its last digits are the same.
        x = self.pieces.rows(ids)
        if self.types is not None:
            x = x + self.types[types]
        x = norm(x + self.places[places], *self.norm, self.made.epsilon)
        parts = [slice(end - count, end) for end, count in zip(ends.tolist(), rows, strict=True)]
        for layer in self.layers:
            x = self._layer(x, layer, parts)
        return x

    def _layer(self, x: Floats, layer: dict[str, tuple[Floats, Floats]], parts: Sequence[slice]) -> Floats:
        query, key, value = (linear(x, *layer[role]) for role in ("query", "key", "value"))
        seen = np.empty_like(query)
        for part in parts:
            asked, seen_by, taken = (_by_head(role[part], self.made.heads) for role in (query, key, value))
            seen[part] = _joined(attend(asked, seen_by, taken, self._by_distance(part.stop - part.start)))
        x = norm(linear(seen, *layer["joined"]) + x, *layer["joined_norm"], self.made.epsilon)
        inside = ACTIVATIONS[self.made.activation](linear(x, *layer["inner"]))
        return norm(linear(inside, *layer["outer"]) + x, *layer["outer_norm"], self.made.epsilon)

    def _by_distance(self, count: int) -> Floats | None:
        """Return what MPNet adds to scores of attention, by how far the query stands behind the key."""
        if self.distances is None:
            return None
        places = np.arange(count)
        added: Floats = self.distances[distance_classes(places[:, None] - places, len(self.distances))]
        return added.transpose(2, 0, 1)


def distance_classes(distance: Numbers, buckets: int) -> Numbers:
    """Return MPNet's classes of distances: near ones one by one, farther ones in classes that grow."""
    half = buckets // 2
    near = half // 2
    apart = np.abs(distance)
    growth = np.log(np.maximum(apart, 1).astype(np.float32) / np.float32(near)) / np.float32(math.log(FAR / near))
    far = np.minimum(near + (growth * np.float32(half - near)).astype(np.int64), half - 1)
    return np.asarray(np.where(apart < near, apart, far) + half * (distance < 0), dtype=np.int64)


class Stack:
    """Partitioned self-attention: content and position meet only in attention's scores and the norms.

    (paper, section III-A)
    """

    def __init__(self, saved: Saved) -> None:
        options = saved.config.encoder.layers
        self.heads = options.heads
        weights = Weights(saved, "encoder.stack.")
        self.places = weights("positions") if options.count else None
        self.layers = [weights.part(f"layers.{at}") for at in range(options.count)]
        self.made = [self._read(layer) for layer in self.layers]

    @staticmethod
    def _read(layer: Weights) -> dict[str, tuple[Floats, Floats]]:
        linears = ("attention.query", "attention.key", "attention.value", "attention.out", "inner", "outer")
        names = [f"{name}.{half}" for name in linears for half in ("content", "position")]
        return {name: layer.pair(name) for name in (*names, "attention_norm", "outer_norm")}

    def run(self, content: Floats, lengths: Sequence[int]) -> Floats:
        """Return the vectors in context; ``lengths`` count start and stop."""
        if self.places is None:
            return content
        last = len(self.places) - 1
        position = np.concatenate([self.places[np.minimum(np.arange(count), last)] for count in lengths])
        x = np.concatenate((content, position), axis=1)
        ends = np.cumsum(lengths).tolist()
        for layer in self.made:
            x = self._layer(x, layer, [slice(end - n, end) for end, n in zip(ends, lengths, strict=True)])
        return x

    def _layer(self, x: Floats, layer: dict[str, tuple[Floats, Floats]], parts: Sequence[slice]) -> Floats:
        def both(x: Floats, name: str) -> tuple[Floats, Floats]:
            content, position = np.split(x, 2, axis=1)
            return linear(content, *layer[f"{name}.content"]), linear(position, *layer[f"{name}.position"])

        roles = [both(x, f"attention.{role}") for role in ("query", "key", "value")]
        seen = np.empty((len(x), 2 * roles[0][0].shape[1]), dtype=np.float32)
        for part in parts:
            # Each head sees its half of the content beside its half of the position.
            split = [np.concatenate([_by_head(half[part], self.heads) for half in role], axis=2) for role in roles]
            content, position = np.split(attend(*split), 2, axis=2)
            seen[part] = np.concatenate((_joined(content), _joined(position)), axis=1)
        x = norm(x + np.concatenate(both(seen, "attention.out"), axis=1), *layer["attention_norm"])
        inside = relu(np.concatenate(both(x, "inner"), axis=1))
        return norm(x + np.concatenate(both(inside, "outer"), axis=1), *layer["outer_norm"])


class Encoder:
    """Words to vectors in context: features of words, on top of a pretrained model or alone, then the stack."""

    def __init__(self, saved: Saved) -> None:
        self.saved = saved
        self.features = Features(saved)
        self.transformer = Transformer(saved) if saved.architecture is not None else None
        weights = Weights(saved, "encoder.")
        self.project = weights.pair("project") if self.transformer is not None else None
        self.norm = weights.pair("norm")
        self.stack = Stack(saved)

    def run(self, sentences: Sequence[Inputs]) -> Floats:
        """Return a vector for every word, and for each sentence's start and stop."""
        lengths = [one.length + 2 for one in sentences]
        content = self.features.run(sentences)
        if self.transformer is not None and self.project is not None:
            content = linear(self._word_vectors(sentences), *self.project) + content
        return self.stack.run(norm(self.features.add_edges(content, lengths), *self.norm), lengths)

    def _word_vectors(self, sentences: Sequence[Inputs]) -> Floats:
        if self.transformer is None or self.saved.tokenizer is None:
            raise ValueError("the model has no pretrained encoder")
        rows = self.saved.tokenizer.lay_out(pieces_of(sentences), [one.length for one in sentences])
        ids, types, lengths, word_pieces, word_of = rows.without_padding()
        pieces = self.transformer.run(ids, types, lengths.tolist())
        return pooled(pieces[word_pieces], word_of, how=self.saved.config.encoder.pooling)


def pooled(pieces: Floats, word_of: Numbers, *, how: str) -> Floats:
    """Return one vector for each word from those of its pieces: their mean, or the first or last one."""
    starts = np.flatnonzero(np.diff(word_of, prepend=-1))
    if how == "first":
        return np.asarray(pieces[starts], dtype=np.float32)
    if how == "last":
        return np.asarray(pieces[np.append(starts[1:], len(word_of)) - 1], dtype=np.float32)
    counts = np.diff(np.append(starts, len(word_of)))
    means = np.add.reduceat(pieces, starts) / counts[:, None].astype(np.float32)
    return np.asarray(means, dtype=np.float32)


class PlainNetwork:
    """A saved model, run in numpy."""

    device, precision, computes = "cpu", "float32", "numpy"

    def __init__(self, saved: Saved) -> None:
        self.saved = saved
        self.encoder = Encoder(saved)
        self.weights = Weights(saved)
        self.ordered = saved.config.scorers.order > 0
        known = saved.vocabulary
        allowed = np.array([known.at_root, known.elsewhere], dtype=np.bool_).reshape(2, -1)
        self.barred = ~(allowed | ~allowed.any(axis=1, keepdims=True))  # no relation at all is no choice

    def run(self, sentences: Sequence[Inputs]) -> PlainOutput:
        started = time.thread_time()
        positions = self.encoder.run(sentences)
        return PlainOutput(self, tuple(one.length for one in sentences), positions, time.thread_time() - started)

    def role(self, name: str, x: Floats) -> Floats:
        """Return vectors made fit for a role: of a governor, a dependent, a start or an end."""
        return leaky(linear(x, *self._pair(f"{name}.linear")))

    def classes(self, scorer: str, x: Floats, task: int = 0) -> Floats:
        """Return the scores of a word's classes: a feed-forward step and a classifier."""
        hidden = relu(norm(linear(x, *self._pair(f"{scorer}.first")), *self._pair(f"{scorer}.norm")))
        return linear(hidden, *self._pair(f"{scorer}.classes.{task}"))

    def matrix(self, name: str) -> Floats:
        """Return one tensor, unpacked once."""
        if name not in self._unpacked:
            self._unpacked[name] = self.weights(name)
        return self._unpacked[name]

    def _pair(self, name: str) -> tuple[Floats, Floats]:
        return self.matrix(f"{name}.weight"), self.matrix(f"{name}.bias")

    @cached_property
    def _unpacked(self) -> dict[str, Floats]:
        return {}


@dataclass(frozen=True)
class PlainOutput:
    """What the plain network says of a batch; every answer is computed when it is asked for."""

    network: PlainNetwork
    lengths: tuple[int, ...]
    positions: Floats  # (words, starts and stops, d)
    encoder_seconds: float

    @cached_property
    def _places(self) -> Numbers:
        """Return where words stand among positions."""
        return word_positions(self.lengths)

    @cached_property
    def _words(self) -> Floats:
        return self.positions[self._places]

    def _sentences(self) -> Iterator[tuple[int, Floats]]:
        """Yield the number of words of each sentence and its positions, start and stop included."""
        ends = [0, *np.cumsum(np.array(self.lengths) + 2).tolist()]
        for n, (start, end) in zip(self.lengths, pairwise(ends), strict=True):
            yield n, self.positions[start:end]

    @cached_property
    def _posts(self) -> tuple[Floats, ...]:
        """Return each sentence's fenceposts: halves of the word before and after (paper, section III-B)."""
        return tuple(np.concatenate((here[:-1, 0::2], here[1:, 1::2]), axis=1) for _, here in self._sentences())

    def scores(self) -> list[Scores]:
        helper = self.network.saved.vocabulary.helper
        found: list[Scores] = []
        for number, (n, here) in enumerate(self._sentences()):
            start, end = spans_of(n)
            labels = self._label_scores(number, start, end)
            bar_helper(labels, start, end, n, helper=helper)
            full, label = charts(labels, start, end, n)
            arc, root = self._arcs(here)
            found.append(Scores(full=full, open=np.maximum(full, 0.0), label=label, arc=arc, root=root))
        return found

    def _arcs(self, here: Floats) -> tuple[Floats, Floats]:
        """Return log-probabilities of governors, and of the root (paper, section III-C)."""
        network = self.network
        weight = network.matrix("arc.weight")  # its last row is a bias
        governor, dependent = network.role("arc.governor", here[:-1]), network.role("arc.dependent", here[1:-1])
        scores = (dependent @ weight[:-1] + weight[-1]) @ governor.T  # (words, root and words)
        np.fill_diagonal(scores[:, 1:], -np.inf)
        shares = np.maximum(log_softmax(scores), LEAST).T  # decoders add barred arcs up
        return np.ascontiguousarray(shares[1:]), np.ascontiguousarray(shares[0])

    def _label_scores(self, number: int, start: Numbers, end: Numbers) -> Floats:
        network, posts = self.network, self._posts[number]
        hidden = posts @ network.matrix("span.first.weight").T  # linear: once a fencepost, not once a span
        feature = hidden[end] - hidden[start] + network.matrix("span.bias")
        active = relu(norm(feature, network.matrix("span.norm.weight"), network.matrix("span.norm.bias")))
        scores = linear(active, network.matrix("span.second.weight"), network.matrix("span.second.bias"))
        if network.saved.config.scorers.pair:
            weight = network.matrix("span.weight")
            first, last = network.role("span.start", posts), network.role("span.end", posts)
            looked_for = first @ weight[:-1] + weight[-1]  # (posts, pair + 1)
            pairs = looked_for[:, :-1] @ last.T + looked_for[:, -1:]
            scores = scores + pairs[start, end][:, None]
        return scores

    def label_scores(self, sentence: Numbers, start: Numbers, end: Numbers) -> Floats:
        scores = np.empty((len(sentence), len(self.network.matrix("span.second.bias"))), dtype=np.float32)
        for number in np.unique(sentence).tolist():
            here = sentence == number
            scores[here] = self._label_scores(number, start[here], end[here])
        return scores

    def relation_scores(self, governors: Numbers) -> Floats:
        network = self.network
        weight = network.matrix("relation.weight")  # (relations, dependent + 1, governor + 1)
        first = self._places - _within(self.lengths) - 1  # the start of each word's sentence
        governor = network.role("relation.governor", self.positions[first + governors])
        dependent = network.role("relation.dependent", self._words)
        left, right = (np.pad(side, ((0, 0), (0, 1)), constant_values=1.0) for side in (dependent, governor))
        # One large product, then a small one for each word.
        wanted = (left @ weight.transpose(1, 0, 2).reshape(left.shape[1], -1)).reshape(len(left), *weight.shape[::2])
        scores: Floats = np.asarray((wanted @ right[:, :, None])[:, :, 0], dtype=np.float32)
        scores[network.barred[np.where(governors == 0, 0, 1)]] = -np.inf
        return scores

    def relations(self, governors: Numbers) -> Numbers:
        return best(self.relation_scores(governors))

    def tag_scores(self) -> Floats:
        return self.network.classes("tag", self._words, 0)

    def upos_scores(self) -> Floats:
        return self.network.classes("tag", self._words, 1)

    def tags(self) -> Numbers:
        return best(self.tag_scores())

    def upos(self) -> Numbers:
        return best(self.upos_scores())

    def levels(self) -> Floats:
        return self.network.classes("head", self._words)

    def order(self) -> Floats | None:
        return self.network.classes("order", self._words)[:, 0] if self.network.ordered else None


def _within(lengths: Sequence[int]) -> Numbers:
    """Return each word's place in its sentence."""
    return np.concatenate([np.arange(n) for n in lengths])
