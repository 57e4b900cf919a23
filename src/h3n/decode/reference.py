"""Every decoder in plain Python, to be read beside the paper: the slow twins of the native ones.

Both twins find a tree of the same score; where several trees have it they may return different ones. Charts are
dictionaries keyed by span, and no entry means impossible. `Scores` are checked by the caller.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from h3n.decode.arborescence import arborescence
from h3n.decode.scores import Parse, Scores
from h3n.errors import DecodeError
from h3n.trees import ROOT

NEVER = float("-inf")
NO_HEAD = -1
Rows: TypeAlias = list[Any]  # nested lists of numbers
# A split of a span: where, and the heads of both sides (NO_HEAD if the decoder finds no arcs).
Split: TypeAlias = tuple[int, int, int]


def cky(scores: Scores) -> Parse:
    """Return the best constituency tree in O(n^3) time (paper, section II and section III-D)."""
    full, open_ = _rows(scores.full), _rows(scores.open)
    n = len(full) - 1
    if n == 0:
        return Parse((), (), 0.0)
    best: dict[tuple[int, int], float] = {}
    split: dict[tuple[int, int], int] = {}
    for i, j in _spans_bottom_up(n):
        inner = 0.0
        if j - i > 1:
            inner, split[i, j] = _first_best((best[i, k] + best[k, j], k) for k in range(i + 1, j))
        best[i, j] = inner + (full if j - i == n else open_)[i][j]
    _require_finite(best[0, n])
    return _unfold(scores, NO_HEAD, lambda i, j, _: (split[i, j], NO_HEAD, NO_HEAD))


def h3n(scores: Scores) -> Parse:
    """Return the best joint tree in O(n^3) time (paper, Algorithm 1, by the properties of section III-E).

    The head of a span is its word with the highest head score, the last such word on a tie. It depends on the span
    alone, so no split has to search for its pair of heads.
    """
    full, open_, arc = _rows(scores.full), _rows(scores.open), _rows(scores.arc)
    root, rank = _rows(scores.root), _rows(scores.head)
    n = len(full) - 1
    if n == 0:
        return Parse((), (), 0.0)
    head: dict[tuple[int, int], int] = {}
    incomplete: dict[tuple[int, int], float] = {}  # the label may be empty: what a head side may be
    complete: dict[tuple[int, int], float] = {}  # it may not, unless the span is one word: what a dependent must be
    split: dict[tuple[int, int], int] = {}

    def split_score(i: int, k: int, j: int) -> float:
        left, right = head[i, k], head[k, j]
        if left == head[i, j]:
            return incomplete[i, k] + complete[k, j] + float(arc[left][right])
        return complete[i, k] + incomplete[k, j] + float(arc[right][left])

    for i, j in _spans_bottom_up(n):
        head[i, j] = max(range(i, j), key=lambda word: (rank[word], word))
        if j - i == 1:
            incomplete[i, j] = complete[i, j] = open_[i][j]
            continue
        inner, split[i, j] = _first_best((split_score(i, k, j), k) for k in range(i + 1, j))
        incomplete[i, j] = inner + open_[i][j]
        complete[i, j] = inner + full[i][j]
    _require_finite((complete[0, n] if n > 1 else full[0][1]) + root[head[0, n]])

    def divide(i: int, j: int, _: int) -> Split:
        k = split[i, j]
        return k, head[i, k], head[k, j]

    return _unfold(scores, head[0, n], divide)


def hpsg(scores: Scores) -> Parse:
    """Return the best joint tree of all, in O(n^4) time (paper, equation 3, there in O(n^5)).

    ``seen[i, j][h]`` is the best score of span (i, j) as seen from head h. For h inside: the best subtree that h heads.
    For h outside: the best subtree that h may govern, with the arc. Then the best subtree of (i, j) headed by h is the
    best split of ``seen[i, k][h] + seen[k, j][h]``, whichever side h is on. The published decoder looks at all pairs of
    heads for every split instead and takes O(n^5) for the same tree.
    """
    full, open_, arc, root = _rows(scores.full), _rows(scores.open), _rows(scores.arc), _rows(scores.root)
    n = len(full) - 1
    if n == 0:
        return Parse((), (), 0.0)
    seen: dict[tuple[int, int], list[float]] = {}
    split: dict[tuple[int, int, int], int] = {}  # per span and head inside it
    dependent: dict[tuple[int, int, int], int] = {}  # per span and governor outside it: the head of the span
    inner: dict[int, float] = {}
    for i, j in _spans_bottom_up(n):
        inner = {}
        for h in range(i, j):
            inner[h] = 0.0
            if j - i > 1:
                inner[h], split[i, j, h] = _first_best((seen[i, k][h] + seen[k, j][h], k) for k in range(i + 1, j))
        label = open_[i][j] if j - i == 1 else full[i][j]
        seen[i, j] = [0.0] * n
        for h in range(n):
            if i <= h < j:
                seen[i, j][h] = inner[h] + open_[i][j]
            else:
                best, dependent[i, j, h] = _first_best((inner[m] + arc[h][m], m) for m in range(i, j))
                seen[i, j][h] = best + label
    top, top_head = _first_best((inner[h] + full[0][n] + root[h], h) for h in range(n))
    _require_finite(top)

    def divide(i: int, j: int, h: int) -> Split:
        k = split[i, j, h]
        return (k, h, dependent[k, j, h]) if h < k else (k, dependent[i, k, h], h)

    return _unfold(scores, top_head, divide)


def eisner(scores: Scores) -> Parse:
    """Return the best projective dependency tree with one root word, in O(n^3) time (Eisner 1996).

    Words i .. j, both included. ``base``: i and j not yet joined by an arc; ``rightward``: all descend from i;
    ``leftward``: all descend from j. Each comes with the arcs inside it.
    """
    arc, root = _rows(scores.arc), _rows(scores.root)
    n = len(root)
    if n == 0:
        return Parse((), (), 0.0)
    Item: TypeAlias = tuple[str, int, int]
    best: dict[Item, float] = {}
    split: dict[Item, int] = {}

    def keep(item: Item, options: Iterable[tuple[float, int]]) -> None:
        best[item], split[item] = _first_best(options)

    for i in range(n):
        best["rightward", i, i] = best["leftward", i, i] = 0.0
    for width in range(1, n):
        for i in range(n - width):
            j = i + width
            keep(("base", i, j), ((best["rightward", i, k] + best["leftward", k + 1, j], k) for k in range(i, j)))
            keep(
                ("rightward", i, j),
                ((best["base", i, k] + arc[i][k] + best["rightward", k, j], k) for k in range(i + 1, j + 1)),
            )
            keep(
                ("leftward", i, j),
                ((best["leftward", i, k] + best["base", k, j] + arc[j][k], k) for k in range(i, j)),
            )
    top, top_word = _first_best((best["leftward", 0, r] + best["rightward", r, n - 1] + root[r], r) for r in range(n))
    _require_finite(top)

    governors = [ROOT] * n
    stack: list[Item] = [("leftward", 0, top_word), ("rightward", top_word, n - 1)]
    while stack:
        kind, i, j = item = stack.pop()
        if i == j:
            continue
        k = split[item]
        if kind == "base":
            stack += [("rightward", i, k), ("leftward", k + 1, j)]
        elif kind == "rightward":
            governors[k] = i
            stack += [("base", i, k), ("rightward", k, j)]
        else:
            governors[k] = j
            stack += [("leftward", i, k), ("base", k, j)]
    return _dependency_parse(scores, governors)


def mst(scores: Scores) -> Parse:
    """Return the best dependency tree with one root word, crossing arcs allowed (Chu-Liu/Edmonds; paper, section II).

    Tries each root word in turn, O(n^4) altogether; the native twin needs O(n^2).
    """
    arc, root = _rows(scores.arc), _rows(scores.root)
    n = len(root)
    if n == 0:
        return Parse((), (), 0.0)
    best: list[int] = []
    best_score = NEVER
    for top in range(n):
        governors = arborescence(arc, top)
        if governors is None:
            continue
        score = root[top] + sum(arc[h][m] for m, h in enumerate(governors) if h != ROOT)
        if score > best_score:
            best, best_score = governors, score
    _require_finite(best_score)
    return _dependency_parse(scores, best)


def tree_head_scores(scores: Scores) -> NDArray[np.float32]:
    """Return head scores: a word is below its governor in the best projective tree, other words as in ``scores.head``.

    Again and again the best word whose governor has a place gets the next place, the earlier one of equals.
    """
    heads = np.asarray(scores.head).tolist()
    governors = eisner(scores).governors
    places = [0.0] * len(governors)
    ready = {word for word, governor in enumerate(governors) if governor == ROOT}
    for place in range(len(governors), 0, -1):
        word = max(ready, key=lambda one: (heads[one], -one))
        places[word] = place
        ready.remove(word)
        ready.update(dependent for dependent, governor in enumerate(governors) if governor == word)
    return np.array(places, dtype=np.float32)


def _rows(array: Any) -> Rows:
    """Return an array as nested lists: plain Python numbers are faster one by one, and exact."""
    rows: Rows = array.tolist()
    return rows


def _spans_bottom_up(n: int) -> Iterator[tuple[int, int]]:
    for length in range(1, n + 1):
        for start in range(n - length + 1):
            yield start, start + length


def _first_best(options: Iterable[tuple[float, int]]) -> tuple[float, int]:
    return max(options, key=lambda option: option[0])


def _require_finite(score: float) -> None:
    if score == NEVER:
        raise DecodeError("no tree has a finite score")


def _unfold(scores: Scores, root: int, divide: Callable[[int, int, int], Split]) -> Parse:
    """Return the best tree from the top down; ``divide(start, end, head)`` says how a span of it is split.

    The dependent side of a split, whose head is not that of the span, carries a label unless it is one word, and so
    does the whole sentence. Elsewhere the better of label and no label decides, and a tie goes to the label.
    """
    full, open_ = _rows(scores.full), _rows(scores.open)
    label = None if scores.label is None else _rows(scores.label)
    governors = [] if root == NO_HEAD else [ROOT] * (len(full) - 1)
    spans = []
    total = 0.0
    stack = [(0, len(full) - 1, root, True)]
    while stack:
        i, j, head, must = stack.pop()
        if must or full[i][j] >= open_[i][j]:
            spans.append((i, j, -1 if label is None else label[i][j], head))
            total += full[i][j]
        else:
            total += open_[i][j]
        if j - i > 1:
            k, left, right = divide(i, j, head)
            if governors:
                governors[right if left == head else left] = head
            stack += [(k, j, right, right != head and j - k > 1), (i, k, left, left != head and k - i > 1)]
    return Parse(tuple(spans), tuple(governors), total + (_arc_score(scores, governors) if governors else 0.0))


def _dependency_parse(scores: Scores, governors: list[int]) -> Parse:
    return Parse((), tuple(governors), _arc_score(scores, governors))


def _arc_score(scores: Scores, governors: Iterable[int]) -> float:
    arc, root = _rows(scores.arc), _rows(scores.root)
    return float(sum(root[m] if h == ROOT else arc[h][m] for m, h in enumerate(governors)))
