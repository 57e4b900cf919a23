"""What native code says of its own confidence against the same in numpy."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

import h3n
from h3n.engine.confidence import Sharing, arc_confidences, governor_confidences, span_confidences
from h3n.engine.native import is_built
from h3n.engine.output import Floats, Numbers, Output
from h3n.trees import Sentence

TEXTS = ("She sleeps .", "Go !", "The old dog of my neighbour saw the house that he had not found before .", "No")


@dataclass
class Labelling:
    """An output that only scores labels: what is made of them is left to numpy."""

    output: Output

    @property
    def lengths(self) -> tuple[int, ...]:
        return self.output.lengths

    def label_scores(self, sentence: Numbers, start: Numbers, end: Numbers) -> Floats:
        return self.output.label_scores(sentence, start, end)


@pytest.mark.skipif(not is_built(), reason="there is no native code for networks")
@pytest.mark.parametrize(("temperature", "none"), [(1.0, 0.0), (1.3, 1.2), (0.5, -2.0)])
def test_native_confidences_are_those_of_numpy(temperature: float, none: float) -> None:
    engine = h3n.load("en", precision="int8").engine
    sentences = [Sentence(words=tuple(text.split())) for text in TEXTS]
    helper = engine.vocabulary.helper
    for _, scored in engine.score(sentences):
        output, parses = scored.output, engine.decode(scored)
        plain = Labelling(output)
        assert isinstance(output, Sharing)
        assert not isinstance(plain, Sharing)
        arcs = governor_confidences(output, scored.scores, parses, temperature=temperature)
        spans = span_confidences(output, parses, helper=helper, temperature=temperature, none=none)
        for one, scores, parse in zip(arcs, scored.scores, parses, strict=True):
            np.testing.assert_allclose(one, arc_confidences(scores, parse, temperature=temperature), atol=1e-5)
        expected = span_confidences(plain, parses, helper=helper, temperature=temperature, none=none)  # type: ignore[arg-type]
        for one, other in zip(spans, expected, strict=True):
            np.testing.assert_allclose(one, other, atol=1e-5)


@pytest.mark.skipif(not is_built(), reason="there is no native code for networks")
def test_what_is_not_in_the_batch_is_refused() -> None:
    engine = h3n.load("en", precision="int8").engine
    [(_, scored)] = engine.score([Sentence(words=("She", "sleeps"))])
    output, one = scored.output, np.array([0], dtype=np.int64)
    assert isinstance(output, Sharing)
    with pytest.raises(ValueError, match="governor is not in its sentence"):
        output.governor_shares(np.array([0, 3], dtype=np.int64), temperature=1.0)
    for label in (0, len(engine.vocabulary.labels)):
        with pytest.raises(ValueError, match="no such label"):
            output.label_shares(one, one, one + 2, one + label, temperature=1.0, none=0.0)
    with pytest.raises(ValueError, match="not in its sentence"):
        output.label_shares(one, one, one + 3, one + 1, temperature=1.0, none=0.0)
