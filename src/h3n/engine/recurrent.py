"""Recurrent layers in numpy, in 32 bits: the twin of `h3n.model.recurrent`, for inference.

Rows are the positions of all sentences one after the other (start, words, stop), without padding.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from h3n.engine.saved import Saved
from h3n.engine.storage import Floats

Weights = Callable[[str], Floats]  # by name, below ``encoder.``


class Recurrent:
    """The recurrent layers of a saved model."""

    def __init__(self, saved: Saved) -> None:
        encoder = saved.config.encoder
        parts = ("encoder.layers.", "encoder.tagger.")
        names = [name for name in saved.weights if name.startswith(parts)]
        self._weights = {name.removeprefix("encoder."): saved.weights[name].floats() for name in names}
        self._layers = encoder.layers.count
        self._tags = saved.vocabulary.tag_widths if encoder.fed else []

    def run(self, content: Floats, lengths: Sequence[int]) -> Floats:
        """Return the vectors in context; ``lengths`` count start and stop."""
        return recurrent(self._weights.__getitem__, content, lengths, layers=self._layers, tags=self._tags)


def recurrent(weights: Weights, content: Floats, lengths: Sequence[int], *, layers: int, tags: Sequence[int]) -> Floats:
    """Return the states of all positions.

    ``content`` are the features of the words, normalised. ``lengths`` count the positions of each sentence. ``tags``
    is `Vocabulary.tag_widths` where the encoder predicts tags after its first layer, and empty where it does not.
    """
    x = content
    fed: list[Floats] = []
    for at in range(layers):
        read = np.concatenate([x, *fed], axis=1)
        sides = [
            _lstm(read, lengths, weights, f"layers.{at}.{side}", back=side == "left") for side in ("right", "left")
        ]
        x = np.stack(sides, axis=2).reshape(len(read), -1)  # from the left at even places, from the right at odd ones
        if tags and not at:
            fed = [_likely(x, tags, weights)]
    return x


def _lstm(x: Floats, lengths: Sequence[int], weights: Weights, name: str, *, back: bool) -> Floats:
    """Return the states of one layer that reads every sentence forward, or back from its end."""
    matrix = weights(f"{name}.weight_hh_l0").T
    bias = weights(f"{name}.bias_ih_l0") + weights(f"{name}.bias_hh_l0")
    given = x @ weights(f"{name}.weight_ih_l0").T + bias
    # The longest first: the sentences that are still read are then always the first ones.
    counts = np.asarray(lengths)
    order = np.argsort(-counts, kind="stable")
    first, counts = (np.cumsum(counts) - counts)[order], counts[order]
    states = np.empty((len(x), len(matrix)), dtype=np.float32)
    state, cell = (np.zeros((len(counts), len(matrix)), dtype=np.float32) for _ in range(2))
    for step in range(int(counts[0])):
        going = int(np.count_nonzero(counts > step))
        rows = first[:going] + (counts[:going] - 1 - step if back else step)
        opened, kept, new, shown = np.split(given[rows] + state[:going] @ matrix, 4, axis=1)
        cell = sigmoid(kept) * cell[:going] + sigmoid(opened) * np.tanh(new)
        state = sigmoid(shown) * np.tanh(cell)
        states[rows] = state
    return states


def sigmoid(x: Floats) -> Floats:
    """Return 1 / (1 + e^-x), by a function that cannot overflow."""
    return np.asarray(np.float32(0.5) * (1 + np.tanh(np.float32(0.5) * x)), dtype=np.float32)


def _likely(x: Floats, tags: Sequence[int], weights: Weights) -> Floats:
    """Return the vector of how likely each tag and each value of a feature is."""
    scores = x @ weights("tagger.classes.weight").T + weights("tagger.classes.bias")
    shares = [_softmax(choice) for choice in np.split(scores, np.cumsum(tags)[:-1], axis=1)]
    vector: Floats = np.concatenate(shares, axis=1) @ weights("tagger.out.weight").T + weights("tagger.out.bias")
    return vector


def _softmax(x: Floats) -> Floats:
    shares = np.exp(x - x.max(axis=1, keepdims=True))
    return np.asarray(shares / shares.sum(axis=1, keepdims=True), dtype=np.float32)
