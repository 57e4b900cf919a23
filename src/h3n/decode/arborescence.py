"""The best dependency tree below a given root word in plain Python (Chu-Liu/Edmonds), for `h3n.decode.reference`."""

from __future__ import annotations

from collections.abc import Sequence

from h3n.trees import ROOT, find_cycle

NEVER = float("-inf")


def arborescence(arc: Sequence[Sequence[float]], top: int) -> list[int] | None:
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

    part_of = {part: node for node, parts in contracted for part in parts}
    arcs_in = {m: stands_for[pair] for m, pair in chosen.items()}
    for node, parts in reversed(contracted):
        entered = arcs_in.pop(node)
        arcs_in.update(parts)
        part = entered[1]
        while part_of[part] != node:
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
