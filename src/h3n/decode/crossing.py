"""Crossing arcs: joint decoders find continuous trees, so no arc of theirs crosses another, whatever the scores say.

A joint parse keeps its phrases, and gets the best dependency tree of all in which an arc of the joint tree counts
``agreement`` more than its score. So an arc moves only where the scores are sure enough of another. Moving an arc that
then crosses nothing is allowed as well: on every treebank tried, governors and relations are better with it
(`benchmarks.crossing`, docs/decoding.md).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from h3n.decode import native
from h3n.decode.scores import Parse, Scores
from h3n.trees import ROOT


def let_cross(
    sentences: Sequence[Scores], parses: Sequence[Parse], agreement: float, *, threads: int = 1
) -> list[Parse]:
    """Return joint parses whose arcs have moved, and may cross, where each gains more than ``agreement`` by it."""
    preferring = [_prefer(scores, parse.governors, agreement) for scores, parse in zip(sentences, parses, strict=True)]
    found = native.decode(preferring, ["mst"] * len(preferring), threads=threads)
    return [
        replace(parse, governors=other.governors) if other is not None else parse
        for parse, other in zip(parses, found, strict=True)
    ]


def _prefer(scores: Scores, governors: Sequence[int], agreement: float) -> Scores:
    """Return the scores of arcs alone, those of a tree raised."""
    assert scores.arc is not None
    assert scores.root is not None
    arc, root = np.array(scores.arc), np.array(scores.root)
    above = np.array(governors)
    words = np.flatnonzero(above != ROOT)
    arc[above[words], words] += agreement
    root[above == ROOT] += agreement
    return Scores(arc=arc, root=root)
