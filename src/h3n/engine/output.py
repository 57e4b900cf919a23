"""What runs a model, and what it gives: one interface for the plain network, the native one and torch's.

A network reads the `Inputs` of some sentences and returns an `Output`, which answers what decoders and names need.
Words stand in a row, those of all sentences one after the other, without padding: W is their number.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from h3n.decode import Scores
from h3n.engine.inputs import Inputs

Floats = NDArray[np.float32]
Numbers = NDArray[np.int64]


def best(scores: Floats) -> Numbers:
    """Return the place of the largest score of each row."""
    return np.asarray(scores.argmax(axis=-1), dtype=np.int64)


class Output(Protocol):
    """What a network says of a batch."""

    @property
    def lengths(self) -> tuple[int, ...]:
        """Return the number of words of each sentence."""

    def scores(self) -> list[Scores]:
        """Return what decoders read, without scores of heads: spans as they are, arcs as log-probabilities."""

    def tags(self) -> Numbers:
        """Return (W,), the best tag of each word."""

    def upos(self) -> Numbers:
        """Return (W,), the best universal tag of each word."""

    def tag_scores(self) -> Floats:
        """Return (W, tags)."""

    def upos_scores(self) -> Floats:
        """Return (W, universal tags)."""

    def relations(self, governors: Numbers) -> Numbers:
        """Return (W,), the best relation of each word to its governor: 0 is the root, k the sentence's word k - 1."""

    def relation_scores(self, governors: Numbers) -> Floats:
        """Return (W, relations), minus infinity where a relation cannot stand."""

    def levels(self) -> Floats:
        """Return (W, LEVELS)."""

    def order(self) -> Floats | None:
        """Return (W,), the head score learned by order, where the network has one."""

    def label_scores(self, sentence: Numbers, start: Numbers, end: Numbers) -> Floats:
        """Return (spans, labels), of all labels but the empty one, for some spans."""


class Network(Protocol):
    """A trained network that is run."""

    @property
    def device(self) -> str:
        """Return where it computes: ``cpu``, or another device of torch."""

    @property
    def precision(self) -> str:
        """Return ``float32`` or ``int8``: what linear layers compute in."""

    @property
    def computes(self) -> str:
        """Return what it computes with, for reports: ``numpy``, ``torch`` or the name of an instruction set."""

    @property
    def ordered(self) -> bool:
        """Return whether it has learned a head score by order."""

    def run(self, sentences: Sequence[Inputs]) -> Output:
        """Return what the network says of sentences, each of which has words."""
