"""How fast h3n reads brackets and CoNLL-U beside NLTK and the package `conllu`, from text in memory.

`python -m benchmarks.reading` reads GUM's files if H3N_DATA names a folder that has them, else a sample made here. The
two readers take turns; times are processor time, the least of several runs. Both build every tree and keep none. Ours
also checks what it reads and collects words and tags.
"""

from __future__ import annotations

import argparse
import io
import json
import os
import random
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks._samples import random_rows, random_tree, random_words
from h3n import formats
from h3n.formats.lines import read_pieces
from h3n.formats.options import Problems
from h3n.measure.timing import least_in_turns


def compare_readers(name: str, text: str, *, repeat: int) -> dict[str, Any]:
    """Return processor seconds of our reader of a format and of the other one, and their ratio."""
    other, read = OTHERS[name]
    times = least_in_turns({"h3n": lambda: _ours(text, name), other: lambda: read(text)}, repeat=repeat)
    return {
        "sentences": _ours(text, name),
        "other": other,
        "h3n_seconds": round(times["h3n"], 4),
        "other_seconds": round(times[other], 4),
        "ratio": round(times[other] / times["h3n"], 2),
    }


def _ours(text: str, name: str) -> int:
    return sum(1 for _ in formats.read(io.StringIO(text), format=name))


def _nltk(text: str) -> int:
    from nltk import Tree

    return sum(1 for line in text.splitlines() if Tree.fromstring(line) is not None)


def _conllu(text: str) -> int:
    import conllu

    return sum(1 for _ in conllu.parse_incr(io.StringIO(text)))


OTHERS: dict[str, tuple[str, Callable[[str], int]]] = {"brackets": ("nltk", _nltk), "conllu": ("conllu", _conllu)}


SENTENCES = 10_000
TARGETS = {"brackets": 2.0, "conllu": 3.0}
FILES = {"brackets": "gum/train.ptb.xz", "conllu": "gum/dev.conllu.xz"}
SAMPLES = {"brackets": random_tree, "conllu": random_rows}


def main(argv: list[str] | None = None) -> int:
    """Print the times and their ratios; return 1 if one is under its target, which is set for GUM."""
    parser = argparse.ArgumentParser(prog="benchmarks.reading", description=__doc__)
    parser.add_argument("--repeat", type=int, default=7, help="runs of each reader")
    parser.add_argument("--json", action="store_true", help="print JSON")
    options = parser.parse_args(argv)
    results = {}
    for name in TARGETS:
        text, source = _text(name)
        results[name] = {"source": source} | compare_readers(name, text, repeat=options.repeat)
    if options.json:
        print(json.dumps(results, indent=2))
    else:
        for name, result in results.items():
            print(f"{name:9} {result['source']}, {result['sentences']} sentences")
            print(f"  h3n     {result['h3n_seconds']:.3f} s")
            print(f"  {result['other']:7} {result['other_seconds']:.3f} s")
            print(f"  ratio   {result['ratio']:.2f} (on GUM at least {TARGETS[name]:.0f} is wanted)")
    return int(
        any(result["ratio"] < TARGETS[name] for name, result in results.items() if result["source"] == FILES[name])
    )


def _text(name: str) -> tuple[str, str]:
    """Return what to read and where it comes from."""
    file = Path(os.environ.get("H3N_DATA", "")) / FILES[name]
    if "H3N_DATA" in os.environ and file.is_file():
        return "".join(read_pieces(file, Problems(None))), FILES[name]
    chance = random.Random(0)
    return "".join(SAMPLES[name](random_words(chance), chance) for _ in range(SENTENCES)), "a random sample"


if __name__ == "__main__":
    sys.exit(main())
