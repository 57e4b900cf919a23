"""Spans and arcs that a parse must have, must not have, or should rather have.

A constraint becomes scores of minus infinity, so every decoder obeys it without knowing; a preference is added to a
score. If nothing is left to choose from, the error names a smallest set of constraints that contradict each other.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
from numbers import Integral, Real
from typing import Any

import numpy as np

from h3n.decode.scores import Floats, Scores, empty_scores
from h3n.errors import DecodeError, UnknownName, UsageError
from h3n.trees import ROOT

Pair = tuple[int, int]
Label = int | str  # the index in the model's list of labels, or a name of it that `Constraints.numbered` looks up
Place = tuple[int, int] | tuple[int, int, Label]
Preference = tuple[int, int, float] | tuple[int, int, Label, float]
_FORMS = {  # what the entries of each field are, as an error shows it
    "require_spans": "(start, end) or (start, end, label), such as ((2, 7), (3, 5, 'NP'))",
    "forbid_spans": "(start, end) or (start, end, label), such as ((2, 7), (3, 5, 'NP'))",
    "require_arcs": "pairs of whole numbers, such as ((2, 7),)",
    "forbid_arcs": "pairs of whole numbers, such as ((2, 7),)",
    "prefer_spans": "(start, end, bonus) or (start, end, label, bonus), such as ((2, 7, 1.5), (3, 5, 'NP', -2.0))",
    "prefer_arcs": "(governor, word, bonus), such as ((2, 7, 1.5),)",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Constraints:
    """What the parse of one sentence must be like, or should rather be like.

    Spans are (start, end): a required one is in the parse with some label, a forbidden one is not in it with any. As
    (start, end, label) a span is required with this label, or forbidden with this one only. Arcs are (governor, word),
    with `h3n.trees.ROOT` as the governor of the root word. Preferred spans and arcs have a bonus as their last part,
    which is added to the score of every tree that has them; below 0 they are rather avoided.
    """

    require_spans: tuple[Place, ...] = ()
    forbid_spans: tuple[Place, ...] = ()
    require_arcs: tuple[Pair, ...] = ()
    forbid_arcs: tuple[Pair, ...] = ()
    prefer_spans: tuple[Preference, ...] = ()
    prefer_arcs: tuple[tuple[int, int, float], ...] = ()

    def __post_init__(self) -> None:
        for field in fields(self):
            given = getattr(self, field.name)
            rows = given if isinstance(given, list | tuple) else ()
            read = [_read(row, field.name) for row in rows]
            if rows is not given or None in read:
                raise UsageError(f"{field.name} is {given!r}; a tuple of {_FORMS[field.name]} is accepted")
            object.__setattr__(self, field.name, tuple(read))

    def has(self, part: str) -> bool:
        """Return whether anything is required or forbidden of ``spans`` or ``arcs``."""
        return any(getattr(self, field.name) for field in fields(self) if field.name.endswith(part))

    def __bool__(self) -> bool:
        return any(getattr(self, field.name) for field in fields(self))

    def numbered(self, labels: Sequence[str]) -> Constraints:
        """Return the same with the numbers of labels in this list in place of their names."""

        def number(row: tuple[Any, ...]) -> tuple[Any, ...]:
            if len(row) > 2 and isinstance(row[2], str):
                if row[2] not in labels:
                    raise UnknownName("label", row[2], [name for name in labels if name])
                row = (*row[:2], labels.index(row[2]), *row[3:])
            return row

        spans = {
            name: tuple(map(number, getattr(self, name))) for name in ("require_spans", "forbid_spans", "prefer_spans")
        }
        return replace(self, **spans)


def _read(given: object, kind: str) -> tuple[Any, ...] | None:
    """Return an entry as it is stored, or None if it is none of this kind."""
    if not isinstance(given, list | tuple):
        return None
    row = list(given)
    bonus = []
    if kind.startswith("prefer"):
        if not row or isinstance(row[-1], bool) or not isinstance(row[-1], Real) or not math.isfinite(row[-1]):
            return None
        bonus = [float(row.pop())]
    labelled = len(row) == 3 and kind.endswith("spans") and isinstance(row[2], Integral | str)
    if not (len(row) == 2 or labelled) or not all(isinstance(one, Integral) for one in row[:2]):
        return None
    label = [row[2] if isinstance(row[2], str) else int(row[2])] if labelled else []
    return (int(row[0]), int(row[1]), *label, *bonus)


def constrain(scores: Scores, constraints: Constraints) -> Scores:
    """Return the scores with minus infinity wherever the constraints leave no choice.

    A span whose label is forbidden may still be there without one, to binarize its parent; the empty label is taken to
    score 0, as it does in every model.
    """
    _check(scores, constraints)
    if constraints.has("spans"):
        scores = _constrain_spans(scores, constraints)
    arc, root = scores.arc, scores.root
    if (constraints.require_arcs or constraints.forbid_arcs) and arc is not None and root is not None:
        allowed = np.ones((len(root) + 1, len(root)), dtype=bool)  # the last row, that is row ROOT, is the root
        for governor, word in constraints.require_arcs:
            others = np.arange(len(allowed)) != governor % len(allowed)
            allowed[others, word] = False
        for governor, word in constraints.forbid_arcs:
            allowed[governor, word] = False
        never = np.float32(-np.inf)
        arc, root = np.where(allowed[:-1], arc, never), np.where(allowed[ROOT], root, never)
    if constraints.prefer_arcs and arc is not None and root is not None:
        arc, root = arc.copy(), root.copy()
        for governor, word, bonus in constraints.prefer_arcs:
            if governor == ROOT:
                root[word] += np.float32(bonus)
            else:
                arc[governor, word] += np.float32(bonus)
    return replace(scores, arc=arc, root=root)


def _constrain_spans(scores: Scores, constraints: Constraints) -> Scores:
    """Return the scores with what spans are preferred, forbidden and required; labels are numbers by now."""
    if scores.full is None or scores.open is None:
        return scores
    full, open_, empty = scores.full.copy(), scores.open.copy(), empty_scores(scores).copy()
    label = None if scores.label is None else scores.label.copy()
    labels: dict[Pair, Floats] = {}  # of the spans with constraints on labels: what each label is worth

    def each_label(cell: Pair) -> Floats:
        if cell not in labels:
            if scores.labels is None:
                raise DecodeError(
                    f"a constraint on the label of span {cell} needs the scores of all labels: `Scores.labels`"
                )
            labels[cell] = scores.labels[cell].copy()
            labels[cell][0] = -np.inf
        return labels[cell]

    def choose(cell: Pair) -> None:
        """Take the best label of a span anew, and none if that is better."""
        if cell in labels:
            best = int(labels[cell].argmax())
            full[cell] = labels[cell][best]
            if label is not None:
                label[cell] = best
        open_[cell] = max(full[cell], empty[cell])

    preferred: tuple[tuple[Any, ...], ...] = constraints.prefer_spans
    forbidden: tuple[tuple[Any, ...], ...] = constraints.forbid_spans
    required: tuple[tuple[Any, ...], ...] = constraints.require_spans
    for start, end, *which, bonus in preferred:
        cell = (start, end)
        if which:
            each_label(cell)[which[0]] += np.float32(bonus)
        elif scores.labels is not None:
            labels[cell] = each_label(cell) + np.float32(bonus)
        else:
            full[cell] += np.float32(bonus)
        choose(cell)
    for start, end, *which in forbidden:
        cell = (start, end)
        if np.isfinite(full[cell]) and open_[cell] <= full[cell] and scores.empty is None:
            empty[cell] = 0.0  # what it is worth did not show
        if which:
            each_label(cell)[which[0]] = -np.inf
        else:
            full[cell] = -np.inf
            if cell in labels:
                labels[cell][:] = -np.inf
        choose(cell)
    for start, end, *which in required:
        cell = (start, end)
        if which:
            others = np.arange(len(each_label(cell))) != which[0]
            each_label(cell)[others] = -np.inf
            choose(cell)
        # A binary tree with no span across the border of this one has this one.
        for matrix in (full, open_, empty):
            matrix[:start, start + 1 : end] = -np.inf
            matrix[start + 1 : end, end + 1 :] = -np.inf
        open_[cell] = full[cell]
        empty[cell] = -np.inf
    return replace(scores, full=full, open=open_, empty=empty, label=label)


def explain(scores: Scores, constraints: Constraints, possible: Callable[[Scores], bool]) -> str:
    """Return why no tree obeys the constraints: a set of them that cannot be met together, none of which is to spare.

    ``possible`` says whether a decoder finds a tree. For c such constraints among m it is asked about c log m times.
    """

    def fails(chosen: Sequence[_Constraint]) -> bool:
        return not possible(constrain(scores, _gather(chosen)))

    rest, conflict = _list(constraints), list[_Constraint]()
    while not fails(conflict):
        # The shortest beginning of the rest that cannot be met along with what we have: its last one belongs to it.
        length = 1 + bisect_left(range(1, len(rest) + 1), True, key=lambda count: fails(conflict + rest[:count]))
        conflict.append(rest[length - 1])
        rest = rest[: length - 1]
    if not conflict:
        return "no tree has a finite score, with or without constraints"
    names = "; ".join(str(constraint) for constraint in reversed(conflict))
    return f"this cannot be met: {names}" if len(conflict) == 1 else f"these contradict each other: {names}"


@dataclass(frozen=True, slots=True)
class _Constraint:
    """One constraint; ``kind`` is the field it stands in."""

    kind: str
    place: tuple[Any, ...]

    def __str__(self) -> str:
        first, second, *rest = self.place
        verb = {"require": "required", "forbid": "forbidden", "prefer": "preferred"}[self.kind.split("_")[0]]
        if self.kind.endswith("spans"):
            label = f" as {rest[0]}" if len(rest) == (2 if verb == "preferred" else 1) else ""
            return f"span ({first}, {second}) {verb}{label}"
        return f"arc {'root' if first == ROOT else first} -> {second} {verb}"


def _list(constraints: Constraints) -> list[_Constraint]:
    """Return the constraints, preferences last: nothing contradicts those."""
    return [
        _Constraint(field.name, place) for field in fields(constraints) for place in getattr(constraints, field.name)
    ]


def _gather(chosen: Sequence[_Constraint]) -> Constraints:
    by_kind = {
        field.name: tuple(constraint.place for constraint in chosen if constraint.kind == field.name)
        for field in fields(Constraints)
    }
    return Constraints(**by_kind)


def _check(scores: Scores, constraints: Constraints) -> None:
    n = len(scores)
    for constraint in _list(constraints):
        first, second, *rest = constraint.place
        if constraint.kind.endswith("spans"):
            if not 0 <= first < second <= n:
                raise DecodeError(f"{constraint}: the sentence has {n} words, 0 <= start < end <= {n} is accepted")
            if len(rest) == 1 + constraint.kind.startswith("prefer"):
                _check_label(scores, constraint, rest[0])
        elif not (0 <= second < n and -1 <= first < n and first != second):
            raise DecodeError(
                f"{constraint}: the sentence has {n} words, 0 to {n - 1} and -1 for the root are accepted, and no word "
                "governs itself"
            )


def _check_label(scores: Scores, constraint: _Constraint, label: Label) -> None:
    if isinstance(label, str):
        raise DecodeError(f"{constraint}: scores know labels by number; `Constraints.numbered` looks names up")
    if scores.labels is not None and not 0 < label < scores.labels.shape[2]:
        raise DecodeError(f"{constraint}: there are labels 1 to {scores.labels.shape[2] - 1}")
