"""Which head score picks the right heads: `python -m benchmarks.heads MODEL dev.ptb dev.conllu [--limit N]`.

For every head score that a model has, prints the share of spans of the gold joint trees, of two words or more, whose
head is the word with the highest head score, beside LF1, UAS and LAS of `h3n` with that score; below, those of exact
and of separate decoding. Gold words, no gold tags, one weight of spans against arcs.
"""

from __future__ import annotations

import argparse
import json
import sys

from h3n.measure.tables import NONE, text_table

COLUMNS = ("right_heads", "LF1", "UAS", "LAS")
DECODERS = ("hpsg", "cky", "mst")


def main(argv: list[str] | None = None) -> int:
    """Print the table; return 0."""
    from h3n.config import Treebank
    from h3n.parser import load
    from h3n.training import load_examples
    from h3n.training.comparison import Way, compare_ways, head_scores_of

    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("model")
    options.add_argument("files", nargs="+")
    options.add_argument("--limit", type=int, default=0)
    options.add_argument("--weight", type=float, default=0.5, help="of spans against arcs")
    options.add_argument("--json", action="store_true")
    given = options.parse_args(argv)
    parser = load(given.model, precision="float32")
    examples = load_examples([Treebank(files=tuple(given.files), limit=given.limit)], data=parser.engine.config.data)
    ways = [Way("h3n", name, given.weight) for name in head_scores_of(parser)]
    outcomes = compare_ways(parser, examples, [*ways, *(Way(name, "", given.weight) for name in DECODERS)])
    rows = {" ".join(filter(None, (one.way.decoder, one.way.head_score))): one.scores() for one in outcomes}
    if given.json:
        print(json.dumps(rows, indent=1))
        return 0
    table = [[name, *(f"{row[key]:.2f}" if key in row else NONE for key in COLUMNS)] for name, row in rows.items()]
    print(text_table([["decoder and head score", "heads right", *COLUMNS[1:]], *table], left=1))
    return 0


if __name__ == "__main__":
    sys.exit(main())
