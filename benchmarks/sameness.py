"""Whether the same sentence gets the same parse, whatever stands beside it.

`python -m benchmarks.sameness` parses sentences one by one, then in batches, in batches of another order and in two
threads, in 32 and in 8 bits, and counts the sentences whose trees, or whose JSON with all its confidences, are others.
Bound: no tree differs.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import islice

import h3n
from h3n import formats
from h3n.measure.samples import plain_text
from h3n.parser import Parser, Result
from h3n.text import segment
from h3n.trees import Sentence


@dataclass(frozen=True)
class Differences:
    """How many sentences came out otherwise than alone, and by how much a confidence moved at most."""

    sentences: int
    trees: int
    bytes: int
    confidence: float


def alone(parser: Parser, sentences: Sequence[Sentence]) -> list[Result]:
    """Return the parses of sentences that never stand in a batch."""
    return [result for sentence in sentences for result in parser.parse([sentence])]


def batched(parser: Parser, sentences: Sequence[Sentence]) -> list[Result]:
    """Return the parses of all in batches."""
    return list(parser.parse(sentences))


def shuffled(parser: Parser, sentences: Sequence[Sentence]) -> list[Result]:
    """Return the parses in batches of another order, in the order of the sentences."""
    order = random.Random(1).sample(range(len(sentences)), len(sentences))
    results = dict(zip(order, parser.parse([sentences[at] for at in order]), strict=True))
    return [results[at] for at in range(len(sentences))]


WAYS: dict[str, tuple[int, Callable[[Parser, Sequence[Sentence]], list[Result]]]] = {
    "in batches": (1, batched),
    "in batches of another order": (1, shuffled),
    "in two threads": (2, batched),
}


def compare(expected: Sequence[Result], results: Sequence[Result]) -> Differences:
    """Return what differs."""
    pairs = list(zip(expected, results, strict=True))
    moved = (abs(a - b) for one, other in pairs for a, b in zip(_sure(one), _sure(other), strict=False))
    return Differences(
        sentences=len(pairs),
        trees=sum(_trees(one) != _trees(other) for one, other in pairs),
        bytes=sum(one.json() != other.json() for one, other in pairs),
        confidence=max(moved, default=0.0),
    )


def _trees(result: Result) -> tuple[object, ...]:
    return (result.brackets(), result.heads, result.relations, result.tags, result.upos)


def _sure(result: Result) -> list[float]:
    return [span.confidence for span in result.spans] + [arc.confidence for arc in result.arcs]


def sentences_of_sample(count: int) -> list[Sentence]:
    """Return so many sentences, no two of them the same."""
    known = [sentence.words for sentence in segment(plain_text()) if sentence.words]
    rounds = ((number, words) for number in range(count) for words in known)
    return [Sentence(words=(str(number), *words)) for (number, words), _ in zip(rounds, range(count), strict=False)]


def main(argv: list[str] | None = None) -> int:
    """Print the differences; return 1 if a tree differs."""
    parser = argparse.ArgumentParser(prog="benchmarks.sameness", description=__doc__)
    parser.add_argument("model", nargs="?", default="en")
    parser.add_argument("--sentences", type=int, default=1_000)
    parser.add_argument("--file", help="a treebank whose words are parsed; otherwise a text that comes with h3n")
    parser.add_argument("--precision", default="float32,int8")
    options = parser.parse_args(argv)
    if options.file:
        rows = islice(formats.read(options.file), options.sentences)
        sentences = [Sentence(words=row.words) for row in rows if row.words]
    else:
        sentences = sentences_of_sample(options.sentences)
    worst = 0
    for precision in options.precision.split(","):
        expected = alone(h3n.load(options.model, threads=1, precision=precision), sentences)
        for name, (threads, run) in WAYS.items():
            found = compare(expected, run(h3n.load(options.model, threads=threads, precision=precision), sentences))
            worst = max(worst, found.trees)
            print(
                f"{precision}, {name}: of {found.sentences} sentences {found.trees} have other trees, {found.bytes} "
                f"other bytes; a confidence moves by {found.confidence:.1e} at most",
                flush=True,
            )
    return int(worst > 0)


if __name__ == "__main__":
    sys.exit(main())
