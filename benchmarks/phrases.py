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
from h3n.convert import join, split, to_phrases
from h3n.errors import TreeError
from h3n.measure.tables import markdown_table
from h3n.trees import Sentence, leaves


@dataclass(slots=True)
class Figures:
    """What became of the sentences of a treebank."""

    sentences: int = 0
    words: int = 0
    crossing: int = 0
    phrases: int = 0
    lifted: int = 0
    failures: int = 0
    seconds: float = 0.0

    def add(self, sentence: Sentence) -> None:
        """Make the phrases of a sentence and count them; a sentence whose trees do not come back is a failure."""
        if sentence.dependencies is None:
            raise TreeError(f"{sentence.place}: no dependencies; phrases are made from them")
        started = time.process_time()
        phrases = to_phrases(sentence.dependencies, sentence.words, sentence.upos, upos=sentence.upos)
        self.seconds += time.process_time() - started
        joined = join(phrases.tree, sentence.dependencies)
        same = tuple(leaf.word for leaf in leaves(phrases.tree)) == sentence.words
        self.failures += not (same and split(joined.tree) == (phrases.tree, phrases.dependencies))
        self.sentences += 1
        self.words += len(sentence)
        self.crossing += phrases.lifted > 0
        self.phrases += joined.counts.spans
        self.lifted += phrases.lifted


def measure_phrases(folder: Path) -> dict[str, Figures]:
    """Return the figures of each treebank: the part of a file's name before the first hyphen."""
    figures: dict[str, Figures] = defaultdict(Figures)
    for file in sorted(folder.rglob("*.conllu*")):
        for sentence in formats.read(file):
            figures[file.name.partition("-")[0]].add(sentence)
    return dict(sorted(figures.items()))


def total(figures: dict[str, Figures]) -> Figures:
    """Return the sums."""
    return Figures(*(sum(values) for values in zip(*(asdict(f).values() for f in figures.values()), strict=True)))


COLUMNS = ("language", "sentences", "words", "non-projective %", "phrases", "lifted", "governors recovered %")


def cells(name: str, found: Figures) -> list[str]:
    """Return a line of the table."""
    share = 100 * (found.words - found.lifted) / max(found.words, 1)
    crossing = 100 * found.crossing / max(found.sentences, 1)
    sizes = [f"{found.sentences:,}", f"{found.words:,}", f"{crossing:.2f}"]
    return [name, *sizes, f"{found.phrases:,}", f"{found.lifted:,}", f"{share:.2f}"]


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
    figures = measure_phrases(folder)
    figures["all"] = total(figures)
    if options.json:
        print(json.dumps({name: asdict(found) for name, found in figures.items()}, indent=2))
    else:
        print(markdown_table(COLUMNS, [cells(name, found) for name, found in figures.items()]))
        rate = figures["all"].sentences / max(figures["all"].seconds, 1e-9)
        print(f"\n{figures['all'].failures} failures; {rate:,.0f} sentences per second")
    return int(figures["all"].failures > 0)


if __name__ == "__main__":
    raise SystemExit(main())
