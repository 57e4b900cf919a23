"""Soft labels in JSON lines: what a teacher finds likely, as the object ``soft_labels`` of a sentence.

=============  =========================================================================================
``heads``      for every word a list of [governor, share]; governors are counted from 1, 0 is the root
``relations``  for every word a list of [relation, share]: of its relation to the sentence's own head of it
``tags``       for every word a list of [tag, share], and so ``upos``
``spans``      list of [start, end, label, share], words counted from 0, helper spans among them
=============  =========================================================================================

Shares are in thousandths, from 1 to 1000. A key stands where there is something to say.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from h3n.errors import BadJson, Place
from h3n.trees import WHOLE, SoftLabels, Span

SOFT = "soft_labels"
_NAMED = ("relations", "tags", "upos")
_KEYS = ("heads", *_NAMED, "spans")


def read_soft_labels(found: dict[str, Any], place: Place) -> SoftLabels:
    """Return the soft labels of a sentence's object, or raise what is wrong with them."""
    table, n = found[SOFT], len(found["words"])
    if not isinstance(table, dict) or table.keys() - set(_KEYS):
        raise BadJson(place, f"{SOFT!r} is not an object of {', '.join(_KEYS)}", f'"{SOFT}": {{"spans": [...], ...}}')
    if "relations" in table and "heads" not in found:
        raise BadJson(place, f"relations in {SOFT!r} without heads", "the heads that they are relations to")
    heads = _by_word(table, "heads", n, lambda choice: type(choice) is int and 0 <= choice <= n, place)
    named = {key: _by_word(table, key, n, lambda choice: isinstance(choice, str), place) for key in _NAMED}
    governors = tuple(tuple((head - 1, share) for head, share in word) for word in heads)
    return SoftLabels(governors=governors, spans=_spans(table.get("spans", []), n, place), **named)


def _by_word(table: dict[str, Any], key: str, n: int, sound: Callable[[Any], bool], place: Place) -> tuple[Any, ...]:
    """Return the choices of every word, empty where the key is missing."""
    if key not in table:
        return ()
    words = table[key]
    try:
        rows = tuple(tuple((choice, share) for choice, share in word) for word in words)
    except (TypeError, ValueError):
        rows = ()
    if len(rows) != n or not all(sound(choice) and _is_share(share) for row in rows for choice, share in row):
        expected = f'for every word [["choice", 970], ...], shares from 1 to {WHOLE}'
        raise BadJson(place, f"{key!r} of {SOFT!r} is not a list of choices for each of {n} words", expected)
    return rows


def _spans(rows: Any, n: int, place: Place) -> tuple[tuple[Span, int], ...]:
    try:
        spans = tuple((Span(start, end, label), share) for start, end, label, share in rows)
        sound = all(
            type(span.start) is int
            and type(span.end) is int
            and 0 <= span.start < span.end <= n
            and isinstance(span.label, str)
            and _is_share(share)
            for span, share in spans
        )
    except (TypeError, ValueError):
        spans, sound = (), False
    if not sound:
        expected = f'[[0, 2, "NP", 970], ...], shares from 1 to {WHOLE}'
        raise BadJson(place, f"'spans' of {SOFT!r} is not a list of spans within {n} words", expected)
    return spans


def _is_share(share: Any) -> bool:
    return type(share) is int and 1 <= share <= WHOLE


def object_of_soft_labels(labels: SoftLabels) -> dict[str, Any]:
    """Return the object that stands for soft labels."""
    table: dict[str, Any] = {}
    if labels.governors:
        table["heads"] = [[[governor + 1, share] for governor, share in word] for word in labels.governors]
    table |= {key: words for key in _NAMED if (words := getattr(labels, key))}
    if labels.spans:
        table["spans"] = [[span.start, span.end, span.label, share] for span, share in labels.spans]
    return table
