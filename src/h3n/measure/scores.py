"""Scores of files of trees as `h3n evaluate` prints them, and how two predictions differ."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any, TypeAlias

from h3n import evaluate as score
from h3n import formats
from h3n.convert import join, levels
from h3n.errors import H3nError, InputError, MismatchError, Place, UsageError
from h3n.evaluate import (
    BracketCounts,
    Bracketed,
    BracketScore,
    BracketTotals,
    Convention,
    Parameters,
    SentenceCounts,
    TreebankTotals,
)
from h3n.formats import format_to_read
from h3n.formats.layout import SAMPLE, guess_layout
from h3n.formats.lines import read_lines
from h3n.formats.options import Problems
from h3n.trees import Sentence, strip_tree

BRACKETS = frozenset({"brackets", "spmrl"})
MANY_WORDS = 200  # so many tags are not all right by chance


Watch: TypeAlias = Callable[[Iterable[Any], str], Iterable[Any]]


def _unwatched(sentences: Iterable[Any], _: str) -> Iterable[Any]:
    return sentences


@dataclass(frozen=True, slots=True, kw_only=True)
class Choices:
    """What is scored, and how."""

    convention: Convention
    strict: bool = True
    table: str | None = None
    limit: int | None = None
    leaf_ancestor: bool = False
    by_label: bool = False
    by_length: bool = False
    conll18: bool = False

    @property
    def parameters(self) -> Parameters:
        return self.convention.parameters


@dataclass(slots=True)
class ScoreReport:
    """Scores as numbers and as lines of text, and the sentences that were left out."""

    numbers: dict[str, Any] = field(default_factory=dict)
    lines: list[str] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)


def score_files(
    gold: str, predicted: str, *, names: tuple[str, str], choices: Choices, watch: Watch = _unwatched
) -> ScoreReport:
    """Return the scores of two files in the formats of these names; ``watch`` sees the sentences go by."""
    if BRACKETS.issuperset(names):
        if choices.conll18:
            raise UsageError(f"--metrics conll18 is for dependencies; {gold} and {predicted} have brackets")
        return _score_brackets(gold, predicted, names, choices, watch)
    if choices.table or choices.leaf_ancestor:
        raise UsageError(f"--report and --leaf-ancestor are for two files of brackets; these are {' and '.join(names)}")
    sides = [
        islice(watch(formats.read(source, format=name), label), choices.limit)
        for source, name, label in zip((gold, predicted), names, ("gold", "predicted"), strict=True)
    ]
    if choices.conll18:
        return _score_conll18(gold, *sides)
    return _score_sentences(gold, *sides, choices=choices)


def _score_brackets(gold: str, predicted: str, names: tuple[str, str], choices: Choices, watch: Watch) -> ScoreReport:
    left: Iterable[Bracketed]
    right: Iterable[Bracketed]
    left, right = (islice(side, choices.limit) for side in read_brackets(gold, predicted, names))
    result = ScoreReport()
    totals = BracketTotals(choices.parameters)
    if choices.leaf_ancestor or choices.by_label:
        left, right = wanted, found = list(left), list(right)
    scores = _noting_errors(
        score.score_brackets(watch(left, "scoring"), right, parameters=choices.parameters, strict=choices.strict),
        result.problems,
    )
    if choices.table == "evalb":
        result.lines += score.evalb_lines(scores, totals)
    else:
        for one in scores:
            totals.add(one)
    _require(totals.all.sentences, gold)
    if choices.table == "compact":
        result.lines.append(score.compact_line(totals.all, file=predicted))
    if choices.table is None:
        _add_brackets(result, totals, choices)
        _note_equal_tags(result, totals.all)
    if choices.table is None and choices.leaf_ancestor:
        _add_leaves(result, wanted, found, choices.parameters)
    if choices.table is None and choices.by_label:
        _add_labels(result, wanted, found, choices.parameters)
    return result


def _note_equal_tags(result: ScoreReport, counts: BracketCounts) -> None:
    """Say that all tags are right, which no parser manages: brackets cannot hold a comment on where tags are from."""
    if counts.words == counts.tags and counts.words >= MANY_WORDS:
        note = f"All {counts.words} tags are right; perhaps the parser was given them (h3n parse --retag)."
        result.lines += ["", note]


def read_brackets(gold: str, predicted: str, names: tuple[str, str]) -> list[Iterator[Bracketed]]:
    """Return both sides, read line by line, which is EVALB's way and much the fastest, if each has a tree a line."""
    if all(_has_lines(source) for source in (gold, predicted)):
        return [_bracketed_lines(source) for source in (gold, predicted)]
    return [_bracketed_trees(source, name) for source, name in zip((gold, predicted), names, strict=True)]


