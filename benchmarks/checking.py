"""Injected annotation errors found by `h3n check`: `python -m benchmarks.checking FILE.ptb FILE.conllu`.

A third of the errors each: another relation, another governor, another label of a phrase, drawn at random (by their
frequency) in sentences of five words or more, one in each. Printed is how many of them are among the first findings.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from itertools import islice

from h3n import formats
from h3n.trees import ROOT, Dependencies, Sentence, Span, find_cycle, spans_of, strip_tree, tree_of
from h3n.workbench import Finding, check_treebank

Error = tuple[str, int, int, int]  # kind, sentence, start, end


def inject(sentences: Sequence[Sentence], *, count: int, seed: int) -> tuple[list[Sentence], list[Error]]:
    """Return the sentences with errors, and where those are."""
    chance = random.Random(seed)
    changed = list(sentences)
    fit = [at for at, sentence in enumerate(sentences) if len(sentence) >= 5]
    labels = Counter(span.label for sentence in sentences for span in _spans(sentence))
    relations = Counter(name for sentence in sentences for name in _arcs(sentence).relations)
    errors: list[Error] = []
    for number, at in enumerate(chance.sample(fit, count)):
        kind = ("relation", "governor", "label")[number % 3]
        if kind == "label":
            changed[at], start, end = _other_label(sentences[at], labels, chance)
        else:
            change = _other_relation if kind == "relation" else _other_governor
            changed[at], start = change(sentences[at], relations, chance)
            end = start + 1
        errors.append((kind, at + 1, start, end))
    return changed, errors


def _spans(sentence: Sentence) -> tuple[Span, ...]:
    tree = strip_tree(sentence.tree) if sentence.tree is not None else None
    return spans_of(tree) if tree is not None else ()


def _arcs(sentence: Sentence) -> Dependencies:
    if sentence.dependencies is None:
        raise SystemExit("both trees are needed")
    return sentence.dependencies


def _draw(counts: Counter[str], chance: random.Random, without: str) -> str:
    names = [name for name in counts if name != without]
    return chance.choices(names, [counts[name] for name in names])[0]


def _other_relation(sentence: Sentence, relations: Counter[str], chance: random.Random) -> tuple[Sentence, int]:
    arcs = _arcs(sentence)
    word = chance.choice([word for word, governor in enumerate(arcs.governors) if governor != ROOT])
    names = list(arcs.relations)
    names[word] = _draw(relations, chance, names[word])
    return replace(sentence, dependencies=Dependencies(arcs.governors, tuple(names))), word


def _other_governor(sentence: Sentence, _: Counter[str], chance: random.Random) -> tuple[Sentence, int]:
    arcs = _arcs(sentence)
    while True:
        word, other = chance.sample(range(len(sentence)), 2)
        governors = list(arcs.governors)
        if governors[word] in (ROOT, other):
            continue
        governors[word] = other
        if find_cycle(governors) is None:
            return replace(sentence, dependencies=Dependencies(tuple(governors), arcs.relations)), word


def _other_label(sentence: Sentence, labels: Counter[str], chance: random.Random) -> tuple[Sentence, int, int]:
    spans = list(_spans(sentence))
    at = chance.randrange(len(spans))
    spans[at] = replace(spans[at], label=_draw(labels, chance, spans[at].label))
    tree = tree_of(spans, sentence.words, sentence.tags or ("X",) * len(sentence))
    return replace(sentence, tree=tree), spans[at].start, spans[at].end


def found_among(findings: Sequence[Finding], errors: Sequence[Error]) -> Counter[str]:
    """Return how many errors of each kind are among the findings."""
    listed = {(finding.kind, finding.sentence, finding.start, finding.end) for finding in findings}
    return Counter(
        kind
        for kind, sentence, start, end in errors
        if ("phrase" if kind == "label" else "arc", sentence, start, end) in listed
    )


def main(argv: list[str] | None = None) -> int:
    """Print the table; return 0."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("files", nargs=2)
    options.add_argument("--errors", type=int, default=200)
    options.add_argument("--limit", type=int, default=0, help="only the first sentences")
    options.add_argument("--seeds", type=int, default=3)
    given = options.parse_args(argv)
    sentences = list(islice(formats.pair(*map(formats.read, given.files)), given.limit or None))
    for seed in range(given.seeds):
        changed, errors = inject(sentences, count=given.errors, seed=seed)
        findings = check_treebank(changed)
        kinds = Counter(kind for kind, *_ in errors)
        for first in (given.errors, 2 * given.errors, 5 * given.errors):
            hits = found_among(findings[:first], errors)
            parts = ", ".join(f"{kind} {hits[kind]} of {kinds[kind]}" for kind in kinds)
            print(f"seed {seed}: {hits.total()} of {len(errors)} errors in the first {first} findings ({parts})")
    return 0


if __name__ == "__main__":
    sys.exit(main())
