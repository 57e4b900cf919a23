"""Fifty everyday and classic sentences: `python -m benchmarks.everyday [MODEL] [--style NAME]`.

Prints the share of the sentences in examples/sentences that a model gets right (phrases, governors, governors with
relations, all of it; punctuation left out), and those that it does not.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from h3n.evaluate import Convention, SentenceCounts, count_sentence
from h3n.measure.accuracy import read_gold
from h3n.trees import Sentence

if TYPE_CHECKING:
    from h3n.parser import Parser, Result


KINDS = ("phrases", "governors", "relations", "all")


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether a sentence's phrases with their labels, governors and relations are all as wanted."""

    gold: Sentence
    result: Result
    phrases: bool
    governors: bool
    relations: bool

    @property
    def all(self) -> bool:
        return self.phrases and self.relations


def judge_sentences(parser: Parser, files: Sequence[str], *, style: str | None = None) -> list[Verdict]:
    """Parse the sentences of gold files, words given and tags not, and return what is right of each.

    Punctuation does not count, as in all scores. ``style`` is that of the annotation that the parser is to follow.
    """
    gold = read_gold(parser, files, name="sentences")
    sentences = [example.sentence for example in gold.examples]
    results = parser.parse([list(sentence.words) for sentence in sentences], style=style)
    return [_verdict(sentence, result) for sentence, result in zip(sentences, results, strict=True)]


def _verdict(gold: Sentence, result: Result) -> Verdict:
    counts = count_sentence(gold, result.sentence, convention=Convention())
    return Verdict(gold, result, _same_brackets(counts), *_same_arcs(counts))


def _same_brackets(counts: SentenceCounts) -> bool:
    if counts.brackets is None:
        return False
    brackets = counts.brackets.counts
    return brackets.matched == brackets.gold == brackets.predicted


def _same_arcs(counts: SentenceCounts) -> tuple[bool, bool]:
    if not counts.attachments:
        return False, False
    arcs = counts.attachments["unicode"]
    return arcs.governors == arcs.words, arcs.relations == arcs.words


def shares_right(verdicts: Sequence[Verdict]) -> dict[str, float]:
    """Return the percent of sentences that are right, by what has to be."""
    return {kind: 100 * sum(bool(getattr(one, kind)) for one in verdicts) / max(len(verdicts), 1) for kind in KINDS}


SENTENCES = Path(__file__).parents[1] / "examples" / "sentences"
FILES = (str(SENTENCES / "everyday.ptb"), str(SENTENCES / "everyday.conllu"))


def main(argv: list[str] | None = None) -> int:
    """Print the shares; return 0."""

    import h3n

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