def _has_lines(source: str) -> bool:
    # What is not a regular file (a pipe, standard input) can be read only once.
    if not Path(source).is_file():
        return False
    sample: list[str] = []
    size = 0
    for line in read_lines(source, Problems(None)):
        sample.append(line)
        size += len(line)
        if size > SAMPLE:
            break
    return guess_layout("\n".join(sample)) == "lines"


def _bracketed_lines(source: str) -> Iterator[Bracketed]:
    for number, line in enumerate(read_lines(source, Problems(None)), start=1):
        yield score.bracketed_line(line, Place(source, number))


def _bracketed_trees(source: str, name: str) -> Iterator[Bracketed]:
    for sentence in formats.read(source, format=name):
        yield score.bracketed_tree(sentence.tree, sentence.place)


def _noting_errors(scores: Iterable[BracketScore], problems: list[str]) -> Iterator[BracketScore]:
    for one in scores:
        if one.problem is not None:
            problems.append(f"left out: {one.problem}")
        yield one


def _require(sentences: int, gold: str) -> None:
    if not sentences:
        raise InputError(f"{gold}: no sentence to score")


def _add_brackets(result: ScoreReport, totals: BracketTotals, choices: Choices) -> None:
    parameters = choices.parameters
    every, short = score.bracket_numbers(totals.all), score.bracket_numbers(totals.short)
    result.numbers |= every | {
        "labelled": parameters.labelled,
        "parameters": score.parameter_words(parameters),
        f"up_to_{parameters.cutoff_length}_words": short,
    }
    result.lines += [
        f"brackets: {result.numbers['parameters']}",
        f"{'':22}{'all':>9}  <= {parameters.cutoff_length} words",
    ]
    result.lines += [f"{name.replace('_', ' '):22}{_shown(every[name]):>9}{_shown(short[name]):>12}" for name in every]
    if choices.by_length:
        lengths = {score.band_name(ten): counts for ten, counts in sorted(totals.by_length.items())}
        _add_breakdown(result, "length", lengths)


def _add_breakdown(
    result: ScoreReport, name: str, parts: Mapping[str, score.BracketCounts | score.LabelCounts]
) -> None:
    _add_table(result, f"by_{name}", name, {part: score.part_numbers(counts) for part, counts in parts.items()})


def _add_table(result: ScoreReport, key: str, name: str, rows: Mapping[str, Mapping[str, float]]) -> None:
    """Add a table with a row for each part, all with the same columns."""
    result.numbers[key] = {
        part: {column: round(value, 4) for column, value in row.items()} for part, row in rows.items()
    }
    columns = next(iter(rows.values()), {})
    result.lines += ["", f"{name:14}" + "".join(f"{column:>11}" for column in columns)]
    result.lines += [
        f"{part:14}" + "".join(f"{_shown(value):>11}" for value in row.values()) for part, row in rows.items()
    ]


def _add_leaves(result: ScoreReport, gold: list[Bracketed], predicted: list[Bracketed], parameters: Parameters) -> None:
    total = score.LeafCounts()
    for wanted, found in zip(gold, predicted, strict=False):
        total += score.count_leaves(wanted, found, parameters=parameters)
    numbers = score.leaf_numbers(total)
    result.numbers |= numbers
    result.lines += ["", *(f"{name.replace('_', ' '):26}{value:8.2f}" for name, value in numbers.items())]


def _add_labels(result: ScoreReport, gold: list[Bracketed], predicted: list[Bracketed], parameters: Parameters) -> None:
    labels = score.count_labels(gold, predicted, parameters=parameters)
    _add_breakdown(result, "label", {label or "(none)": counts for label, counts in labels.items()})


def _score_conll18(gold: str, wanted: Iterable[Sentence], found: Iterable[Sentence]) -> ScoreReport:
    given = sentences = 0

    def counted() -> Iterator[Sentence]:
        nonlocal given, sentences
        for sentence in found:
            given += score.has_given_tags(sentence)
            sentences += 1
            yield sentence

    scores = score.score_conll18(wanted, counted())
    _require(scores["Sentences"].gold, gold)
    result = ScoreReport({**score.conll18_numbers(scores)}, score.conll18_lines(scores))
    _note_given_tags(result, given, sentences)
    return result


