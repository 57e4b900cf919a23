"""How often a parser is right where it says how sure it is: reliability, calibration error, fitted temperatures.

A confidence is the probability that the network gives a governor or a label of a span of the parse. It is calibrated if
of the choices with confidence 0.8 four in five are right. A temperature each for arcs and for spans, which the scores
are divided by, makes up for a network that is too sure or not sure enough. Spans need the score of no span besides: it
is 0 for the decoder, and learned as a part of whole trees, not as a choice by itself.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from h3n.decode import Parse, Scores
from h3n.engine.confidence import span_label_scores
from h3n.files import write_json
from h3n.measure.accuracy import Gold, ScoredGold, decode_gold, read_gold, score_gold
from h3n.measure.plots import COLOURS, new_figure, save_figure
from h3n.measure.tables import text_table
from h3n.models import ABOUT, read_about
from h3n.parser import Parser, load
from h3n.training.data import Example
from h3n.trees import HELPER, ROOT

BINS = 15
TEMPERATURES = (np.log(0.25), np.log(4.0))  # searched between, as logarithms
NONES = (-8.0, 8.0)
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Fit:
    """What scores are divided by, and what is added to that of choosing nothing before."""

    temperature: float = 1.0
    none: float = 0.0


@dataclass(frozen=True, slots=True)
class Choices:
    """Choices among several scores each: all scores in a row, which of them was chosen, and whether it was right.

    ``sentence`` says which sentence a choice is in, ``has_none`` whether the first score is that of choosing nothing.
    """

    scores: Floats  # (choices, most alternatives); -inf where there are fewer
    chosen: npt.NDArray[np.int64]
    right: npt.NDArray[np.bool_]
    sentence: npt.NDArray[np.int64]
    has_none: bool = False

    def confidences(self, fit: Fit | None = None) -> Floats:
        """Return the probability of what was chosen."""
        fit = fit or Fit()
        table = self.scores / fit.temperature
        if self.has_none:
            table[:, 0] += fit.none / fit.temperature
        rows = np.arange(len(table))
        shares: Floats = np.exp(table[rows, self.chosen] - np.logaddexp.reduce(table, axis=1))
        return shares

    def part(self, keep: npt.NDArray[np.bool_]) -> Choices:
        """Return some of the choices."""
        return Choices(self.scores[keep], self.chosen[keep], self.right[keep], self.sentence[keep], self.has_none)


@dataclass(frozen=True, slots=True)
class Calibration:
    """How sure and how right: as the network comes, and with the numbers that fit best.

    ``fitted_error`` is measured with numbers fitted on the other half of the sentences.
    """

    choices: int
    right: float  # percent
    error: float
    temperature: float
    none: float
    fitted_error: float
    reliability: list[dict[str, float]]
    fitted_reliability: list[dict[str, float]]


def measure_calibration(folder: Path, files: Sequence[str], *, limit: int = 0) -> dict[str, Calibration]:
    """Return the calibration of a saved model's arcs and spans on the sentences of gold files."""
    parser = load(folder, precision="float32")
    gold = read_gold(parser, files, name="gold", limit=limit)
    choices = collect_choices(parser, gold, score_gold(parser, gold))
    return {kind: calibrate(some) for kind, some in choices.items()}


def describe_calibration(calibrations: Mapping[str, Calibration]) -> str:
    """Return a table of calibrations, a row for each kind of choice."""
    rows: list[tuple[str, ...]] = [("", "choices", "right %", "ECE", "temperature", "none", "ECE, fitted")]
    for kind, one in calibrations.items():
        before = (f"{one.choices:,}", f"{one.right:.2f}", f"{one.error:.4f}")
        rows.append((kind, *before, f"{one.temperature:.3f}", f"{one.none:.3f}", f"{one.fitted_error:.4f}"))
    return text_table(rows, left=1)


