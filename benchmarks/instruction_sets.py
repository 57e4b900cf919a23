"""Whether all instruction sets of this machine give the same parses: `python -m benchmarks.instruction_sets [MODEL]`.

Sentences of GUM's dev part (`H3N_DATA` names the folder of treebanks) are parsed in 8 bits with each of them; results
are compared with their scores and confidences, to the last bit. A small part of this is a test.
"""

from __future__ import annotations

import argparse
import sys
from itertools import islice

from h3n import formats
from h3n.config import expand
from h3n.measure.instruction_sets import parse_with_all

GUM = "$H3N_DATA/gum/dev.conllu.xz"


def main(argv: list[str] | None = None) -> int:
    """Print how many parses differ from those of the best instruction set; return 1 if any does."""
    options = argparse.ArgumentParser(prog="benchmarks.instruction_sets", description=__doc__)
    options.add_argument("model", nargs="?", default="en", help="a folder or a name")
    options.add_argument("--sentences", type=int, default=500)
    given = options.parse_args(argv)
    sentences = [list(s.words) for s in islice(formats.read(expand(GUM)), given.sentences)]
    parses = parse_with_all(given.model, sentences)
    best, *_ = parses.values()
    differing = 0
    for name, found in parses.items():
        count = sum(one != other for one, other in zip(found, best, strict=True))
        print(f"{name:12} {count} of {len(best)} parses differ from those of {next(iter(parses))}")
        differing += count
    return int(differing > 0)


if __name__ == "__main__":
    sys.exit(main())
