"""How much of h3n's rate is left inside spaCy: `python -m benchmarks.spacy [MODEL] [--texts FILE]`.

The same texts, a paragraph each, go through `Parser.parse` and through a pipeline of spaCy with its tokenizer and the
component h3n. Processor time on one thread, the two in turns, the fastest of several runs each.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

SENTENCES = Path(__file__).parents[1] / "examples" / "sentences" / "everyday.conllu"
TARGET = 0.7  # at least this share of the rate


def main(argv: list[str] | None = None) -> int:
    """Print words per second of both and their ratio; return 1 if it misses the target."""
    import spacy

    import h3n
    from h3n.formats import read
    from h3n.measure.timing import least
    from h3n.text import written

    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("model", nargs="?", default="en")
    options.add_argument("--texts", help="a text a line; without it the sentences of examples/sentences, in tens")
    options.add_argument("--repeat", type=int, default=3)
    given = options.parse_args(argv)
    if given.texts:
        texts = Path(given.texts).read_text(encoding="utf-8").splitlines()
    else:
        sentences = [written(sentence) for sentence in read(SENTENCES)]
        texts = [" ".join(sentences[at : at + 10]) for at in range(0, len(sentences), 10)] * 4
    parser = h3n.load(given.model, threads=1)
    nlp = spacy.blank("en")
    nlp.add_pipe("h3n", config={"model": given.model, "threads": 1})
    words = sum(len(result) for result in parser.parse(texts))
    tokens = sum(len(doc) for doc in nlp.pipe(texts))
    alone, inside = [], []
    for _ in range(given.repeat):
        alone.append(least(lambda: list(parser.parse(texts)), repeat=1))
        inside.append(least(lambda: list(nlp.pipe(texts)), repeat=1))
    rates = words / min(alone), tokens / min(inside)
    print(f"h3n {rates[0]:,.0f} words/s, in spaCy {rates[1]:,.0f} words/s: {rates[1] / rates[0]:.0%} of the rate")
    return 0 if rates[1] / rates[0] >= TARGET else 1


if __name__ == "__main__":
    sys.exit(main())
