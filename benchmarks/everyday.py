"""Fifty everyday and classic sentences: `python -m benchmarks.everyday [MODEL] [--style NAME]`.

Prints the share of the sentences in examples/sentences that a model gets right (phrases, governors, governors with
relations, all of it; punctuation left out), and those that it does not.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

SENTENCES = Path(__file__).parents[1] / "examples" / "sentences"
FILES = (str(SENTENCES / "everyday.ptb"), str(SENTENCES / "everyday.conllu"))


def main(argv: list[str] | None = None) -> int:
    """Print the shares; return 0."""
    import h3n
    from h3n.measure.everyday import judge_sentences, shares_right

    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("model", nargs="?", default="en")
    options.add_argument("--style", help="the style of annotation to follow, instead of the model's usual one")
    options.add_argument("--json", action="store_true")
    given = options.parse_args(argv)
    verdicts = judge_sentences(h3n.load(given.model), FILES, style=given.style)
    shares = shares_right(verdicts)
    if given.json:
        wrong = [" ".join(one.gold.words) for one in verdicts if not one.all]
        print(json.dumps({"sentences": len(verdicts), "right": shares, "wrong": wrong}, indent=1))
        return 0
    print(f"{len(verdicts)} sentences; right: " + ", ".join(f"{kind} {share:.0f} %" for kind, share in shares.items()))
    for one in verdicts:
        if not one.all:
            parts = [name for name in ("phrases", "governors", "relations") if not getattr(one, name)]
            print(f"\n{' '.join(one.gold.words)}\n  not right: {', '.join(parts)}\n  {one.result.brackets()}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
