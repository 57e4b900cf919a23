"""Scores as plain numbers under fixed names: what `h3n evaluate --json` prints and a training log keeps. In percent,
except for counts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

from h3n.evaluate.attachment import AttachmentCounts
from h3n.evaluate.conll18 import AlignedCounts
from h3n.evaluate.evalb import BracketCounts, share
from h3n.evaluate.leaves import LeafCounts
from h3n.evaluate.parameters import Parameters
from h3n.evaluate.totals import LabelCounts

Numbers: TypeAlias = dict[str, float]
DIGITS = 4


def bracket_numbers(counts: BracketCounts) -> Numbers:
    """Return labelled precision, recall, F1 and exact match, and what else EVALB reports."""
    return _rounded(
        {
            "LP": counts.precision,
            "LR": counts.recall,
            "LF1": counts.f1,
            "exact": counts.exact,
            "tagging": counts.tagging,
            "average_crossing": counts.average_crossing,
            "none_crossing": share(counts.none_crossing, counts.valid),
            "two_or_less_crossing": share(counts.few_crossing, counts.valid),
            "matched": counts.matched,
            "gold": counts.gold,
            "predicted": counts.predicted,
            "sentences": counts.sentences,
            "valid": counts.valid,
            "errors": counts.errors,
            "skipped": counts.skipped,
        }
    )


def part_numbers(counts: BracketCounts | LabelCounts) -> Numbers:
    """Return precision, recall and F1 of the brackets of one label or of sentences of one length."""
    return _rounded(
        {
            "LP": counts.precision,
            "LR": counts.recall,
            "LF1": counts.f1,
            "gold": counts.gold,
            "predicted": counts.predicted,
        }
    )


def attachment_numbers(counts: Mapping[str, AttachmentCounts], *, main: str) -> Numbers:
    """Return UAS and LAS, plain for the way ``main`` of leaving out punctuation, and with the name of every way."""
    plain = counts[main]
    numbers: Numbers = {"UAS": plain.uas, "LAS": plain.las, "UAS_all": counts["all"].uas, "LAS_all": counts["all"].las}
    numbers |= {"exact_UAS": plain.exact_unlabelled, "exact_LAS": plain.exact}
    for name, one in counts.items():
        numbers |= {f"UAS_{name}": one.uas, f"LAS_{name}": one.las, f"words_{name}": one.words}
    return _rounded(numbers | {"words": plain.words, "sentences": plain.sentences})


def conll18_numbers(scores: Mapping[str, AlignedCounts]) -> dict[str, float | Numbers]:
    """Return F1 per metric under its name, and precision, recall and aligned accuracy of each under ``details``."""
    details: Numbers = {}
    for name, counts in scores.items():
        details |= {f"{name}_precision": counts.precision, f"{name}_recall": counts.recall}
        if counts.aligned_accuracy is not None:
            details[f"{name}_aligned"] = counts.aligned_accuracy
    return {**_rounded({name: counts.f1 for name, counts in scores.items()}), "details": _rounded(details)}


def leaf_numbers(counts: LeafCounts) -> Numbers:
    """Return the leaf-ancestor score as a mean over words and over sentences."""
    return _rounded({"leaf_ancestor": counts.word_mean, "leaf_ancestor_sentences": counts.sentence_mean})


def parameter_words(parameters: Parameters) -> str:
    """Return in one line which parameters were used."""
    variant = "EVALB_SPMRL" if parameters.keep_words else "EVALB"
    words = [parameters.name, f"as {variant}"]
    if not parameters.labelled:
        words.append("unlabelled")
    if parameters.unparsed != "skip":
        words.append(f"unparsed sentences counted ({parameters.unparsed})")
    return ", ".join(words)


def _rounded(numbers: Numbers) -> Numbers:
    return {name: value if isinstance(value, int) else round(value, DIGITS) for name, value in numbers.items()}
