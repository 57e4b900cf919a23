"""Soft labels for results: what the model finds likely, as far as a sentence does not say for itself what is right."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from h3n.engine.engine import Engine, Scored
from h3n.engine.naming import Named
from h3n.errors import missing_extra
from h3n.trees import Sentence, SoftLabels


def with_soft_labels(engine: Engine, scored: Scored, named: Sequence[Named], *, keep_arcs: bool) -> list[Named]:
    """Return what was found with soft labels in its sentences."""
    try:
        from h3n.model.soft_labels import soft_labels_of
    except ModuleNotFoundError as error:
        raise missing_extra(error) from None
    found = soft_labels_of(
        scored.output,
        scored.scores,
        [one.parse.governors for one in named],
        vocabulary=engine.vocabulary,
        temperature=engine.config.decoding.arc_temperature,
    )
    return [
        replace(one, sentence=replace(one.sentence, soft_labels=_not_given(labels, given, keep_arcs=keep_arcs)))
        for one, labels, given in zip(named, found, scored.sentences, strict=True)
    ]


def _not_given(labels: SoftLabels, given: Sentence, *, keep_arcs: bool) -> SoftLabels:
    """Return the labels without those of tags that were given, and of arcs that were kept."""
    if given.tags is not None:
        labels = replace(labels, tags=())
    if given.upos is not None:
        labels = replace(labels, upos=())
    if keep_arcs and given.dependencies is not None:
        labels = replace(labels, governors=(), relations=())
    return labels
