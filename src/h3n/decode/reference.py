"""Every decoder in plain Python, to be read beside the paper: the slow twins of the native ones.

Both twins find a tree of the same score; where several trees have it they may return different ones. Charts are
dictionaries keyed by span, and no entry means impossible. `Scores` are checked by the caller.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, TypeAlias

from h3n.decode.scores import Parse, Scores
from h3n.errors import DecodeError
from h3n.trees import ROOT, find_cycle

NEVER = float("-inf")
Rows: TypeAlias = list[Any]  # nested lists of numbers
# A span on its way down from the best tree: start, end, head, whether it must carry a label.
Pending: TypeAlias = tuple[int, int, int, bool]


def cky(scores: Scores) -> Parse:
    """Return the best constituency tree in O(n^3) time (paper, section III-D)."""
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
    nodes: list[Pending] = []
    stack: list[Pending] = [(0, n, -1, True)]
    while stack:
        i, j, _, _ = node = stack.pop()
        nodes.append(node)
        if j - i > 1:
            stack += [(split[i, j], j, -1, False), (i, split[i, j], -1, False)]
    return _joint_parse(scores, nodes, ())


def h3n(scores: Scores) -> Parse:
    """Return the best joint tree in O(n^3) time (paper, Algorithm 1).

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

    governors = [ROOT] * n
    nodes: list[Pending] = []
    stack: list[Pending] = [(0, n, head[0, n], True)]
    while stack:
        i, j, h, _ = node = stack.pop()
        nodes.append(node)
        if j - i > 1:
            k = split[i, j]
            left, right = head[i, k], head[k, j]
            governors[right if left == h else left] = h
            stack += [(k, j, right, right != h and j - k > 1), (i, k, left, left != h and k - i > 1)]
    return _joint_parse(scores, nodes, tuple(governors))


