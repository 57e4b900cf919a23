"""What `h3n evaluate --against` adds: how two predictions differ, and whether that is more than chance."""

from __future__ import annotations

from itertools import islice

from h3n import evaluate as score
from h3n import formats
from h3n.cli.scores import BRACKETS, Choices, Printed, check_same_words, read_brackets
from h3n.errors import MismatchError
from h3n.evaluate import SentenceCounts
from h3n.formats import format_to_read


def add_comparison(
    result: Printed,
    files: tuple[str, str, str],
    *,
    format_name: str | None,
    choices: Choices,
    samples: int,
    seed: int,
) -> None:
    """Add the differences between the scores of two predictions of one gold file: (gold, predicted, other)."""
    gold, predicted, other = files
    first, second = (count_file(gold, name, format_name=format_name, choices=choices) for name in (predicted, other))
    if len(first) != len(second):
        raise MismatchError(f"{predicted} has {len(first)} sentences, {other} {len(second)}")
    punctuation = choices.convention.punctuation
    intervals = score.compare_parsers(first, second, punctuation=punctuation, samples=samples, seed=seed)
    result.numbers["against"] = {"file": other, "samples": samples, "seed": seed} | {
        name: {
            "other": round(one.second, 4),
            "difference": round(one.difference, 4),
            "low": round(one.low, 4),
            "high": round(one.high, 4),
            "p": round(one.p, 6),
        }
        for name, one in intervals.items()
    }
    how = f"paired bootstrap over {len(first)} sentences, {samples} samples, seed {seed}"
    result.lines += ["", f"against {other}: {how}"]
    result.lines.append(f"{'':10}{'this':>9}{'other':>9}{'difference':>12}{'95 % interval':>20}{'p':>9}")
    for name, one in intervals.items():
        interval = f"[{one.low:+.2f}, {one.high:+.2f}]"
        row = f"{one.first:9.2f}{one.second:9.2f}{one.difference:+12.2f}{interval:>20}{one.p:9.4f}"
        result.lines.append(f"{name:10}{row}")


def count_file(gold: str, predicted: str, *, format_name: str | None, choices: Choices) -> list[SentenceCounts]:
    """Return the counts of each sentence of a prediction."""
    names = (format_name or format_to_read(gold), format_name or format_to_read(predicted))
    if BRACKETS.issuperset(names):
        sides = (islice(side, choices.limit) for side in read_brackets(gold, predicted, names))
        scores = score.score_brackets(*sides, parameters=choices.parameters, strict=choices.strict)
        return [SentenceCounts(words=one.length, brackets=one) for one in scores]
    counts: list[SentenceCounts] = []
    wanted, found = (
        islice(formats.read(file, format=name), choices.limit)
        for file, name in zip((gold, predicted), names, strict=True)
    )
    for number, (one, other) in enumerate(score.pair(wanted, found), start=1):
        check_same_words(one, other, number, False)
        counts.append(score.count_sentence(one, other, convention=choices.convention))
    return counts
