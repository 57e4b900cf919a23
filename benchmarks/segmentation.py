"""How well and how fast plain text is cut into sentences and words, beside the libraries one could take instead.

`python -m benchmarks.segmentation` with the environment variable H3N_DATA naming a folder of treebanks. The raw text
of each document is rebuilt from the sentences of GUM and EWT, a blank line between paragraphs. Sentences, tokens and
words are scored as in the CoNLL 2018 shared task. Libraries that are not installed are left out. Sentence splitters
get a paragraph at a time; word tokenizers, ours too, get one gold sentence at a time.
"""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

from h3n.measure.documents import read_documents
from h3n.measure.segmentation import measure_splitters, measure_tokenizers, score_layouts

TREEBANKS = {"GUM": "gum/{part}.conllu.xz", "EWT": "ud/en_ewt-ud-{part}.conllu.xz"}


def main(argv: list[str] | None = None) -> int:
    """Print a table per treebank; return 0."""
    parser = argparse.ArgumentParser(prog="benchmarks.segmentation", description=__doc__)
    parser.add_argument("--data", type=Path, default=os.environ.get("H3N_DATA"), help="folder of treebanks")
    parser.add_argument("--part", default="dev", choices=["train", "dev"])
    parser.add_argument("--repeat", type=int, default=5, help="runs of which the fastest counts")
    options = parser.parse_args(argv)
    if options.data is None:
        print("not measured: name a folder of treebanks with --data or in H3N_DATA")
        return 0
    for name, path in TREEBANKS.items():
        documents = list(read_documents(Path(options.data) / path.format(part=options.part)))
        print(f"{name} {options.part}: {sum(len(d.gold) for d in documents)} sentences, {len(documents)} documents")
        for layout, scores in score_layouts(documents):
            figures = "   ".join(f"{metric} {value:.2f}" for metric, value in scores.items())
            print(f"  h3n, {layout:32} {figures}")
        for one in measure_splitters(documents, repeat=options.repeat):
            print(f"  sentences  {one.name:28} F1 {one.f1:6.2f} {one.rate:9.0f} sentences/s")
        for one in measure_tokenizers(documents, repeat=options.repeat):
            print(f"  words      {one.name:28} F1 {one.f1:6.2f} {one.rate:9.0f} words/s")
    return 0


if __name__ == "__main__":
    sys.exit(main())