def hpsg(scores: Scores) -> Parse:
    """Return the best joint tree of all, in O(n^4) time.

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

    governors = [ROOT] * n
    nodes: list[Pending] = []
    stack: list[Pending] = [(0, n, top_head, True)]
    while stack:
        i, j, h, _ = node = stack.pop()
        nodes.append(node)
        if j - i > 1:
            k = split[i, j, h]
            left = h if h < k else dependent[i, k, h]
            right = h if h >= k else dependent[k, j, h]
            governors[right if left == h else left] = h
            stack += [(k, j, right, right != h and j - k > 1), (i, k, left, left != h and k - i > 1)]
    return _joint_parse(scores, nodes, tuple(governors))


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
    made_of: dict[Item, tuple[Item, Item]] = {}

    def keep_best(item: Item, parts: Iterable[tuple[Item, Item]], arcs: dict[int, float] | None = None) -> None:
        """Store the best pair of parts; ``arcs`` adds the arc that comes with the split of the same number."""
        best[item] = NEVER
        for number, (left, right) in enumerate(parts):
            score = best[left] + best[right] + (arcs[number] if arcs else 0.0)
            if score > best[item] or item not in made_of:
                best[item], made_of[item] = score, (left, right)

    for i in range(n):
        best["rightward", i, i] = best["leftward", i, i] = 0.0
    for width in range(1, n):
        for i in range(n - width):
            j = i + width
            keep_best(("base", i, j), ((("rightward", i, k), ("leftward", k + 1, j)) for k in range(i, j)))
            keep_best(
                ("rightward", i, j),
                ((("base", i, k), ("rightward", k, j)) for k in range(i + 1, j + 1)),
                dict(enumerate(arc[i][k] for k in range(i + 1, j + 1))),
            )
            keep_best(
                ("leftward", i, j),
                ((("leftward", i, k), ("base", k, j)) for k in range(i, j)),
                dict(enumerate(arc[j][k] for k in range(i, j))),
            )
    top, top_word = _first_best((best["leftward", 0, r] + best["rightward", r, n - 1] + root[r], r) for r in range(n))
    _require_finite(top)

    governors = [ROOT] * n
    stack: list[Item] = [("leftward", 0, top_word), ("rightward", top_word, n - 1)]
    while stack:
        kind, i, j = item = stack.pop()
        if i == j:
            continue
        left, right = made_of[item]
        if kind == "rightward":
            governors[right[1]] = i
        elif kind == "leftward":
            governors[right[1]] = j
        stack += [left, right]
    return _dependency_parse(scores, governors)


def mst(scores: Scores) -> Parse:
    """Return the best dependency tree with one root word, crossing arcs allowed (Chu-Liu/Edmonds).

    Tries each root word in turn, O(n^4) altogether; the native twin needs O(n^2).
    """
    arc, root = _rows(scores.arc), _rows(scores.root)
    n = len(root)
    if n == 0:
        return Parse((), (), 0.0)
    best: list[int] = []
    best_score = NEVER
    for top in range(n):
        governors = _arborescence(arc, top)
        if governors is None:
            continue
        score = root[top] + sum(arc[h][m] for m, h in enumerate(governors) if h != ROOT)
        if score > best_score:
            best, best_score = governors, score
    _require_finite(best_score)
    return _dependency_parse(scores, best)


def _arborescence(arc: Rows, top: int) -> list[int] | None:
    """Return the governors of the best tree whose root word is ``top``, or None if there is none."""
    n = len(arc)
    # weight[h, m] and the arc between words that it stands for; contracted cycles get numbers from n on.
    weight = {(h, m): arc[h][m] for h in range(n) for m in range(n) if h != m and m != top and arc[h][m] > NEVER}
    stands_for = {pair: pair for pair in weight}
    nodes = list(range(n))
    contracted: list[tuple[int, dict[int, tuple[int, int]]]] = []
    count = n
    while True:
        chosen: dict[int, tuple[int, int]] = {}
        for m in nodes:
            arcs = [(weight[h, m], h) for h in nodes if (h, m) in weight]
            if m != top and not arcs:
                return None
            if m != top:
                chosen[m] = (max(arcs, key=lambda pair: pair[0])[1], m)
        number = {node: k for k, node in enumerate(nodes)}
        cycle = find_cycle([number[chosen[m][0]] if m != top else ROOT for m in nodes])
        if cycle is None:
            break
        inside = {nodes[k] for k in cycle}
        for h in nodes:
            if h in inside:
                continue
            _keep_best(
                weight,
                stands_for,
                (h, count),
                [(weight[h, m] - weight[chosen[m]], (h, m)) for m in inside if (h, m) in weight],
            )
            _keep_best(weight, stands_for, (count, h), [(weight[m, h], (m, h)) for m in inside if (m, h) in weight])
        contracted.append((count, {m: stands_for[chosen[m]] for m in inside}))
        nodes = [node for node in nodes if node not in inside] + [count]
        count += 1

    part_of = {part: made for made, parts in contracted for part in parts}
    arcs_in = {m: stands_for[pair] for m, pair in chosen.items()}
    for made, parts in reversed(contracted):
        entered = arcs_in.pop(made)
        arcs_in.update(parts)
        part = entered[1]
        while part_of[part] != made:
            part = part_of[part]
        arcs_in[part] = entered
    governors = [ROOT] * n
    for h, m in arcs_in.values():
        governors[m] = h
    return governors


def _keep_best(
    weight: dict[tuple[int, int], float],
    stands_for: dict[tuple[int, int], tuple[int, int]],
    pair: tuple[int, int],
    options: list[tuple[float, tuple[int, int]]],
) -> None:
    if options:
        weight[pair], best = max(options, key=lambda option: option[0])
        stands_for[pair] = stands_for[best]


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


def _joint_parse(scores: Scores, nodes: list[Pending], governors: tuple[int, ...]) -> Parse:
    """Return the parse of all nodes of a binary tree in pre-order: its labelled spans and what it scores."""
    full, open_ = _rows(scores.full), _rows(scores.open)
    label = None if scores.label is None else _rows(scores.label)
    total = 0.0
    spans = []
    for i, j, head, must in nodes:
        if must or full[i][j] >= open_[i][j]:
            spans.append((i, j, -1 if label is None else label[i][j], head))
            total += full[i][j]
        else:
            total += open_[i][j]
    return Parse(tuple(spans), governors, total + (_arc_score(scores, governors) if governors else 0.0))


def _dependency_parse(scores: Scores, governors: list[int]) -> Parse:
    return Parse((), tuple(governors), _arc_score(scores, governors))


def _arc_score(scores: Scores, governors: Iterable[int]) -> float:
    arc, root = _rows(scores.arc), _rows(scores.root)
    return float(sum(root[m] if h == ROOT else arc[h][m] for m, h in enumerate(governors)))
