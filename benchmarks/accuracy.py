"""One model, all decoders and head scores: `python -m benchmarks.accuracy MODEL FILE... [--limit N]`.

Prints LF1, UAS and LAS of a trained parser on gold files that hold the same sentences (brackets and dependencies).
Gold words, no gold tags; brackets as EVALB with Collins' parameters and no top label; attachment without words of
punctuation only. The last column is the CPU time of decoding.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from h3n.model.model import Model

WEIGHTS = (0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8)
SHOWN = ("LP", "LR", "LF1", "UAS", "LAS")


def with_head_score(parser: Model, name: str) -> Model:
    """Return the parser with another way to rank heads."""
    from h3n.model.model import Model
    from h3n.model.scoring import HEAD_SCORES

    if name not in HEAD_SCORES:
        raise ValueError(name)
    decoding = replace(parser.config.decoding, head_score=name)  # type: ignore[arg-type]
    return Model(parser.network, parser.vocabulary, replace(parser.config, decoding=decoding))


def main(argv: list[str] | None = None) -> int:
    from h3n.config import Treebank
    from h3n.model.model import Model
    from h3n.training import load_examples
    from h3n.training.evaluation import bare, compare

    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("model")
    options.add_argument("files", nargs="+")
    options.add_argument("--limit", type=int, default=0)
    options.add_argument("--json", action="store_true")
    given = options.parse_args(argv)
    loaded = Model.load(given.model)
    treebank = Treebank(files=tuple(given.files), limit=given.limit)
    examples = load_examples([treebank], data=loaded.config.data)
    sentences = [bare(example.sentence, tags=loaded.config.encoder.tags) for example in examples]
    rows: list[dict[str, object]] = []

    def show(name: str, parser: Model, decoder: str, weight: float) -> None:
        started = time.process_time()
        found = {
            at: parsed
            for numbers, part in scored
            for at, parsed in zip(numbers, parser.decode(part, decoder=decoder, weight=weight), strict=True)
        }
        seconds = time.process_time() - started
        scores = compare(examples, [found[at] for at in range(len(examples))])
        rows.append({"decoder": name, "weight": weight, "seconds": round(seconds, 2)} | scores)
        if not given.json:
            figures = "  ".join(f"{key} {scores[key]:.2f}" for key in SHOWN if key in scores)
            print(f"{name:16} {weight:.1f}  {figures}  {seconds:.1f} s", flush=True)

    head_scores = ("arg-max", "soft", "tree", *(("order", "tree-order") if loaded.config.scorers.order else ()))
    for head_score in head_scores:
        parser = with_head_score(loaded, head_score)
        scored = list(parser.score(sentences))
        for weight in WEIGHTS:
            show(f"h3n, {head_score}", parser, "h3n", weight)
    for name in ("cky", "mst", "eisner", "hpsg"):
        for weight in WEIGHTS if name == "hpsg" else (0.5,):
            show(name, loaded, name, weight)
    if given.json:
        print(json.dumps(rows, indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main())
