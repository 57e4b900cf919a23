"""Phrases from dependencies over a folder of CoNLL-U files: what is lifted, what comes back, and how fast.

``python -m benchmarks.phrases [FOLDER]`` prints the table of docs/phrases.md, a line per language; without a folder
the ``ud`` folder of ``$H3N_DATA``. Every sentence is checked: the words stay in order, and joining and splitting gives
back the phrases and the governors they stand for.
"""

from __future__ import annotations

import argparse
import json
import os
from dataclasses import asdict
from pathlib import Path

from h3n.measure.phrases import Figures, measure_phrases, total
from h3n.measure.tables import markdown_table

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
