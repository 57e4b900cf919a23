"""This version beside another one, in turns: `python -m benchmarks.engine --before PYTHON [--conllu FILE]`.

``PYTHON`` is the interpreter of an environment with the other version of h3n, such as that of a checkout of an earlier
commit. Prints, for each instruction set asked for, sentences per second of processor time on one thread, their ratio,
how many trees differ (as far as no arc crosses, which versions differ in), the processor time from a cold start to the
first tree, and the peak memory of `h3n parse` on a megabyte of text. Everything else on the machine should be still.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from h3n.measure.samples import plain_text

RATE = """
import inspect, json, sys, time
import h3n
sentences = json.load(open(sys.argv[1]))
parser = h3n.load("en", threads=1, precision="int8")
list(parser.parse(sentences[:50]))
started = time.process_time()
def trees_of(**options):
    results = parser.parse(sentences, **options)
    return [(r.brackets(), r.governors, [arc.relation for arc in r.arcs], r.tags, r.upos) for r in results]
trees = trees_of()
seconds = time.process_time() - started
if "projective" in inspect.signature(parser.parse).parameters:  # earlier versions let no arc cross
    trees = trees_of(projective=True)
print(json.dumps({"rate": len(trees) / seconds, "trees": trees}))
"""
START = "import h3n; next(h3n.load('en').parse('She sleeps.'))"


def main(argv: list[str] | None = None) -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--before", required=True, help="the interpreter of an environment with the other version")
    options.add_argument("--conllu", help="sentences to parse; without it those of the sample text")
    options.add_argument("--sentences", type=int, default=1000)
    options.add_argument(
        "--sets", default=",avx2", help="instruction sets with commas between; an empty name is the best"
    )
    options.add_argument("--repeat", type=int, default=3)
    given = options.parse_args(argv)
    with tempfile.TemporaryDirectory() as folder:
        words = Path(folder) / "words.json"
        words.write_text(json.dumps(_sentences(given.conllu, given.sentences)), encoding="utf-8")
        for name in given.sets.split(","):
            _compare_rates(given.before, words, name, given.repeat)
        _compare_starts(given.before, given.repeat)
        text = Path(folder) / "text.txt"
        text.write_text((plain_text() * 400)[: 1 << 20], encoding="utf-8")
        _compare_memory(given.before, text)


def _sentences(file: str | None, count: int) -> list[list[str]]:
    from h3n import formats, text

    found = formats.read(file) if file else text.segment(plain_text())
    return [list(sentence.words) for sentence in found if sentence.words][:count]


def _environment(instructions: str = "") -> dict[str, str]:
    chosen = {"H3N_ISA": instructions} if instructions else {}
    return {name: value for name, value in os.environ.items() if name != "H3N_ISA"} | chosen | {"OMP_NUM_THREADS": "1"}


def _compare_rates(before: str, words: Path, instructions: str, repeat: int) -> None:
    rates: dict[str, float] = {}
    trees: dict[str, list[Any]] = {}
    for _ in range(repeat):  # in turns, so that both meet the same machine
        for python in (before, sys.executable):
            done = subprocess.run(
                [python, "-c", RATE, str(words)], env=_environment(instructions), check=True, capture_output=True
            )
            found = json.loads(done.stdout)
            rates[python] = max(rates.get(python, 0.0), found["rate"])
            trees[python] = found["trees"]
    old, new = rates[before], rates[sys.executable]
    differ = sum(one != other for one, other in zip(trees[before], trees[sys.executable], strict=True))
    print(f"{instructions or 'best set':12} {old:7.0f} -> {new:7.0f} sentences/s, {new / old:.2f} times; ", end="")
    print(f"{differ} of {len(trees[before])} trees differ")


def _child(command: list[str]) -> tuple[float, float]:
    """Return the processor seconds and the peak megabytes of a process."""
    code = (
        "import json, resource, subprocess, sys\n"
        "subprocess.run(json.loads(sys.argv[1]), check=True, stdout=subprocess.DEVNULL)\n"
        "used = resource.getrusage(resource.RUSAGE_CHILDREN)\n"
        "print(used.ru_utime + used.ru_stime, used.ru_maxrss)"
    )
    given = [sys.executable, "-c", code, json.dumps(command)]
    done = subprocess.run(given, env=_environment(), check=True, capture_output=True, text=True)
    seconds, peak = map(float, done.stdout.split())
    return seconds, peak / 1000  # Linux counts in kilobytes


def _compare_starts(before: str, repeat: int) -> None:
    old, new = (
        min(_child([python, "-c", START])[0] for _ in range(max(repeat, 3))) for python in (before, sys.executable)
    )
    print(f"start to first tree: {old:.2f} -> {new:.2f} s of processor time")


def _compare_memory(before: str, text: Path) -> None:
    command = ["-m", "h3n", "parse", str(text), "--threads", "1", "--to", "conllu"]
    old, new = (_child([python, *command])[1] for python in (before, sys.executable))
    print(f"peak memory, {text.stat().st_size / 1e6:.1f} MB of text: {old:.0f} -> {new:.0f} MB")


if __name__ == "__main__":
    main()
