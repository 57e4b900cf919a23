"""Scores of documents of spaCy, for ``nlp.evaluate`` and ``spacy train``: of what the component wrote."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from h3n.integrations.spacy_phrases import nodes_in

PUNCTUATION = ("p", "punct")
# What counts how much where one number is wanted.
WEIGHTS: dict[str, float | None] = {"dep_uas": 0.25, "dep_las": 0.25, "constituents_f": 0.5, "tag_acc": 0.0}
COLUMNS = {"tag": "TAG", "pos": "POS", "lemma": "LEMMA", "morph": "MORPH"}


def score(examples: Sequence[Any], *, tag: bool, dependencies: bool, **options: Any) -> dict[str, Any]:
    """Return the scores; of what the reference does not have, None, as in all of spaCy's."""
    from spacy.scorer import Scorer

    results: dict[str, Any] = {}
    if dependencies:
        results |= Scorer.score_spans(examples, "sents", has_annotation=_has_sentences, **options)
        results.pop("sents_per_type", None)
        results |= Scorer.score_deps(examples, "dep", getter=_relation, ignore_labels=PUNCTUATION, **options)
    for name, column in COLUMNS.items() if tag else ():
        if any(example.predicted.has_annotation(column) for example in examples):
            results |= Scorer.score_token_attr(examples, name, getter=_cell, **options)
    return results | Scorer.score_spans(
        examples, "constituents", getter=_constituents, has_annotation=_has_phrases, allow_overlap=True, **options
    )


def _relation(token: Any, name: str) -> str:
    return str(token.vocab.strings.as_string(getattr(token, name))).lower()


def _cell(token: Any, name: str) -> Any:
    return token.morph.key if name == "morph" else getattr(token, name)


def _has_sentences(doc: Any) -> bool:
    return bool(doc.has_annotation("SENT_START"))


def _has_phrases(doc: Any) -> bool:
    return bool(doc._.h3n)


def _constituents(doc: Any, _: str) -> list[Any]:
    """Return the phrases as spans with labels, a whole unary chain in one."""
    from spacy.tokens import Span

    return [Span(doc, node.start, node.end, label=node.label) for node in nodes_in(doc, 0, len(doc.text)) if node.label]
