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
import time
from collections.abc import Callable
from pathlib import Path

import conllu
from nltk import Tree

from h3n import formats
from h3n.formats.lines import read_pieces
from h3n.formats.options import Problems

SENTENCES = 10_000
TARGETS = {"brackets": 2.0, "conllu": 3.0}
FILES = {"brackets": "gum/train.ptb.xz", "conllu": "gum/dev.conllu.xz"}
LABELS = ("S", "NP", "VP", "PP", "SBAR", "NP-SBJ")
TAGS = ("NN", "DT", "VBZ", "IN", "JJ", "RB", ",", ".")


def main(argv: list[str] | None = None) -> int:
    """Print the times and their ratios; return 1 if one is under its target, which is set for GUM."""
    parser = argparse.ArgumentParser(prog="benchmarks.reading", description=__doc__)
    parser.add_argument("--repeat", type=int, default=7, help="runs of each reader")
    parser.add_argument("--json", action="store_true", help="print JSON")
    options = parser.parse_args(argv)
    results = {name: _measured(name, options.repeat) for name in TARGETS}
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


def _measured(name: str, repeat: int) -> dict[str, object]:
    text, source = _text(name)
    other, theirs = {"brackets": ("nltk", _nltk), "conllu": ("conllu", _conllu)}[name]
    least = {_ours: float("inf"), theirs: float("inf")}
    for _ in range(repeat):
        for read in least:
            start = time.process_time()
            sentences = read(text, name)
            least[read] = min(least[read], time.process_time() - start)
    return {
        "source": source,
        "sentences": sentences,
        "other": other,
        "h3n_seconds": round(least[_ours], 4),
        "other_seconds": round(least[theirs], 4),
        "ratio": round(least[theirs] / least[_ours], 2),
        "target": TARGETS[name],
    }


def _ours(text: str, name: str) -> int:
    return sum(1 for _ in formats.read(io.StringIO(text), format=name))


def _nltk(text: str, _: str) -> int:
    return sum(1 for line in text.splitlines() if Tree.fromstring(line) is not None)


def _conllu(text: str, _: str) -> int:
    return sum(1 for _ in conllu.parse_incr(io.StringIO(text)))


def _text(name: str) -> tuple[str, str]:
    """Return what to read and where it comes from."""
    file = Path(os.environ.get("H3N_DATA", "")) / FILES[name]
    if "H3N_DATA" in os.environ and file.is_file():
        return "".join(read_pieces(file, Problems(None))), FILES[name]
    chance = random.Random(0)
    made: dict[str, Callable[[random.Random], str]] = {"brackets": _tree, "conllu": _rows}
    return "".join(made[name](chance) for _ in range(SENTENCES)), "a made-up sample"


def _word(chance: random.Random) -> str:
    """Return a word of a Zipf-like vocabulary: few are frequent, most are rare, as in real text."""
    return f"w{int(20_000 ** chance.random())}"


def _tag(word: str) -> str:
    return TAGS[int(word[1:]) % len(TAGS)]


def _tree(chance: random.Random) -> str:
    """Return a random tree over about twenty words."""
    parts = [f"({_tag(word)} {word})" for word in (_word(chance) for _ in range(chance.randint(5, 35)))]
    while len(parts) > 1:
        start = chance.randrange(len(parts))
        end = start + chance.randint(1, 3)
        parts[start:end] = [f"({chance.choice(LABELS)} {' '.join(parts[start:end])})"]
    return f"(TOP {parts[0]})\n"


def _rows(chance: random.Random) -> str:
    """Return the rows of a random sentence of about twenty words."""
    count = chance.randint(5, 35)
    rows = [f"# text = {count} words"]
    for number in range(1, count + 1):
        word = _word(chance)
        rows.append(
            f"{number}\t{word}\t{word}\tX\t{_tag(word)}\tA=b|C=d\t{chance.randrange(number)}\tdep\t_\tSpaceAfter=No"
        )
    # Every word but the first hangs on one before it.
    rows[1:] = [row.replace("\t0\tdep", "\t1\tdep") if at else row for at, row in enumerate(rows[1:])]
    return "\n".join(rows) + "\n\n"


if __name__ == "__main__":
    sys.exit(main())