def collect_choices(
    parser: Parser, gold: Gold, scored: ScoredGold, *, decoder: str | None = None
) -> dict[str, Choices]:
    """Return the choices of governors (``arcs``) and of labels of spans (``spans``) in the parser's own parses."""
    engine = parser.engine
    name, weight = engine.decoder_for(decoder), engine.config.decoding.weight
    parsed, _ = decode_gold(parser, scored, decoder=name, weight=weight)
    found: dict[str, list[Choices]] = {"arcs": [], "spans": []}
    for numbers, part in scored.parts:
        parses = [parsed[number].parse for number in numbers]
        for number, scores, parse in zip(numbers, part.scores, parses, strict=True):
            found["arcs"] += _arc_choices(scores, parse, gold.examples[number], number)
        if any(parse.spans for parse in parses):
            table, labels = span_label_scores(part.output, parses, helper=engine.vocabulary.helper)
            examples = [(number, gold.examples[number]) for number in numbers]
            found["spans"] += _span_choices(
                table.astype(np.float64), labels, parses, examples, engine.vocabulary.labels
            )
    return {kind: _joined(parts) for kind, parts in found.items() if parts}


def _arc_choices(scores: Scores, parse: Parse, example: Example, number: int) -> list[Choices]:
    dependencies = example.sentence.dependencies
    if dependencies is None or not parse.governors or scores.arc is None or scores.root is None:
        return []
    table = np.concatenate([scores.root[None], scores.arc]).T.astype(np.float64)  # (n, 1 + n)
    governors = np.array(parse.governors)
    chosen = np.where(governors == ROOT, 0, governors + 1)
    right = governors == np.array(dependencies.governors)
    return [Choices(table, chosen, right, np.full(len(governors), number))]


def _span_choices(
    table: Floats,
    chosen: npt.NDArray[np.int64],
    parses: Sequence[Parse],
    examples: Sequence[tuple[int, Example]],
    labels: Sequence[str],
) -> list[Choices]:
    """Return the choices of spans; helper spans are not shown to anybody, so they are left out."""
    keep, right, sentence = [], [], []
    for parse, (number, example) in zip(parses, examples, strict=True):
        gold = {(span.start, span.end, span.label) for span in example.spans or ()}
        for start, end, label, _ in parse.spans:
            keep.append(example.spans is not None and labels[label] != HELPER)
            right.append((start, end, labels[label]) in gold)
            sentence.append(number)
    found = Choices(table, chosen, np.array(right), np.array(sentence), has_none=True)
    return [found.part(np.array(keep, dtype=np.bool_))]


def _joined(parts: Sequence[Choices]) -> Choices:
    width = max(part.scores.shape[1] for part in parts)
    padded = [
        np.pad(part.scores, ((0, 0), (0, width - part.scores.shape[1])), constant_values=-np.inf) for part in parts
    ]
    return Choices(
        np.concatenate(padded),
        np.concatenate([part.chosen for part in parts]),
        np.concatenate([part.right for part in parts]),
        np.concatenate([part.sentence for part in parts]),
        parts[0].has_none,
    )


def calibrate(choices: Choices) -> Calibration:
    """Return how well confidences say how often the choice is right, before and after fitting."""
    fit = fit_confidences(choices)
    halves = [choices.part(choices.sentence % 2 == side) for side in (0, 1)]
    crossed = [one.confidences(fit_confidences(other)) for one, other in zip(halves, halves[::-1], strict=True)]
    fitted, right = np.concatenate(crossed), np.concatenate([half.right for half in halves])
    plain = choices.confidences()
    return Calibration(
        choices=len(choices.right),
        right=100 * float(choices.right.mean()),
        error=calibration_error(plain, choices.right),
        temperature=fit.temperature,
        none=fit.none,
        fitted_error=calibration_error(fitted, right),
        reliability=reliability(plain, choices.right),
        fitted_reliability=reliability(fitted, right),
    )


