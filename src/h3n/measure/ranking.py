"""From the network's output to a decoder's input, by the steps that `Model.decode` takes before it gives names."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from h3n.decode import DECODERS, EXACT_UP_TO, Scores, weigh

if TYPE_CHECKING:
    from h3n.model.model import Model


def rank_heads(model: Model, scores: Sequence[Scores], decoder: str) -> Sequence[Scores]:
    """Return the scores with head scores as this model ranks heads for this decoder."""
    from h3n.model.scoring import tree_head_scores

    if "head" in DECODERS[decoder].needs and model.config.decoding.head_score.startswith("tree"):
        return tree_head_scores(scores, beyond=EXACT_UP_TO if decoder == "auto" else 0)
    return scores


def weigh_all(model: Model, scores: Sequence[Scores]) -> list[Scores]:
    """Return the scores with the model's weight of spans against arcs."""
    return [weigh(each, model.config.decoding.weight) for each in scores]
