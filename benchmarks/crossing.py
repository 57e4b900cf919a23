"""Ways to let arcs of joint trees cross, on a treebank: governors and relations of each, and how many sentences cross.

    python -m benchmarks.crossing MODEL TREEBANK.conllu [--style NAME]

`agree` is what the parser does (`h3n.decode.crossing`): the best dependency tree in which an arc of the joint tree
counts so much more. `reattach` changes, from the joint tree on, the governor that gains most, as long as one gains
more than so much and makes no cycle (McDonald and Pereira 2006). Phrases are the same in all rows but `mst`.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from itertools import islice

import numpy as np

import h3n
from h3n import formats
from h3n.decode import Parse, Scores, decode_batch
from h3n.decode.crossing import let_cross
from h3n.measure.tables import text_table
from h3n.trees import ROOT, Sentence, crossing_words

AMOUNTS = (0.1, 0.25, 0.5, 1.0, 2.0)


def main(argv: list[str] | None = None) -> int:
    """Print the table."""
    options = argparse.ArgumentParser(
        prog="benchmarks.crossing", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("model")
    options.add_argument("treebank")
    options.add_argument("--style")
    options.add_argument("--limit", type=int, default=0, help="only the first sentences; 0: all")
    given = options.parse_args(argv)
    gold = [one for one in islice(formats.read(given.treebank), given.limit or None) if one.words]
    ways = _ways()
    found: dict[str, dict[int, Sentence]] = {name: {} for name in ways}
    engine = h3n.load(given.model).engine
    inputs = engine.read(dict(enumerate(gold)), styles=[given.style] * len(gold) if given.style else None)
    for numbers, batch in engine.group(inputs):
        scored = engine.score_batch([gold[at] for at in numbers], batch)
        joint = engine.decode(scored, projective=True)
        ready = engine.weigh(scored.scores)
        for name, way in ways.items():
            for at, named in zip(numbers, engine.name(scored, way(ready, joint)), strict=True):
                found[name][at] = named.sentence
    rows = [["way", "UAS", "LAS", "sentences that cross"], ["gold", "", "", _crossing(gold)]]
    rows += [[name, *_scores(gold, parsed), _crossing(parsed.values())] for name, parsed in found.items()]
    print(text_table(rows, left=1))
    return 0


Way = Callable[[Sequence[Scores], Sequence[Parse]], list[Parse]]


def _ways() -> dict[str, Way]:
    ways: dict[str, Way] = {"joint": lambda _, joint: list(joint), "mst": lambda scores, _: decode_batch(scores, "mst")}
    for amount in AMOUNTS:
        ways[f"agree {amount}"] = lambda scores, joint, amount=amount: let_cross(scores, joint, amount)
    for amount in AMOUNTS:
        ways[f"reattach {amount}"] = lambda scores, joint, amount=amount: [
            replace(parse, governors=reattach(one, parse.governors, amount))
            for one, parse in zip(scores, joint, strict=True)
        ]
    return ways


def reattach(scores: Scores, governors: Sequence[int], least: float) -> tuple[int, ...]:
    """Return governors of which none can be changed alone for a gain of more than ``least``."""
    arc, found = np.asarray(scores.arc), list(governors)
    while True:
        gains = np.full(arc.shape, -np.inf)
        for word, governor in enumerate(found):
            if governor != ROOT:
                gains[:, word] = arc[:, word] - arc[governor, word]
        for below in range(len(found)):  # no word may become its own ancestor
            above = below
            while above != ROOT:
                gains[below, above] = -np.inf
                above = found[above]
        governor, word = np.unravel_index(int(gains.argmax()), gains.shape)
        if gains[governor, word] <= least:
            return tuple(found)
        found[int(word)] = int(governor)


def _scores(gold: Sequence[Sentence], parsed: dict[int, Sentence]) -> list[str]:
    words = attached = labelled = 0
    for at, sentence in parsed.items():
        right, guess = gold[at].dependencies, sentence.dependencies
        assert right is not None
        assert guess is not None
        for one, two, relation, guessed in zip(
            right.governors, guess.governors, right.relations, guess.relations, strict=True
        ):
            words += 1
            attached += one == two
            labelled += one == two and relation == guessed
    return [f"{100 * attached / words:.2f}", f"{100 * labelled / words:.2f}"]


def _crossing(sentences: Iterable[Sentence]) -> str:
    trees = [one.dependencies for one in sentences]
    return str(sum(bool(tree and crossing_words(tree.governors)) for tree in trees))


if __name__ == "__main__":
    sys.exit(main())
