"""The layers of a learned segmenter: convolutions over characters, each added to what it was made of.

`PlainConvolutions` computes them in numpy. `NativeConvolutions` computes their products in native code in 8 bits, with
the same bits on every instruction set. A character's scores depend on those around it and on nothing else, so they are
the same in a text of any length.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
from numpy.lib.stride_tricks import as_strided

from h3n.engine.storage import Floats

try:
    from h3n.engine import _layers
except ImportError:  # not built where the compiler cannot do it
    if not TYPE_CHECKING:
        _layers = None

KERNEL = 5  # characters that a layer sees at once
SIDE = KERNEL // 2
DILATIONS = (1, 2, 4, 8)  # how far apart they are, layer by layer
STRETCH = 4096  # characters that a plain layer is computed for at a time
RELU = 1  # its place among the activations of native code


class PlainConvolutions:
    """The layers in numpy."""

    def __init__(self, weights: Mapping[str, Floats]) -> None:
        self.layers = [
            (dilation, np.ascontiguousarray(weights[f"layers.{at}.weight"].T), weights[f"layers.{at}.bias"])
            for at, dilation in enumerate(DILATIONS)
        ]
        self.out = np.ascontiguousarray(weights["out.weight"].T), weights["out.bias"]

    def scores(self, x: Floats) -> Floats:
        """Return the scores of every character; beyond the text's ends there are zeros."""
        for dilation, weight, bias in self.layers:
            x = x + _convolved(x, weight, bias, dilation)
        weight, bias = self.out
        scores: Floats = x @ weight + bias
        return scores


def _convolved(x: Floats, weight: Floats, bias: Floats, dilation: int) -> Floats:
    side = dilation * SIDE
    padded = np.zeros((len(x) + 2 * side, x.shape[1]), np.float32)
    padded[side : side + len(x)] = x
    out = np.empty((len(x), weight.shape[1]), np.float32)
    for start in range(0, len(x), STRETCH):
        end = min(start + STRETCH, len(x))
        seen = [padded[start + at * dilation : end + at * dilation] for at in range(KERNEL)]
        np.maximum(np.concatenate(seen, axis=1) @ weight + bias, 0, out=out[start:end])
    return out


class NativeConvolutions:
    """The layers in native code."""

    def __init__(self, weights: Mapping[str, Floats], target: int) -> None:
        self.target = target
        self.layers = [_linear(weights, f"layers.{at}") for at in range(len(DILATIONS))]
        self.out, self.outputs = _linear(weights, "out"), len(weights["out.bias"])

    def scores(self, x: Floats) -> Floats:
        """Return the scores of every character; beyond the text's ends there are zeros."""
        count, size = x.shape
        for dilation, layer in zip(DILATIONS, self.layers, strict=True):
            # Characters that a layer sees together are put side by side: every `dilation`-th one is in the same row of
            # `apart`, with zeros around it. What the layer sees is then a stretch of numbers, and needs no copy.
            rows = -(-count // dilation)
            filled = np.zeros((rows * dilation, size), np.float32)
            filled[:count] = x
            apart = np.zeros((dilation, rows + 2 * SIDE, size), np.float32)
            apart[:, SIDE : SIDE + rows] = filled.reshape(rows, dilation, size).transpose(1, 0, 2)
            windows = dilation * (rows + 2 * SIDE) - 2 * SIDE  # those over two rows are left out below
            made = np.empty((dilation * (rows + 2 * SIDE), size), np.float32)
            step = apart.itemsize
            seen = as_strided(apart, (windows, KERNEL * size), (size * step, step), writeable=False)
            layer.run(seen, made[:windows], RELU, self.target)
            there = made.reshape(dilation, rows + 2 * SIDE, size)[:, :rows].transpose(1, 0, 2)
            x = (filled.reshape(rows, dilation, size) + there).reshape(rows * dilation, size)[:count]
        scores = np.empty((count, self.outputs), np.float32)
        self.out.run(np.ascontiguousarray(x), scores, 0, self.target)
        return scores


def _linear(weights: Mapping[str, Floats], name: str) -> _layers.Linear:
    return _layers.Linear(np.ascontiguousarray(weights[f"{name}.weight"]), weights[f"{name}.bias"])
