"""Training speed and memory with the MiniLM encoder: `python -m benchmarks.training [--peers]`.

Prints sentences per second of one thread's CPU time, the share of a step spent in the search or the sum over trees
inside the span loss, and the peak memory of one large batch. With ``--peers`` SuPar's biaffine and CRF parsers train on
the same sentences, one after the other in the same run; they need two models for what one of ours gives. CPU time is
taken, since a busy machine leaves it nearly alone; ratios within one run are what counts.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from pathlib import Path
from typing import Any

from h3n.config import Treebank
from h3n.measure.other_parsers import SUPAR, supar_training_rate
from h3n.measure.training import measure_training, measure_training_memory

EXAMPLE = Path(__file__).parents[1] / "examples" / "treebank"
LARGE = 5000  # words in the batch whose memory is taken


def training_files() -> tuple[str, str]:
    """Return the training files: GUM's where H3N_DATA says, the example treebank otherwise."""
    folder = os.environ.get("H3N_DATA")
    if folder:
        return f"{folder}/gum/train.ptb.xz", f"{folder}/gum/train.conllu.xz"
    return str(EXAMPLE / "train.ptb"), str(EXAMPLE / "train.conllu")


def measure(treebank: Treebank, *, updates: int, peers: bool) -> dict[str, Any]:
    """Return rates and memory by what they are of."""
    measured: dict[str, Any] = {
        f"h3n, both trees, {spans}": measure_training(treebank, updates=updates, settings=[f"loss.spans={spans}"])
        for spans in ("crf", "hinge")
    }
    measured[f"peak GB, {LARGE:,} words"] = measure_training_memory(treebank, words=LARGE)
    for kind in SUPAR if peers else ():
        try:
            rate = supar_training_rate(kind, treebank, updates=updates)
        except ImportError as error:
            measured[f"SuPar {kind}, one tree"] = f"not measured: {error}"
        else:
            measured[f"SuPar {kind}, one tree"] = {"sentences_per_second": rate}
    return measured


def main(argv: list[str] | None = None) -> int:
    """Print the figures; return 0."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--updates", type=int, default=20)
    options.add_argument("--sentences", type=int, default=3000)
    options.add_argument("--peers", action="store_true", help="also SuPar, if it is installed")
    options.add_argument("--json", action="store_true")
    given = options.parse_args(argv)
    treebank = Treebank(files=training_files(), limit=given.sentences)
    measured = measure(treebank, updates=given.updates, peers=given.peers)
    if given.json:
        print(json.dumps(measured, indent=1))
        return 0
    for name, figures in measured.items():
        shown = figures if not isinstance(figures, dict) else "  ".join(f"{k} {v:.1f}" for k, v in figures.items())
        print(f"{name:32} {shown if not isinstance(shown, float) else round(shown, 2)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
