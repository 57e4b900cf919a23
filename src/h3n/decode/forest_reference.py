"""The k best trees and the distribution over all trees in plain Python: the slow twins of `h3n.decode.forest`.

Every tree is put together in one way alone, by steps from the top down. A flat phrase grows from its head child
outwards, first all dependents on the right, then those on the left. `steps_of` lists the steps; what they add up to
depends on the semiring: a logarithm of a sum, or a list of the k best. No step means impossible.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from heapq import nlargest
from itertools import product
from typing import Any, TypeAlias, TypeVar

import numpy as np

from h3n.decode.forest import Distribution
from h3n.decode.scores import Parse, Scores, empty_scores
from h3n.errors import DecodeError
from h3n.trees import ROOT

NEVER = float("-inf")
NO_HEAD = -1
Item: TypeAlias = tuple[Any, ...]  # a kind of part, and where it is
TOP: Item = ("top",)
Value = TypeVar("Value")


@dataclass(frozen=True, slots=True)
class Step:
    """One way to begin a part: what it scores, what it leaves to do, and what it adds to the tree."""

    score: float
    tails: tuple[Item, ...] = ()
    span: tuple[int, int, int] | None = None  # start, end and head of a label
    arc: tuple[int, int] | None = None  # governor and word


Steps: TypeAlias = Callable[[Item], list[Step]]


def best_parses(scores: Scores, decoder: str, *, best: int) -> list[Parse]:
    """Return the best trees, the best first; fewer if there are not so many."""
    if len(scores) == 0:
        return [Parse((), (), 0.0)]
    steps = steps_of(scores, decoder)
    Derivation: TypeAlias = tuple[float, tuple[Step, ...]]

    def merge(step: Step, tails: Sequence[list[Derivation]]) -> list[Derivation]:
        made = (
            (step.score + sum(score for score, _ in chosen), (step, *(one for _, part in chosen for one in part)))
            for chosen in product(*tails)
        )
        return nlargest(best, made, key=lambda derivation: derivation[0])

    def choose(options: list[list[Derivation]]) -> list[Derivation]:
        return nlargest(best, (one for some in options for one in some), key=lambda derivation: derivation[0])

    values = inside(steps, merge, choose)
    parses = [_parse(scores, decoder, score, taken) for score, taken in values[TOP]]
    if not parses:
        raise DecodeError("no tree has a finite score")
    return parses


def distribution(scores: Scores, decoder: str) -> Distribution:
    """Return the distribution over all trees."""
    if decoder == "mst":
        return matrix_tree(scores)
    n = len(scores)
    has_spans, has_arcs = decoder != "eisner", decoder != "cky"
    spans, arcs = np.zeros((n + 1, n + 1), dtype=np.float64), np.zeros((n + 1, n), dtype=np.float64)
    heads: dict[tuple[int, int, int], float] = {}
    total = entropy = 0.0
    if n > 0:
        steps = steps_of(scores, decoder)
        values = inside(steps, lambda step, tails: step.score + sum(tails), log_sum)
        total = values[TOP]
        if total == NEVER:
            raise DecodeError("no tree has a finite score")
        shares = dict.fromkeys(values, 0.0)
        shares[TOP] = 1.0
        for item in reversed(values):  # parts come before what they are part of
            for step in steps(item):
                below = sum(values[tail] for tail in step.tails)
                among = math.exp(step.score + below - values[item]) if below > NEVER < values[item] else 0.0
                share = shares[item] * among
                if share == 0.0:
                    continue
                entropy -= share * math.log(among)
                for tail in step.tails:
                    shares[tail] += share
                if step.span is not None:
                    spans[step.span[:2]] += share
                    heads[step.span] = heads.get(step.span, 0.0) + share
                if step.arc is not None:
                    arcs[step.arc] += share  # ROOT is the last row
    cells = np.array(list(heads), dtype=np.int32).reshape(-1, 3)
    table = (cells, np.array(list(heads.values()), dtype=np.float32))
    found = arcs.astype(np.float32)
    return Distribution(
        total,
        entropy,
        spans.astype(np.float32) if has_spans else None,
        found[:-1] if has_arcs else None,
        found[-1] if has_arcs else None,
        table if has_spans and has_arcs else None,
    )


def log_sum(values: list[float]) -> float:
    """Return the logarithm of the sum of e to the power of the values."""
    most = max(values, default=NEVER)
    return most if most == NEVER else most + math.log(sum(math.exp(value - most) for value in values))


def inside(
    steps: Steps, times: Callable[[Step, list[Value]], Value], plus: Callable[[list[Value]], Value]
) -> dict[Item, Value]:
    """Return the value of every part that some tree may have, each after its own parts."""
    values: dict[Item, Value] = {}
    stack = [TOP]
    while stack:
        item = stack[-1]
        missing = [tail for step in steps(item) for tail in step.tails if tail not in values]
        if missing:
            stack += missing
            continue
        stack.pop()
        if item not in values:
            values[item] = plus([times(step, [values[tail] for tail in step.tails]) for step in steps(item)])
    return values


def steps_of(scores: Scores, decoder: str) -> Steps:
    """Return the function that lists the steps of a part."""
    listed = _arc_steps(scores) if decoder == "eisner" else _span_steps(scores, decoder)
    known: dict[Item, list[Step]] = {}

    def steps(item: Item) -> list[Step]:
        if item not in known:
            known[item] = [step for step in listed(item) if step.score > NEVER]
        return known[item]

    return steps


def _span_steps(scores: Scores, decoder: str) -> Callable[[Item], Iterator[Step]]:
    """List the steps of `cky`, `hpsg` and `h3n`. A part is a kind, a start, an end and a head.

    "labelled" has a label, "any" has one or none; "open" without one has no dependents on the left of its head;
    "governed" is a labelled span whose governor is outside. In a tree without heads everything hangs on the right.
    """
    n = len(scores)
    arcs_too = decoder != "cky"
    full, empty = np.asarray(scores.full).tolist(), empty_scores(scores).tolist()
    arc = np.asarray(scores.arc).tolist() if arcs_too else []
    root = np.asarray(scores.root).tolist() if arcs_too else []
    rank = np.asarray(scores.head).tolist() if decoder == "h3n" else []

    def heads(i: int, j: int) -> list[int]:
        if not arcs_too:
            return [n]
        return [max(range(i, j), key=lambda word: (rank[word], word))] if rank else list(range(i, j))

    def steps(item: Item) -> Iterator[Step]:
        if item == TOP:
            for m in heads(0, n):
                yield Step(root[m] if arcs_too else 0.0, (("labelled", 0, n, m),), arc=(ROOT, m) if arcs_too else None)
            return
        kind, i, j, h = item
        if kind == "governed":
            below = "any" if j - i == 1 else "labelled"
            for m in heads(i, j):
                yield Step(arc[h][m] if arcs_too else 0.0, ((below, i, j, m),), arc=(h, m) if arcs_too else None)
            return
        for labelled in (True, False) if kind != "labelled" else (True,):
            score = full[i][j] if labelled else empty[i][j]
            span = (i, j, h if arcs_too else NO_HEAD) if labelled else None
            if j - i == 1:
                yield Step(score, span=span)
            for k in range(i + 1, j):
                if h < k:
                    yield Step(score, (("any" if k - i == 1 else "open", i, k, h), ("governed", k, j, h)), span=span)
                elif labelled or kind == "any":
                    yield Step(score, (("governed", i, k, h), ("any", k, j, h)), span=span)

    def fits(item: Item) -> Iterator[Step]:
        """Leave out head sides that cannot have this head."""
        for step in steps(item):
            if all(tail[0] == "governed" or tail[3] in heads(*tail[1:3]) for tail in step.tails):
                yield step

    return fits


def _arc_steps(scores: Scores) -> Callable[[Item], Iterator[Step]]:
    """List the steps of `eisner`, as in `h3n.decode.reference.eisner`: words i .. j, both included."""
    n = len(scores)
    arc, root = np.asarray(scores.arc).tolist(), np.asarray(scores.root).tolist()

    def steps(item: Item) -> Iterator[Step]:
        if item == TOP:
            for r in range(n):
                yield Step(root[r], (("leftward", 0, r), ("rightward", r, n - 1)), arc=(ROOT, r))
            return
        kind, i, j = item
        if i == j:
            yield Step(0.0)
        elif kind == "base":
            for k in range(i, j):
                yield Step(0.0, (("rightward", i, k), ("leftward", k + 1, j)))
        elif kind == "rightward":
            for k in range(i + 1, j + 1):
                yield Step(arc[i][k], (("base", i, k), ("rightward", k, j)), arc=(i, k))
        else:
            for k in range(i, j):
                yield Step(arc[j][k], (("leftward", i, k), ("base", k, j)), arc=(j, k))

    return steps


def _parse(scores: Scores, decoder: str, score: float, taken: Sequence[Step]) -> Parse:
    label = scores.label if decoder != "eisner" else None
    cells = sorted((step.span for step in taken if step.span is not None), key=lambda span: (span[0], -span[1]))
    governors = [ROOT] * (0 if decoder == "cky" else len(scores))
    for step in taken:
        if step.arc is not None:
            governors[step.arc[1]] = step.arc[0]
    spans = tuple((i, j, -1 if label is None else int(label[i, j]), head) for i, j, head in cells)
    return Parse(spans, tuple(governors), score)


def matrix_tree(scores: Scores) -> Distribution:
    """Return the distribution over trees with one root word, crossing arcs allowed.

    The sum over all trees is a determinant, the shares of arcs are in the inverse (matrix-tree theorem; Koo, Globerson,
    Carreras and Collins 2007). Each word's arcs are counted from its best one.
    """
    n = len(scores)
    if n == 0:
        nothing = np.zeros((1, 0), dtype=np.float32)
        return Distribution(0.0, 0.0, None, nothing[:-1], nothing[-1], None)
    given = np.vstack([np.asarray(scores.arc), np.asarray(scores.root)]).astype(np.float64)
    given[np.arange(n), np.arange(n)] = NEVER
    most = given.max(axis=0)
    if not np.isfinite(most).all():
        raise DecodeError("no tree has a finite score")
    weights = np.exp(given - most)
    matrix = np.diag(weights[:-1].sum(axis=0)) - weights[:-1]
    matrix[0] = weights[-1]
    sign, logarithm = np.linalg.slogdet(matrix)
    if sign <= 0:
        raise DecodeError("no tree has a finite score")
    inverse = np.linalg.inv(matrix).T  # [column, row] of the matrix's entries
    change = np.diag(inverse)[None, :] * (np.arange(n) > 0) - np.where(np.arange(n)[:, None] > 0, inverse, 0.0)
    arcs = np.vstack([weights[:-1] * change, weights[-1] * inverse[0]])
    total = float(logarithm + most.sum())
    expected = float((arcs * np.where(arcs > 0, given - most, 0.0)).sum())
    found = np.clip(arcs, 0.0, 1.0).astype(np.float32)
    return Distribution(total, max(0.0, float(logarithm) - expected), None, found[:-1], found[-1], None)
