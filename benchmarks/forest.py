"""What more than the best tree costs: ratios of processor time to one search, in one run.

    python -m benchmarks.forest [TREEBANK.conllu]

Without a treebank the scores are random; with one they are those that the model `en` gives its words, and sentences of
a length are made by joining its sentences. Each figure is the least of several runs.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from h3n.decode import Scores, best_parses, decode_batch, distributions, sample_parses
from h3n.measure.samples import random_scores
from h3n.measure.tables import text_table

LENGTHS = (27, 60, 127, 233)
DECODERS = ("cky", "eisner", "h3n", "hpsg", "mst")
BATCH = {27: 16, 60: 8, 127: 4, 233: 2}


def seconds(work: Callable[[], object], *, least: float = 0.4) -> float:
    """Return the processor time of the fastest run."""
    best, until = float("inf"), time.process_time() + least
    while time.process_time() < until:
        start = time.process_time()
        work()
        best = min(best, time.process_time() - start)
    return best


def scores_of_model(file: Path, lengths: Sequence[int]) -> dict[int, list[Scores]]:
    """Return what `en` makes of the words of a treebank, in sentences of these lengths."""
    from h3n.formats import read
    from h3n.model.model import Model
    from h3n.models import locate
    from h3n.trees import Sentence

    words = [word for sentence in read(file) for word in sentence.words]
    model = Model.load(locate("en"))
    found: dict[int, list[Scores]] = {}
    at = 0
    for length in lengths:
        given = []
        for _ in range(BATCH[length]):
            given.append(Sentence(words=tuple(words[at : at + length])))
            at += length
        batch: dict[int, Scores] = {}
        for numbers, scored in model.score(given):
            batch.update(zip(numbers, model.prepare(scored, decoder="h3n"), strict=True))
        found[length] = [batch[number] for number in range(len(given))]
    return found


def main(argv: list[str] | None = None) -> int:
    """Print the table."""
    options = argparse.ArgumentParser(
        prog="benchmarks.forest", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("treebank", nargs="?", type=Path)
    given = options.parse_args(argv)
    rng = np.random.default_rng(0)
    if given.treebank is not None:
        sentences = scores_of_model(given.treebank, LENGTHS)
    else:
        sentences = {length: [random_scores(length, rng) for _ in range(BATCH[length])] for length in LENGTHS}
    rows = [["decoder", "words", "microseconds", "10 best", "distribution", "10 samples"]]
    for name in DECODERS:
        for length, batch in sentences.items():
            one = seconds(lambda name=name, batch=batch: decode_batch(batch, name))
            ratios = [seconds(lambda name=name, batch=batch: distributions(batch, name)) / one]
            if name != "mst":
                ratios.insert(0, seconds(lambda name=name, batch=batch: best_parses(batch, name, best=10)) / one)
                ratios.append(
                    seconds(lambda name=name, batch=batch: sample_parses(batch, name, count=10, seed=1)) / one
                )
            else:
                ratios = [float("nan"), ratios[0], float("nan")]
            micro = one / len(batch) * 1e6
            rows.append([name, str(length), f"{micro:.1f}", *(f"{ratio:.1f}" for ratio in ratios)])
    print(text_table(rows, left=1))
    return 0


if __name__ == "__main__":
    sys.exit(main())
