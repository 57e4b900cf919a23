"""Phrases from dependencies over a folder of CoNLL-U files: what is lifted, what comes back, and how fast.

``python -m benchmarks.phrases [FOLDER]`` prints the table of docs/phrases.md, a line per language; without a folder
the ``ud`` folder of ``$H3N_DATA``. Every sentence is checked: the words stay in order, and joining and splitting gives
back the phrases and the governors they stand for.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from collections import defaultdict
from dataclasses import asdict, dataclass
from pathlib import Path

from h3n import formats
from h3n.convert import join, split
from h3n.convert.phrases import to_phrases
from h3n.trees import Sentence, leaves

COLUMNS = ("language", "sentences", "words", "non-projective %", "phrases", "lifted", "governors recovered %")


@dataclass(slots=True)
class Figures:
    sentences: int = 0
    words: int = 0
    crossing: int = 0
    phrases: int = 0
    lifted: int = 0
    failures: int = 0
    seconds: float = 0.0

    def add(self, sentence: Sentence) -> None:
        """Make the phrases of a sentence and count them; a sentence whose trees do not come back is a failure."""
        assert sentence.dependencies is not None
        started = time.process_time()
        made = to_phrases(sentence.dependencies, sentence.words, sentence.upos)
        self.seconds += time.process_time() - started
        joined = join(made.tree, sentence.dependencies)
        same = tuple(leaf.word for leaf in leaves(made.tree)) == sentence.words
        self.failures += not (same and split(joined.tree) == (made.tree, made.dependencies))
        self.sentences += 1
        self.words += len(sentence)
        self.crossing += made.lifted > 0
        self.phrases += joined.counts.spans
        self.lifted += made.lifted

    def row(self, name: str) -> str:
        share = 100 * (self.words - self.lifted) / max(self.words, 1)
        crossing = 100 * self.crossing / max(self.sentences, 1)
        cells = (name, f"{self.sentences:,}", f"{self.words:,}", f"{crossing:.2f}", f"{self.phrases:,}",
                 f"{self.lifted:,}", f"{share:.2f}")  # fmt: skip
        return f"| {' | '.join(cells)} |"


def measure(folder: Path) -> dict[str, Figures]:
    """Return the figures of each treebank: the part of a file's name before the first hyphen."""
    found: dict[str, Figures] = defaultdict(Figures)
    for file in sorted(folder.rglob("*.conllu*")):
        for sentence in formats.read(file):
            found[file.name.partition("-")[0]].add(sentence)
    return dict(sorted(found.items()))


def total(figures: dict[str, Figures]) -> Figures:
    """Return the sums."""
    return Figures(*(sum(values) for values in zip(*(asdict(f).values() for f in figures.values()), strict=True)))


def main(argv: list[str] | None = None) -> int:
    """Print the table; exit code 1 if a sentence failed."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.phrases", description=__doc__)
    parser.add_argument("folder", nargs="?", type=Path)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args(argv)
    folder = options.folder or (Path(os.environ["H3N_DATA"]) / "ud" if "H3N_DATA" in os.environ else None)
    if folder is None or not folder.is_dir():
        print("no folder of CoNLL-U files: name one, or set H3N_DATA")
        return 0
    figures = measure(folder)
    figures["all"] = total(figures)
    if options.json:
        print(json.dumps({name: asdict(found) for name, found in figures.items()}, indent=2))
    else:
        print(f"| {' | '.join(COLUMNS)} |", f"|{'|'.join('---' for _ in COLUMNS)}|", sep="\n")
        print("\n".join(found.row(name) for name, found in figures.items()))
        rate = figures["all"].sentences / max(figures["all"].seconds, 1e-9)
        print(f"\n{figures['all'].failures} failures; {rate:,.0f} sentences per second")
    return int(figures["all"].failures > 0)


if __name__ == "__main__":
    raise SystemExit(main())
