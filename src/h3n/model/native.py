"""The layers of a network in native code, for inference on a processor.

Arrays are (rows, width): the words or pieces of all sentences in a row, without padding. No row's result depends on
another sentence. Linear layers are in 8 bits: weights are rounded once, each output with a scale of its own; inputs on
the way, to 8 bits, each row with a scale of its own. All instruction sets give the same numbers to the last bit; which
one is used can be chosen by the environment variable ``H3N_ISA``.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from torch import Tensor, nn

from h3n.errors import UsageError

try:
    from h3n.engine import _layers
except ImportError:  # not built where the compiler cannot do it
    if not TYPE_CHECKING:
        _layers = None

Floats = NDArray[np.float32]
Lengths = NDArray[np.int64]
Columns = tuple[Lengths, Lengths, Lengths]
CHOICE = "H3N_ISA"  # the environment variable that chooses an instruction set
PLAIN = "baseline"  # the instruction set that every processor has


def is_fast() -> bool:
    """Return whether 8 bits are faster than 32 on this machine."""
    return _layers is not None and targets()[target()] != PLAIN


def target() -> int:
    """Return the place of the instruction set to use: the best one, or the one named by `CHOICE`."""
    wanted, known = os.environ.get(CHOICE), targets()
    if not wanted:
        return 0
    if wanted not in known:
        raise UsageError(f"{CHOICE} is {wanted!r}; accepted on this machine: {', '.join(known)}")
    return known.index(wanted)


def targets() -> list[str]:
    """Return the instruction sets the native layers can use here, the best first."""
    return list(_layers.targets()) if _layers is not None else []


def require_native() -> None:
    """Raise `UsageError` where there is no native code."""
    if _layers is None:
        raise UsageError("8-bit layers are not built for this platform; accepted: float32")


class Linear:
    """A linear layer, or several of the same input as one, and what follows it: relu, leaky, gelu or none."""

    def __init__(self, layers: Sequence[nn.Linear], *, activation: str = "none") -> None:
        weight = np.concatenate([array_of(layer.weight) for layer in layers])
        biases = [array_of(layer.bias) for layer in layers if layer.bias is not None]
        self.outputs = len(weight)
        self._target = target()
        self._activation = _layers.ACTIVATIONS.index(activation)
        self.packed = _layers.Linear(weight, np.concatenate(biases) if biases else None)

    def __call__(self, x: Floats, *, out: Floats | None = None) -> Floats:
        results = out if out is not None else np.empty((len(x), self.outputs), dtype=np.float32)
        self.packed.run(x, results, self._activation, self._target)
        return results


class Together:
    """Several linear layers that read the same rows, which are then rounded once for all of them."""

    def __init__(self, layers: Sequence[nn.Linear], *, activations: Sequence[str]) -> None:
        self.outputs = [len(layer.weight) for layer in layers]
        self._target = target()
        self._activations = [_layers.ACTIVATIONS.index(name) for name in activations]
        self._packed = [Linear([layer]).packed for layer in layers]

    def __call__(
        self, x: Floats, places: Lengths, *, rows: Sequence[int], outs: Sequence[Floats | None]
    ) -> list[Floats]:
        """Return what each layer makes of its first so many ``rows`` among those of ``x`` at ``places``.

        Into an array of ``outs`` it is written where the rows lie in ``x``; a new one has the rows one after the other.
        """
        results = [
            np.empty((count, width), dtype=np.float32) if out is None else out
            for out, count, width in zip(outs, rows, self.outputs, strict=True)
        ]
        scattered = [out is not None for out in outs]
        _layers.run_together(self._packed, x, places, list(rows), results, scattered, self._activations, self._target)
        return results


class Bilinear:
    """Scores of pairs of rows: left times a matrix times right, for each of several matrices."""

    def __init__(self, weight: Tensor) -> None:  # (count, left + 1, right): the last row is a bias
        self.count = len(weight)
        self._target = target()
        flat = weight.detach().transpose(1, 2).flatten(0, 1)
        self._pull = _layers.Linear(array_of(flat[:, :-1]), array_of(flat[:, -1]))

    def __call__(self, left: Floats, right: Floats) -> Floats:
        scores = np.empty((len(left), self.count), dtype=np.float32)
        _layers.bilinear(self._pull, left, right, scores, self._target)
        return scores


@dataclass(frozen=True, slots=True)
class Part:
    """The linear layers that one part of a row goes through."""

    roles: tuple[nn.Linear, nn.Linear, nn.Linear]  # query, key, value
    joined: nn.Linear
    inner: nn.Linear
    outer: nn.Linear


class Transformer:
    """A layer of a transformer: attention and two linear layers, each step added to its input and normed.

    A row has one or more parts of equal width, side by side, which meet only in the scores of attention and in the
    norms. Of the norms the first one's epsilon counts. ``by_distance`` is added to the scores of attention: for each
    head a row of 2 reach + 1 values, by how far the query stands behind the key, from -reach to reach.
    """

    def __init__(
        self,
        parts: Sequence[Part],
        norms: tuple[nn.LayerNorm, nn.LayerNorm],
        *,
        heads: int,
        activation: str,
        by_distance: Floats | None = None,
    ) -> None:
        layers = [[Linear(some).packed for some in (p.roles, (p.joined,), (p.inner,), (p.outer,))] for p in parts]
        first, second = norms
        self._target = target()
        self._packed = _layers.Transformer(
            layers,
            array_of(first.weight),
            array_of(first.bias),
            array_of(second.weight),
            array_of(second.bias),
            first.eps,
            heads,
            _layers.ACTIVATIONS.index(activation),
            by_distance,
        )

    def __call__(self, x: Floats, lengths: Lengths) -> None:
        """Change the rows of all sentences, in place."""
        self._packed.run(x, lengths, self._target)


class SpanLayer:
    """Scores of the labels of spans: a linear layer on the normed difference of two fenceposts."""

    def __init__(self, bias: Tensor, norm: nn.LayerNorm, labels: nn.Linear) -> None:
        self.labels = Linear([labels])
        self._target = target()
        self._packed = _layers.SpanScorer(
            array_of(bias), array_of(norm.weight), array_of(norm.bias), norm.eps, self.labels.packed
        )

    def score(self, posts: Floats, pairs: Floats | None, spans: Columns) -> Floats:
        """Return (spans, labels); ``spans`` are their sentences, starts and ends."""
        scores = np.empty((len(spans[0]), self.labels.outputs), dtype=np.float32)
        self._packed.score(posts, pairs, *spans, scores, self._target)
        return scores

    def best(
        self, posts: Floats, pairs: Floats | None, spans: Columns, *, lengths: Lengths, helper: int | None
    ) -> tuple[Floats, Lengths]:
        """Return the best score and the place of its label for every span.

        The label ``helper`` is barred from one word and from a whole sentence.
        """
        scores = np.empty(len(spans[0]), dtype=np.float32)
        places = np.empty(len(spans[0]), dtype=np.int64)
        barred = helper if helper is not None else self.labels.outputs
        self._packed.best(posts, pairs, *spans, lengths, barred, scores, places, self._target)
        return scores, places


def array_of(tensor: Tensor) -> Floats:
    """Return a parameter as a contiguous array of 32-bit numbers."""
    array: Floats = np.ascontiguousarray(tensor.detach().float().numpy())
    return array
