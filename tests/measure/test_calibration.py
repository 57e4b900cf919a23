"""Confidences: errors and temperatures on choices whose chances are known; a model keeps what was fitted."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from h3n.decode import Parse, Scores
from h3n.engine.confidence import arc_confidences
from h3n.experiments.grammar import write_treebank
from h3n.measure.accuracy import read_gold, score_gold
from h3n.measure.calibration import (
    Choices,
    Fit,
    calibrate,
    calibration_error,
    collect_choices,
    fit_confidences,
    plot_calibration,
    reliability,
    store_fits,
)
from h3n.model.model import Model
from h3n.parser import Parser, load
from h3n.trees import ROOT


def write_gold(folder: Path) -> list[str]:
    """Write both trees of generated sentences and return the files."""
    write_treebank(folder, sentences={"gold": 12}, seed=5)
    return [str(folder / "gold.ptb"), str(folder / "gold.conllu")]


def drawn(temperature: float, *, count: int = 20_000) -> Choices:
    """Return choices of the best of five whose network is too sure by this temperature."""
    rng = np.random.default_rng(1)
    logits = rng.normal(size=(count, 5)) * 2
    shares = np.exp(logits) / np.exp(logits).sum(1, keepdims=True)
    truth = (shares.cumsum(1) > rng.random((count, 1))).argmax(1)
    chosen = logits.argmax(1)
    return Choices(logits * temperature, chosen, truth == chosen, np.arange(count))


def test_the_error_is_the_distance_of_confidence_and_share() -> None:
    confidences = np.array([0.9, 0.9, 0.9, 0.9, 0.3])
    right = np.array([True, True, False, False, False])
    assert calibration_error(confidences, right, bins=10) == pytest.approx((4 * 0.4 + 0.3) / 5)
    assert reliability(confidences, right, bins=10)[-1] == {
        "confidence": pytest.approx(0.9),
        "right": 0.5,
        "choices": 4,
    }
    assert reliability(np.array([1.0]), np.array([True]))[0]["choices"] == 1


@pytest.mark.parametrize("temperature", [0.5, 1.0, 2.0])
def test_a_temperature_is_found_again(temperature: float) -> None:
    choices = drawn(temperature)
    fit = fit_confidences(choices)
    assert fit.temperature == pytest.approx(temperature, rel=0.06)
    assert fit.none == 0
    found = calibrate(choices)
    assert found.fitted_error < 0.015
    assert found.error < 0.015 if temperature == 1 else found.error > 0.03
    assert found.right == pytest.approx(100 * choices.right.mean())


def test_what_was_added_to_the_score_of_nothing_is_found_again() -> None:
    rng = np.random.default_rng(2)
    logits = rng.normal(size=(20_000, 4)) * 2
    shares = np.exp(logits) / np.exp(logits).sum(1, keepdims=True)
    truth = (shares.cumsum(1) > rng.random((20_000, 1))).argmax(1)
    chosen = 1 + logits[:, 1:].argmax(1)
    scores = logits * 1.5
    scores[:, 0] -= 1.2
    choices = Choices(scores, chosen, truth == chosen, np.arange(20_000), has_none=True)
    fit = fit_confidences(choices)
    assert fit.temperature == pytest.approx(1.5, rel=0.06)
    assert fit.none == pytest.approx(1.2, abs=0.15)
    found = calibrate(choices)
    assert found.error > 0.05
    assert found.fitted_error < 0.015


def test_choices_with_fewer_alternatives() -> None:
    scores = np.array([[0.0, 0.0, -np.inf], [1.0, 0.0, 0.0]])
    choices = Choices(scores, np.array([1, 0]), np.array([True, False]), np.array([0, 1]))
    assert choices.confidences(Fit(2.0))[0] == pytest.approx(0.5)


def test_a_model_is_measured_and_keeps_its_temperatures(tiny_model: Path, tmp_path: Path) -> None:
    files = write_gold(tmp_path)
    parser = load(tiny_model)
    gold = read_gold(parser, files, name="dev")
    choices = collect_choices(parser, gold, score_gold(parser, gold))
    words = sum(len(example.sentence) for example in gold.examples)
    assert len(choices["arcs"].right) == words
    found = {kind: calibrate(some) for kind, some in choices.items()}
    plot_calibration(found, tmp_path / "a.png")
    assert (tmp_path / "a.png").stat().st_size > 5000
    folder = tmp_path / "model"
    shutil.copytree(tiny_model, folder)
    store_fits(folder, found)
    stored = json.loads((folder / "parser.json").read_text(encoding="utf-8"))["config"]["decoding"]
    assert stored["arc_temperature"] == found["arcs"].temperature
    decoding = load(folder).engine.config.decoding
    assert decoding.span_temperature == found["spans"].temperature
    assert decoding.span_none == found["spans"].none != 0


def with_fits(model: Model, *, arcs: Fit, spans: Fit) -> Model:
    """Return the model with these numbers in its options."""
    decoding = replace(
        model.config.decoding,
        arc_temperature=arcs.temperature,
        span_temperature=spans.temperature,
        span_none=spans.none,
    )
    return Model(model.network, model.vocabulary, replace(model.config, decoding=decoding))


def test_confidences_of_results_follow_the_temperatures(tiny_model: Path, tmp_path: Path) -> None:
    model = Model.load(tiny_model)
    parser = Parser(model.engine)
    gold = read_gold(parser, write_gold(tmp_path), name="dev")
    choices = collect_choices(parser, gold, score_gold(parser, gold))
    sentence = gold.examples[0].sentence.words
    for arcs, spans in ((Fit(), Fit()), (Fit(2.0), Fit(0.5, -1.5))):
        [result] = Parser(with_fits(model, arcs=arcs, spans=spans).engine).parse([list(sentence)])
        first = choices["arcs"].part(choices["arcs"].sentence == 0)
        assert [arc.confidence for arc in result.arcs] == pytest.approx(first.confidences(arcs), abs=1e-5)
        first = choices["spans"].part(choices["spans"].sentence == 0)
        assert [span.confidence for span in result.spans] == pytest.approx(first.confidences(spans), abs=1e-5)


def test_barred_arcs_stay_impossible_with_a_low_temperature() -> None:
    never = np.finfo(np.float32).min
    arc = np.array([[never, np.log(0.8)], [np.log(0.3), never]], dtype=np.float32)
    scores = Scores(arc=arc, root=np.log(np.array([0.7, 0.2], dtype=np.float32)))
    sure = arc_confidences(scores, Parse((), (ROOT, 0), 0.0), temperature=0.5)
    assert sure == pytest.approx((0.49 / 0.58, 0.64 / 0.68))
