"""How words are ranked as heads: `h3n` takes the word of a span that ranks highest for its head.

A ranking scores every word by itself, from its levels or from a score learned by order; two of them also put every
word below its governor in the best projective dependency tree. All are made from one run of the network, when a decoder
asks for them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from h3n.decode import Scores, tree_head_scores
from h3n.engine.output import Floats, Output
from h3n.errors import UnknownName, UsageError


def expected_level(levels: Floats) -> Floats:  # (..., LEVELS) -> (...)
    """Return minus the expected level: words whose likeliest levels are equal still differ."""
    shares = np.exp(levels - levels.max(axis=-1, keepdims=True))
    shares /= shares.sum(axis=-1, keepdims=True)
    return np.asarray(-(shares @ np.arange(levels.shape[-1], dtype=np.float32)), dtype=np.float32)


def likeliest_level(levels: Floats) -> Floats:  # (..., LEVELS) -> (...)
    """Return one over the likeliest level, counted from 1 (paper, section III-E)."""
    return np.asarray(1.0 / (levels.argmax(axis=-1) + 1.0), dtype=np.float32)


@dataclass(frozen=True, slots=True)
class Ranking:
    """A line of `RANKINGS`: what makes a score of a word's levels, or None for the score learned by order.

    With ``tree`` a word is below its governor in the best dependency tree, and that score compares the others.
    """

    of_levels: Callable[[Floats], Floats] | None
    tree: bool = False


RANKINGS: dict[str, Ranking] = {
    "arg-max": Ranking(likeliest_level),
    "soft": Ranking(expected_level),
    "order": Ranking(None),
    "tree": Ranking(expected_level, tree=True),
    "tree-order": Ranking(None, tree=True),
}


def check_ranking(name: str, *, ordered: bool) -> None:
    """Raise if there is no ranking of this name, or if it needs a score by order that the network has not learned."""
    if name not in RANKINGS:
        raise UnknownName("head score", name, RANKINGS)
    if RANKINGS[name].of_levels is None and not ordered:
        accepted = ", ".join(repr(known) for known, one in RANKINGS.items() if one.of_levels is not None)
        raise UsageError(f"head score {name!r}: the model was trained without it; accepted: {accepted}")


def rank(output: Output, arcs: Sequence[Scores], how: str, *, beyond: int = 0) -> list[Floats]:
    """Return the head scores of the words of each sentence.

    ``arcs`` has the scores of every sentence's arcs. Up to ``beyond`` words no tree is looked at, for decoders that
    take no heads from short sentences. The tree takes O(n^3), as `h3n` does.
    """
    order = output.order()
    check_ranking(how, ordered=order is not None)
    ranking = RANKINGS[how]
    scores = ranking.of_levels(output.levels()) if ranking.of_levels is not None else order
    row = np.ascontiguousarray(scores, dtype=np.float32)
    heads = np.split(row, np.cumsum(output.lengths)[:-1])
    if ranking.tree:
        longer = [at for at, one in enumerate(arcs) if len(one) > beyond]
        by_tree = tree_head_scores([replace(arcs[at], head=heads[at]) for at in longer])
        for at, scores_of_words in zip(longer, by_tree, strict=True):
            heads[at] = scores_of_words
    return heads
