"""One model, all decoders, head scores and weights: `python -m benchmarks.accuracy MODEL FILE... [--limit N]`.

What `h3n evaluate --model MODEL FILE... --decoders all` prints, for several weights of spans against arcs.
"""

from __future__ import annotations

import argparse
import json
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from h3n.training.comparison import Outcome

WEIGHTS = (0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8)
SHOWN = ("LP", "LR", "LF1", "UAS", "LAS", "right_heads")
WEIGHED = frozenset({"h3n", "hpsg"})  # the other decoders look at spans or at arcs alone


def main(argv: list[str] | None = None) -> int:
    """Print the table; return 0."""
    from h3n.config import Treebank
    from h3n.parser import load
    from h3n.training import load_examples
    from h3n.training.comparison import Way, compare_ways, ways_of

    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("model")
    options.add_argument("files", nargs="+")
    options.add_argument("--limit", type=int, default=0)
    options.add_argument("--json", action="store_true")
    given = options.parse_args(argv)
    parser = load(given.model, precision="float32")
    examples = load_examples([Treebank(files=tuple(given.files), limit=given.limit)], data=parser.engine.config.data)
    ways = [
        Way(way.decoder, way.head_score, weight)
        for way in ways_of(parser, ["all"])
        for weight in (WEIGHTS if way.decoder in WEIGHED else (None,))
    ]
    outcomes = compare_ways(parser, examples, ways)
    for outcome in [] if given.json else outcomes:
        way, scores = outcome.way, outcome.scores()
        figures = "  ".join(f"{name} {scores[name]:.2f}" for name in SHOWN if name in scores)
        print(f"{way.decoder:8} {way.head_score:10} {way.weight or '':4} {figures}  {outcome.seconds:.1f} s")
    if given.json:
        print(json.dumps([_row(outcome) for outcome in outcomes], indent=1))
    return 0


def _row(outcome: Outcome) -> dict[str, object]:
    way = outcome.way
    place = {"decoder": way.decoder, "head_score": way.head_score, "weight": way.weight}
    return {**place, "seconds": round(outcome.seconds, 2), **outcome.scores()}


if __name__ == "__main__":
    sys.exit(main())
