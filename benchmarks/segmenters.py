"""Learned segmenters beside UDPipe 1's: `python -m benchmarks.segmenters --cache DIR [NAME ...]`.

For every language of the table (`src/h3n/treebanks/tables/world.toml`) whose sentences tell how they are written, both
learn from the first 3,000 of them and are scored on dev's raw text by the metrics of the CoNLL 2018 shared task. Ours
has its default options; UDPipe is as in `benchmarks.udpipe`. Nothing is chosen on dev. A line of the results is written
for each language as it is finished, and those that are there are not done again; `--show` prints the table of them.

Needs `ufal.udpipe` and the environment variable H3N_DATA. Prepared data and models of UDPipe go to the cache.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from benchmarks.udpipe import LIMIT, TOKENIZER, WORLD, prepared, result_lines, sentences_of, train_model
from h3n import formats
from h3n.evaluate import score_segmentation
from h3n.text.documents import BREAK, documents, has_text
from h3n.treebanks import known_recipes
from h3n.trees import Sentence

RESULTS = Path(__file__).parents[1] / "results" / "segmenters.json"
METRICS = ("Words", "Sentences")


def main(argv: list[str] | None = None) -> int:
    """Train and score what is not in the results yet, print the table; return 0."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("names", nargs="*", help="languages of the table; without any, all")
    options.add_argument("--cache", type=Path, help="a folder for prepared data and models of UDPipe")
    options.add_argument("--data", type=Path, default=os.environ.get("H3N_DATA"), help="folder of treebanks")
    options.add_argument("--results", type=Path, default=RESULTS)
    options.add_argument("--show", action="store_true", help="print the table of what is there")
    given = options.parse_args(argv)
    if not given.show:
        if given.data is None or given.cache is None:
            print("not measured: name a folder of treebanks with --data or in H3N_DATA, and another one with --cache")
            return 0
        known = [name.removeprefix(WORLD) for name in known_recipes() if name.startswith(WORLD)]
        for name in given.names or known:
            finished = {json.loads(line)["name"] for line in result_lines(given.results)}  # others may be at it too
            if name not in finished and (line := measure(name, given.data, given.cache)) is not None:
                with given.results.open("a", encoding="utf-8") as stream:
                    stream.write(json.dumps(line) + "\n")
                print(json.dumps(line), flush=True)
    print("\n".join(table(given.results)))
    return 0


def measure(name: str, data: Path, cache: Path) -> dict[str, object] | None:
    """Return the scores of both on a language, or None where sentences do not tell how they are written."""
    from ufal.udpipe import Pipeline, ProcessingError

    from h3n.config import Segmenter
    from h3n.training.segmenter import blocks_of, learn_segmenter

    folder = prepared(name, data, cache)
    train = list(islice(filter(has_text, formats.read(folder / "train.conllu")), LIMIT))
    dev = list(formats.read(folder / "dev.conllu"))
    if not train or not all(map(has_text, dev)):
        return None
    text = BREAK.join(document.text for document in documents(dev))
    start = time.process_time()
    ours = learn_segmenter(blocks_of(train), options=Segmenter())
    seconds = time.process_time() - start
    start = time.process_time()
    sentences = list(ours.segment(text))
    rate = len(text) / (time.process_time() - start)
    peer = train_model(train, TOKENIZER, "none", "none", cache / f"{name}.tokenizer.udpipe")
    theirs = Pipeline(peer, "tokenize", "none", "none", "conllu").process(text, ProcessingError())
    return {
        "name": name,
        "train": len(train),
        "dev": len(dev),
        "seconds": round(seconds),
        "characters_per_second": round(rate),
        "h3n": scores(dev, sentences),
        "udpipe": scores(dev, sentences_of(theirs)),
    }


def scores(gold: list[Sentence], ours: list[Sentence]) -> dict[str, float]:
    """Return F1 of words and sentences."""
    counted = score_segmentation(gold, ours)
    return {metric: round(counted[metric].f1, 2) for metric in METRICS}


def table(results: Path) -> Iterator[str]:
    """Yield the lines of a table in Markdown, and how often ours is above."""
    rows = sorted((json.loads(line) for line in result_lines(results)), key=lambda row: row["name"])
    yield "| language | train | words, h3n | UDPipe 1 | sentences, h3n | UDPipe 1 | above on both |"
    yield "|---|---|---|---|---|---|---|"
    above = []
    for row in rows:
        better = [row["h3n"][metric] > row["udpipe"][metric] for metric in METRICS]
        above.append(all(better))
        cells = [f"{row[side][metric]:.2f}" for metric in METRICS for side in ("h3n", "udpipe")]
        yield f"| {row['name']} | {row['train']} | {' | '.join(cells)} | {'yes' if above[-1] else 'no'} |"
    yield f"\nabove on both in {sum(above)} of {len(rows)}"


if __name__ == "__main__":
    sys.exit(main())
