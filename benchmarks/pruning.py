"""How much of the search of `hpsg` could be left out without losing its tree: figures for a decision, not a decoder.

    python -m benchmarks.pruning TREEBANK.conllu

A joint tree is worth at most the best phrases plus the best arcs, each by themselves: `cky` plus `eisner`. With a span
or an arc in it, it is worth at most what they find with that one in it. What stays below the tree that `h3n` finds can
be left out. The table has, on the scores of the model `en`, for sentences joined to a length: the distance between the
bounds, how much of it is the upper bound's, and the share of spans, of labelled spans and of arcs that stay.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks.forest import LENGTHS, scores_of_model
from h3n.decode import Scores, decode_batch
from h3n.measure.tables import text_table

Table = NDArray[np.float64]
NEVER = -1e30
SENTENCES = 2


def best_with_span(scores: Scores) -> tuple[Table, Table]:
    """Return what `cky` finds with each span in the tree, with a label or without, and with a label."""
    assert scores.full is not None
    assert scores.open is not None
    n = len(scores)
    label = scores.open.astype(np.float64)
    label[0, n] = scores.full[0, n]
    inner, outside = np.full((n + 1, n + 1), NEVER), np.full((n + 1, n + 1), NEVER)
    inside = inner.copy()
    for length in range(1, n + 1):
        for i in range(n - length + 1):
            j = i + length
            inner[i, j] = 0.0 if length == 1 else (inside[i, i + 1 : j] + inside[i + 1 : j, j]).max()
            inside[i, j] = inner[i, j] + label[i, j]
    outside[0, n] = 0.0
    for length in range(n, 1, -1):
        for i in range(n - length + 1):
            j = i + length
            mine = outside[i, j] + label[i, j]
            outside[i, i + 1 : j] = np.maximum(outside[i, i + 1 : j], mine + inside[i + 1 : j, j])
            outside[i + 1 : j, j] = np.maximum(outside[i + 1 : j, j], mine + inside[i, i + 1 : j])
    return inside + outside, inner + outside + scores.full


def best_with_arc(scores: Scores) -> Table:
    """Return what `eisner` finds with each arc in the tree, [governor, word]."""
    assert scores.arc is not None
    assert scores.root is not None
    n = len(scores)
    arc = scores.arc.astype(np.float64)
    base, rightward, leftward = (np.full((n + 1, n + 1), NEVER) for _ in range(3))
    for i in range(n + 1):
        rightward[i, i] = leftward[i, i] = 0.0
    from_left, from_right = np.full((n, n), NEVER), np.full((n, n), NEVER)
    for length in range(1, n):
        for i in range(n - length):
            j = i + length
            base[i, j] = (rightward[i, i:j] + leftward[i + 1 : j + 1, j]).max()
            from_left[i, j], from_right[i, j] = base[i, j] + arc[i, j], base[i, j] + arc[j, i]
            rightward[i, j] = (from_left[i, i + 1 : j + 1] + rightward[i + 1 : j + 1, j]).max()
            leftward[i, j] = (leftward[i, i:j] + from_right[i:j, j]).max()
    over_right, over_left, over_from_left, over_from_right = (np.full((n + 1, n + 1), NEVER) for _ in range(4))
    last = n - 1
    for r in range(n):
        over_left[0, r] = max(over_left[0, r], rightward[r, last] + scores.root[r])
        over_right[r, last] = max(over_right[r, last], leftward[0, r] + scores.root[r])
    found = np.full((n, n), NEVER)
    for length in range(n - 1, 0, -1):
        for i in range(n - length):
            j = i + length
            after, before = slice(i + 1, j + 1), slice(i, j)
            np.maximum(over_from_left[i, after], over_right[i, j] + rightward[after, j], out=over_from_left[i, after])
            np.maximum(over_right[after, j], over_right[i, j] + from_left[i, after], out=over_right[after, j])
            np.maximum(over_left[i, before], over_left[i, j] + from_right[before, j], out=over_left[i, before])
            np.maximum(
                over_from_right[before, j], over_left[i, j] + leftward[i, before], out=over_from_right[before, j]
            )
            found[i, j] = over_from_left[i, j] + from_left[i, j]
            found[j, i] = over_from_right[i, j] + from_right[i, j]
            over = max(over_from_left[i, j] + arc[i, j], over_from_right[i, j] + arc[j, i])
            np.maximum(over_right[i, before], over + leftward[after, j], out=over_right[i, before])
            np.maximum(over_left[after, j], over + rightward[i, before], out=over_left[after, j])
    return found


def main(argv: list[str] | None = None) -> int:
    """Print the table."""
    options = argparse.ArgumentParser(
        prog="benchmarks.pruning", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("treebank", type=Path)
    given = options.parse_args(argv)
    rows = [["words", "between bounds", "of the upper", "spans", "labelled", "arcs"]]
    for length, batch in scores_of_model(given.treebank, LENGTHS).items():
        for scores in batch[:SENTENCES]:
            worth = {name: decode_batch([scores], name)[0].score for name in ("cky", "eisner", "hpsg", "h3n")}
            upper = worth["cky"] + worth["eisner"]
            least = worth["h3n"] - 1e-3  # sums in 32 bits are rounded
            spans, labelled = best_with_span(scores)
            arcs = best_with_arc(scores)
            triangle = np.triu_indices(length + 1, 1)
            shares = (
                (spans[triangle] + worth["eisner"] >= least).mean(),
                (labelled[triangle] + worth["eisner"] >= least).mean(),
                (arcs[~np.eye(length, dtype=bool)] + worth["cky"] >= least).mean(),
            )
            rows.append(
                [
                    str(length),
                    f"{upper - worth['h3n']:.2f}",
                    f"{upper - worth['hpsg']:.2f}",
                    *(f"{s:.1%}" for s in shares),
                ]
            )
    print(text_table(rows))
    return 0


if __name__ == "__main__":
    sys.exit(main())