def _note_given_tags(result: ScoreReport, given: int, sentences: int) -> None:
    """Say that scores of tags are scores of what the parser was given."""
    if given:
        result.numbers["sentences_with_given_tags"] = given
        what = f"The tags of {given} of {sentences} sentences were given to the parser"
        result.lines += ["", f"{what}: their scores say nothing of it; h3n parse --retag predicts them."]


def _score_sentences(
    gold: str, wanted: Iterator[Sentence], found: Iterator[Sentence], *, choices: Choices
) -> ScoreReport:
    totals = TreebankTotals(choices.convention)
    for one, other in score.pair(wanted, found):
        arcs = one.dependencies is not None and other.dependencies is not None
        trees = one.tree is not None and other.tree is not None
        if not (trees or arcs):
            raise MismatchError(f"{one.place or gold}: gold and predicted have no kind of tree in common")
        check_same_words(one, other, totals.sentences + 1, arcs)
        classes = {"head_accuracy": (_levels(one), _levels(other))} if trees and arcs else {}
        totals.add(score.count_sentence(one, other, convention=choices.convention, classes=classes))
        if choices.by_label:
            totals.add_details(one, other)
    _require(totals.sentences, gold)
    return _joint_result(totals, choices)


def check_same_words(gold: Sentence, predicted: Sentence, number: int, hint: bool) -> None:
    try:
        score.check_words(gold, predicted, number)
    except MismatchError as error:
        more = " (--metrics conll18 aligns words that were cut differently)" if hint else ""
        raise MismatchError(f"{error}{more}") from None


def _levels(sentence: Sentence) -> tuple[int, ...] | None:
    tree = strip_tree(sentence.tree, functions=False) if sentence.tree is not None else None
    if tree is None or sentence.dependencies is None:
        return None
    try:
        return levels(join(tree, sentence.dependencies).tree)
    except H3nError as error:
        raise MismatchError(f"{sentence.place or 'sentence'}: {error}") from None


def _joint_result(totals: TreebankTotals, choices: Choices) -> ScoreReport:
    result = ScoreReport()
    if totals.brackets.all.sentences:
        _add_brackets(result, totals.brackets, choices)
        if choices.by_label:
            _add_breakdown(result, "label", {label or "(none)": one for label, one in totals.labels.counts().items()})
    if totals.attachments:
        _add_attachments(result, totals, choices)
    result.numbers |= {name: round(counts.accuracy, 4) for name, counts in totals.classes.items()}
    if totals.classes:
        result.lines.append("")
    result.lines += [f"{name.replace('_', ' '):26}{counts.accuracy:8.2f}" for name, counts in totals.classes.items()]
    _note_given_tags(result, totals.tags_given, totals.sentences)
    return result


def _add_attachments(result: ScoreReport, totals: TreebankTotals, choices: Choices) -> None:
    main = totals.convention.punctuation
    result.numbers |= score.attachment_numbers(totals.attachments, main=main)
    result.numbers["punctuation"] = main
    result.lines += [""] * bool(result.lines) + [f"{'dependencies':26}{'UAS':>8}{'LAS':>8}{'words':>9}"]
    for name, counts in sorted(totals.attachments.items(), key=lambda item: item[0] != main):
        result.lines.append(f"{_PUNCTUATION[name]:26}{counts.uas:8.2f}{counts.las:8.2f}{counts.words:9d}")
    if choices.by_length:
        bands = {score.band_name(ten): counts for ten, counts in sorted(totals.attachments_by_length.items())}
        rows = {name: {"UAS": one.uas, "LAS": one.las, "words": one.words} for name, one in bands.items()}
        _add_table(result, "attachment_by_length", "length", rows)
    if choices.by_label:
        _add_breakdown(result, "relation", totals.relation_counts())


_PUNCTUATION = {
    "all": "all words",
    "unicode": "no punctuation (unicode)",
    "tag": "no punctuation (tag)",
    "relation": "no punctuation (relation)",
}


def _shown(value: float) -> str:
    return f"{value:.2f}" if isinstance(value, float) else str(value)


def add_comparison(
    result: ScoreReport,
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
