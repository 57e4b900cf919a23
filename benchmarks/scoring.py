"""How long bracket scoring takes beside the C program it imitates, reading included on both sides.

`python -m benchmarks.scoring --evalb PATH` with a compiled EVALB prints the ratio; without one, our speed alone. Trees
are made here unless `--gold` and `--predicted` name files. All times are processor time, the least of several runs.
Ours is taken inside one process, as the start of Python (printed beside it) does not grow with the files.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import random
import sys
import tempfile
from pathlib import Path

from benchmarks._processes import children_clock, run_quietly
from benchmarks._samples import random_tree, random_words
from h3n.evaluate import Convention, load_parameters
from h3n.evaluate.parameters import BUILT_IN
from h3n.measure.scores import Choices, score_files
from h3n.measure.timing import least

SENTENCES = 6000
TARGET = 10.0
PYEVALB = "import sys; from PYEVALB import scorer;scorer.Scorer().evalb(sys.argv[1], sys.argv[2], '/dev/null')"


def main(argv: list[str] | None = None) -> int:
    """Print the speeds and their ratio; return 1 if the C program is more than ten times as fast."""
    options = _options(argv)
    with tempfile.TemporaryDirectory() as folder:
        gold, predicted = _files(options, Path(folder))
        size = sum(1 for _ in gold.open(encoding="utf-8"))
        ours = least(lambda: score(gold, predicted), repeat=options.repeat)
        print(f"h3n            {ours:8.3f} s   {size / ours:9.0f} sentences/s")
        start = _child([sys.executable, "-c", "import h3n.cli.evaluate"], options.repeat)
        print(f"  its start    {start:8.3f} s")
        if importlib.util.find_spec("PYEVALB") is not None:
            theirs = _child([sys.executable, "-c", PYEVALB, str(gold), str(predicted)], 1)
            print(f"PYEVALB        {theirs:8.3f} s   h3n is {theirs / ours:.1f} times as fast")
        if not options.evalb:
            print("EVALB          not measured: name a compiled one with --evalb or in H3N_EVALB")
            return 0
        parameters = Path(sys.modules["h3n.evaluate"].__file__ or "").with_name("data") / BUILT_IN["collins"][0]
        command = [options.evalb, "-p", str(parameters), str(gold), str(predicted)]
        theirs = _child(command, options.repeat)
        print(f"EVALB          {theirs:8.3f} s   h3n takes {ours / theirs:.1f} times as long (bound: {TARGET:.0f})")
        return int(ours / theirs > TARGET)


def _options(argv: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="benchmarks.scoring", description=__doc__)
    parser.add_argument("--evalb", default=os.environ.get("H3N_EVALB"), help="a compiled EVALB")
    parser.add_argument("--gold", type=Path, help="gold brackets, a tree a line")
    parser.add_argument("--predicted", type=Path, help="predicted brackets, a tree a line")
    parser.add_argument("--copies", type=int, default=1, help="how often to repeat the given files")
    parser.add_argument("--repeat", type=int, default=7, help="runs, of which the fastest counts")
    return parser.parse_args(argv)


def _files(options: argparse.Namespace, folder: Path) -> tuple[Path, Path]:
    """Return gold and predicted files inside the folder: copies of those given, or trees made here."""
    if options.gold and options.predicted:
        texts = [source.read_text(encoding="utf-8") * options.copies for source in (options.gold, options.predicted)]
    else:
        chance = random.Random(1)
        words = [random_words(chance) for _ in range(SENTENCES)]
        gold = [random_tree(one, random.Random(number)) for number, one in enumerate(words)]
        # One in four predictions is a tree of its own, the others have a few wrong labels.
        predicted = [
            random_tree(one, random.Random(-number)) if number % 4 == 0 else right.replace("(PP ", "(NP ", 1)
            for number, (one, right) in enumerate(zip(words, gold, strict=True), start=1)
        ]
        texts = ["".join(gold), "".join(predicted)]
    paths = folder / "gold.ptb", folder / "predicted.ptb"
    for path, text in zip(paths, texts, strict=True):
        path.write_text(text, encoding="utf-8")
    return paths


def score(gold: Path, predicted: Path) -> None:
    """Score as `h3n evaluate` does."""
    choices = Choices(convention=Convention(parameters=load_parameters("collins")))
    score_files(str(gold), str(predicted), names=("brackets", "brackets"), choices=choices)


def _child(command: list[str], repeat: int) -> float:
    return least(lambda: run_quietly(command), repeat=repeat, clock=children_clock)


if __name__ == "__main__":
    sys.exit(main())
