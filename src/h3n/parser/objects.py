"""Results as objects of JSON: what a parser adds to those of sentences, and the way back.

`h3n.formats.jsonl` has the sentence; here are spans with heads and confidences, helper spans, score, source and note.
An object without them is that of a treebank: its trees are the spans and arcs, and nobody doubts them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from h3n.convert import join
from h3n.errors import BadJson, Place
from h3n.parser.lazy import Arc, LabelledSpan
from h3n.trees import HELPER, TOPS, Constituent, HeadedSpan, JointTree, Sentence, leaves, spans_of, strip_tree, top_of

if TYPE_CHECKING:
    from h3n.parser.results import Result

SURE = 1.0


def added_to(result: Result, *, digits: int | None = None) -> dict[str, Any]:
    """Return what a result's object has beside that of its sentence; confidences and score with so many digits."""

    def shown(number: float) -> float:
        return number if digits is None else round(number, digits)

    table: dict[str, Any] = {}
    if result.spans:
        table["spans"] = [
            {"label": s.label, "start": s.start, "end": s.end, "head": s.head, "confidence": shown(s.confidence)}
            for s in result.spans
        ]
    if result.joint is not None:
        table["helpers"] = [[s.start, s.end, s.head] for s in result.joint.spans if s.label == HELPER]
    if result.arcs:
        table["arc_confidences"] = [shown(arc.confidence) for arc in result.arcs]
    if result.score:
        table["score"] = shown(result.score)
    if result.source:
        table["source"] = result.source
    if result.note is not None:
        table["note"] = result.note
    return table


def parts_of(sentence: Sentence, table: Mapping[str, Any], place: Place) -> dict[str, Any]:
    """Return the fields of the result that an object stands for, given its sentence; damage raises `BadJson`."""
    parts: dict[str, Any] = {
        "sentence": sentence,
        "score": float(_checked(table, "score", _is_number, "a number", place) or 0.0),
        "source": _checked(table, "source", _is_count, "a number from 0", place) or 0,
        "note": _checked(table, "note", lambda value: isinstance(value, str), "a text", place),
    }
    if parts["note"] is not None:
        return parts
    tree = strip_tree(sentence.tree, functions=False) if sentence.tree is not None else None
    if tree is not None:
        parts |= _phrases(sentence, tree, table, place)
    if sentence.dependencies is not None:
        parts["arcs"] = _arcs(sentence, table, place)
    return parts


def _phrases(sentence: Sentence, tree: Constituent, table: Mapping[str, Any], place: Place) -> dict[str, Any]:
    """Return the spans and the joint tree: as they were written, or else as the trees of the sentence have them."""
    if "spans" not in table:
        return _derived(sentence, tree)
    expected = '"spans": [{"label": "NP", "start": 0, "end": 2, "head": 1, "confidence": 0.9}, ...]'
    spans = tuple(
        LabelledSpan(one["start"], one["end"], one["label"], one["head"], float(one["confidence"]))
        for one in _checked(table, "spans", lambda value: _are_all(value, _is_span(len(sentence))), expected, place)
    )
    of_tree = {(s.start, s.end, s.label) for s in spans_of(tree) if s.label not in TOPS}
    if of_tree != {(s.start, s.end, s.label) for s in spans if s.label not in TOPS}:
        raise BadJson(place, "'spans' that are not those of the tree", "the same phrases in both")
    if "helpers" not in table:  # written before they were, or by a decoder that finds one tree alone
        return {"spans": spans, "joint": _derived(sentence, tree).get("joint")}
    helpers = _checked(
        table, "helpers", lambda value: _are_all(value, _is_helper(len(sentence))), '"helpers": [[0, 2, 1], ...]', place
    )
    if sentence.dependencies is None or any(span.head is None for span in spans):
        raise BadJson(place, "'helpers' without heads of words or spans", "helper spans of a joint tree")
    nested = [HeadedSpan(start, end, HELPER, head) for start, end, head in helpers]
    nested += [HeadedSpan(span.start, span.end, span.label, span.head or 0) for span in spans]
    nested.sort(key=lambda span: (span.start, -span.end))
    tags = tuple(leaf.tag for leaf in leaves(tree))
    relations = sentence.dependencies.relations
    return {"spans": spans, "joint": JointTree(sentence.words, tags, tuple(nested), relations, top_of(tree))}


def _derived(sentence: Sentence, tree: Constituent) -> dict[str, Any]:
    """Return spans and joint tree of a treebank's sentence; without dependencies the spans have no heads."""
    if sentence.dependencies is None:
        return {"spans": tuple(LabelledSpan(s.start, s.end, s.label, None, SURE) for s in spans_of(tree))}
    joint = join(tree, sentence.dependencies).tree
    named = (span for span in joint.spans if span.label != HELPER)
    return {"spans": tuple(LabelledSpan(s.start, s.end, s.label, s.head, SURE) for s in named), "joint": joint}


def _arcs(sentence: Sentence, table: Mapping[str, Any], place: Place) -> tuple[Arc, ...]:
    n, tree = len(sentence), sentence.dependencies
    expected = "a number for every word"
    sure = _checked(table, "arc_confidences", lambda value: _are_all(value, _is_number), expected, place)
    if sure is not None and len(sure) != n:
        raise BadJson(place, f"{len(sure)} 'arc_confidences' for {n} words", expected)
    if tree is None:
        return ()
    return tuple(map(Arc, range(n), tree.governors, tree.relations, map(float, sure or [SURE] * n)))


def _checked(table: Mapping[str, Any], key: str, sound: Callable[[Any], bool], expected: str, place: Place) -> Any:
    """Return the value of a key, None where it is missing."""
    value = table.get(key)
    if value is not None and not sound(value):
        raise BadJson(place, f"{key!r} is damaged", expected)
    return value


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_count(value: object) -> bool:
    return type(value) is int and value >= 0


def _are_all(values: object, sound: Callable[[Any], bool]) -> bool:
    return isinstance(values, Sequence) and not isinstance(values, str) and all(map(sound, values))


def _is_span(n: int) -> Callable[[Any], bool]:
    def sound(span: Any) -> bool:
        return (
            isinstance(span, Mapping)
            and isinstance(span.get("label"), str)
            and _is_place(span.get("start"), span.get("end"), n)
            and (span.get("head") is None or _is_within(span["head"], span["start"], span["end"]))
            and _is_number(span.get("confidence"))
        )

    return sound


def _is_helper(n: int) -> Callable[[Any], bool]:
    def sound(helper: Any) -> bool:
        if not _are_all(helper, _is_count) or len(helper) != 3:
            return False
        start, end, head = helper
        return _is_place(start, end, n) and _is_within(head, start, end)

    return sound


def _is_place(start: Any, end: Any, n: int) -> bool:
    return _is_count(start) and _is_count(end) and start < end <= n


def _is_within(head: Any, start: int, end: int) -> bool:
    return _is_count(head) and start <= head < end
