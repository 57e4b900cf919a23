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
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from h3n.cli.scores import Choices, score_files
from h3n.evaluate import load_parameters
from h3n.evaluate.parameters import BUILT_IN

SENTENCES = 6000
LABELS = ("S", "NP", "VP", "PP", "SBAR", "ADJP", "ADVP", "NP-SBJ")
TAGS = ("NN", "DT", "VBZ", "IN", "JJ", "RB", ",", ".")
TARGET = 10.0


def main(argv: list[str] | None = None) -> int:
    """Print the speeds and their ratio; return 1 if the C program is more than ten times as fast."""
    options = _options(argv)
    with tempfile.TemporaryDirectory() as folder:
        gold, predicted = _files(options, Path(folder))
        size = sum(1 for _ in gold.open(encoding="utf-8"))
        ours = _least(lambda: _score(gold, predicted), options.repeat)
        print(f"h3n            {ours:8.3f} s   {size / ours:9.0f} sentences/s")
        start = _least(lambda: _child([sys.executable, "-c", "import h3n.cli.evaluate"]), options.repeat)
        print(f"  its start    {start:8.3f} s")
        if importlib.util.find_spec("PYEVALB") is not None:
            theirs = _least(lambda: _pyevalb(gold, predicted), 1)
            print(f"PYEVALB        {theirs:8.3f} s   h3n is {theirs / ours:.1f} times as fast")
        if not options.evalb:
            print("EVALB          not measured: name a compiled one with --evalb or in H3N_EVALB")
            return 0
        parameters = Path(sys.modules["h3n.evaluate"].__file__ or "").with_name("data") / BUILT_IN["collins"][0]
        command = [options.evalb, "-p", str(parameters), str(gold), str(predicted)]
        theirs = _least(lambda: _child(command), options.repeat)
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
        words = [[f"w{chance.randrange(999)}" for _ in range(chance.randint(5, 35))] for _ in range(SENTENCES)]
        gold = [_tree(one, random.Random(number)) for number, one in enumerate(words)]
        # One in four predictions is a tree of its own, the others have a few wrong labels.
        predicted = [
            _tree(one, random.Random(-number)) if number % 4 == 0 else made.replace("(PP ", "(NP ", 1)
            for number, (one, made) in enumerate(zip(words, gold, strict=True), start=1)
        ]
        texts = ["\n".join(gold) + "\n", "\n".join(predicted) + "\n"]
    paths = folder / "gold.ptb", folder / "predicted.ptb"
    for path, text in zip(paths, texts, strict=True):
        path.write_text(text, encoding="utf-8")
    return paths


def _tree(words: list[str], chance: random.Random) -> str:
    parts = [f"({TAGS[int(word[1:]) % len(TAGS)]} {word})" for word in words]
    while len(parts) > 1:
        start = chance.randrange(len(parts))
        end = min(len(parts), start + chance.randint(1, 3))
        parts[start:end] = [f"({chance.choice(LABELS)} {' '.join(parts[start:end])})"]
    return f"(TOP {parts[0]})"


def _score(gold: Path, predicted: Path) -> float:
    choices = Choices(parameters=load_parameters("collins"), report="evalb")
    started = time.process_time()
    score_files(str(gold), str(predicted), names=("brackets", "brackets"), choices=choices)
    return time.process_time() - started


def _child(command: list[str]) -> float:
    """Return the processor time of another program."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def _pyevalb(gold: Path, predicted: Path) -> float:
    program = "import sys; from PYEVALB import scorer;scorer.Scorer().evalb(sys.argv[1], sys.argv[2], '/dev/null')"
    return _child([sys.executable, "-c", program, str(gold), str(predicted)])


def _least(measure: Callable[[], float], repeat: int) -> float:
    return min(measure() for _ in range(repeat))


if __name__ == "__main__":
    sys.exit(main())