def fit_confidences(choices: Choices) -> Fit:
    """Return the numbers under which it is likeliest that the right choices are right and the others wrong."""

    def loss(temperature: float, none: float) -> float:
        shares = np.clip(choices.confidences(Fit(float(np.exp(temperature)), none)), 1e-7, 1 - 1e-7)
        return float(-np.log(np.where(choices.right, shares, 1 - shares)).mean())

    def cooled(none: float) -> float:
        return _least(lambda temperature: loss(temperature, none), TEMPERATURES)

    none = _least(lambda none: loss(cooled(none), none), NONES) if choices.has_none else 0.0
    return Fit(temperature=round(float(np.exp(cooled(none))), 4), none=round(none, 4))


def _least(function: Callable[[float], float], between: tuple[float, float], *, steps: int = 14) -> float:
    """Return where a function with one valley is least, by golden sections: after 14, to a thousandth of the way."""
    share = (5**0.5 - 1) / 2
    low, high = between
    left, right = high - share * (high - low), low + share * (high - low)
    at_left, at_right = function(left), function(right)
    for _ in range(steps):
        if at_left < at_right:
            high, right, at_right = right, left, at_left
            left = high - share * (high - low)
            at_left = function(left)
        else:
            low, left, at_left = left, right, at_right
            right = low + share * (high - low)
            at_right = function(right)
    return (low + high) / 2


def reliability(confidences: Floats, right: npt.NDArray[np.bool_], *, bins: int = BINS) -> list[dict[str, float]]:
    """Return mean confidence, share of right ones and number of the choices in each bin of confidence."""
    places = np.minimum((confidences * bins).astype(np.int64), bins - 1)
    rows = []
    for place in range(bins):
        inside = places == place
        if inside.any():
            mean, share = float(confidences[inside].mean()), float(right[inside].mean())
            rows.append({"confidence": mean, "right": share, "choices": int(inside.sum())})
    return rows


def calibration_error(confidences: Floats, right: npt.NDArray[np.bool_], *, bins: int = BINS) -> float:
    """Return the expected calibration error: how far the bins' confidences are off, weighted by their size."""
    rows = reliability(confidences, right, bins=bins)
    return sum(row["choices"] * abs(row["confidence"] - row["right"]) for row in rows) / max(len(right), 1)


def store_fits(folder: Path, calibrations: Mapping[str, Calibration]) -> None:
    """Write what was fitted into the options of a saved model; its weights stay as they are."""
    about = read_about(folder)
    decoding: dict[str, Any] = about["config"].setdefault("decoding", {})
    if "arcs" in calibrations:
        decoding["arc_temperature"] = calibrations["arcs"].temperature
    if "spans" in calibrations:
        decoding["span_temperature"] = calibrations["spans"].temperature
        decoding["span_none"] = calibrations["spans"].none
    write_json(folder / ABOUT, about)


def plot_calibration(calibrations: Mapping[str, Calibration], path: Path) -> None:
    """Draw a panel for each kind of choice: the share that is right over confidence, before and after fitting."""
    figure = new_figure(4 * len(calibrations), 4)
    panels = figure.subplots(1, len(calibrations), squeeze=False)[0]
    for panel, (kind, one) in zip(panels, calibrations.items(), strict=True):
        panel.plot([0, 1], [0, 1], color="#999999", linewidth=1)
        curves = ((one.reliability, "as it comes", one.error), (one.fitted_reliability, "fitted", one.fitted_error))
        for (rows, name, error), colour in zip(curves, COLOURS, strict=False):
            x, y = [row["confidence"] for row in rows], [row["right"] for row in rows]
            panel.plot(x, y, marker="o", markersize=4, color=colour, label=f"{name}: ECE {error:.3f}")
        panel.set(title=f"{kind}, temperature {one.temperature:.2f}", xlabel="confidence", ylabel="share right")
        panel.grid(visible=True, alpha=0.3)
        panel.legend()
    save_figure(figure, path)
