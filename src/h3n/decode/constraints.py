"""Spans and arcs that a parse must have or must not have.

A constraint becomes scores of minus infinity, so every decoder obeys it without knowing. If nothing is left to choose
from, the error names a smallest set of constraints that contradict each other.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
from numbers import Integral

import numpy as np

from h3n.decode.scores import Scores
from h3n.errors import DecodeError, UsageError
from h3n.trees import ROOT

Pair = tuple[int, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Constraints:
    """What the parse of one sentence must be like.

    Spans are (start, end): a required one is in the parse with some label, a forbidden one is not in it with any. Arcs
    are (governor, word), with `h3n.trees.ROOT` as the governor of the root word.
    """

    require_spans: tuple[Pair, ...] = ()
    forbid_spans: tuple[Pair, ...] = ()
    require_arcs: tuple[Pair, ...] = ()
    forbid_arcs: tuple[Pair, ...] = ()

    def __post_init__(self) -> None:
        for field in fields(self):
            given = getattr(self, field.name)
            pairs = given if isinstance(given, list | tuple) else ()
            if pairs is not given or not all(map(_is_pair, pairs)):
                raise UsageError(
                    f"{field.name} is {given!r}; a tuple of pairs of whole numbers is accepted, such as ((2, 7),)"
                )
            object.__setattr__(self, field.name, tuple((int(first), int(second)) for first, second in pairs))

    def has(self, part: str) -> bool:
        """Return whether anything is required or forbidden of ``spans`` or ``arcs``."""
        return any(getattr(self, field.name) for field in fields(self) if field.name.endswith(part))

    def __bool__(self) -> bool:
        return any(getattr(self, field.name) for field in fields(self))


def _is_pair(given: object) -> bool:
    return isinstance(given, list | tuple) and len(given) == 2 and all(isinstance(one, Integral) for one in given)


def constrain(scores: Scores, constraints: Constraints) -> Scores:
    """Return the scores with minus infinity wherever the constraints leave no choice.

    A span whose label is forbidden may still be there without one, to binarize its parent; the empty label is taken to
    score 0, as it does in every model.
    """
    _check(scores, constraints)
    full, open_, arc, root = scores.full, scores.open, scores.arc, scores.root
    if constraints.has("spans") and full is not None and open_ is not None:
        full, open_ = full.copy(), open_.copy()
        for cell in constraints.forbid_spans:
            if np.isfinite(full[cell]) and open_[cell] <= full[cell]:
                open_[cell] = 0.0
            full[cell] = -np.inf
        for start, end in constraints.require_spans:
            # A binary tree with no span across the border of this one has this one.
            for matrix in (full, open_):
                matrix[:start, start + 1 : end] = -np.inf
                matrix[start + 1 : end, end + 1 :] = -np.inf
            open_[start, end] = full[start, end]
    if constraints.has("arcs") and arc is not None and root is not None:
        allowed = np.ones((len(root) + 1, len(root)), dtype=bool)  # the last row, that is row ROOT, is the root
        for governor, word in constraints.require_arcs:
            others = np.arange(len(allowed)) != governor % len(allowed)
            allowed[others, word] = False
        for governor, word in constraints.forbid_arcs:
            allowed[governor, word] = False
        never = np.float32(-np.inf)
        arc, root = np.where(allowed[:-1], arc, never), np.where(allowed[ROOT], root, never)
    return replace(scores, full=full, open=open_, arc=arc, root=root)


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
    pair: Pair

    def __str__(self) -> str:
        first, second = self.pair
        verb = "required" if self.kind.startswith("require") else "forbidden"
        if self.kind.endswith("spans"):
            return f"span ({first}, {second}) {verb}"
        return f"arc {'root' if first == ROOT else first} -> {second} {verb}"


def _list(constraints: Constraints) -> list[_Constraint]:
    return [_Constraint(field.name, pair) for field in fields(constraints) for pair in getattr(constraints, field.name)]


def _gather(chosen: Sequence[_Constraint]) -> Constraints:
    by_kind = {
        field.name: tuple(constraint.pair for constraint in chosen if constraint.kind == field.name)
        for field in fields(Constraints)
    }
    return Constraints(**by_kind)


def _check(scores: Scores, constraints: Constraints) -> None:
    n = len(scores)
    for constraint in _list(constraints):
        first, second = constraint.pair
        if constraint.kind.endswith("spans"):
            if not 0 <= first < second <= n:
                raise DecodeError(f"{constraint}: the sentence has {n} words, 0 <= start < end <= {n} is accepted")
        elif not (0 <= second < n and -1 <= first < n and first != second):
            raise DecodeError(
                f"{constraint}: the sentence has {n} words, 0 to {n - 1} and -1 for the root are accepted, and no word "
                "governs itself"
            )
