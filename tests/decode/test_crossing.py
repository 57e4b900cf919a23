"""Arcs of joint parses that may cross."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import h3n
from h3n.decode import Constraints, Parse, Scores, decode_batch
from h3n.trees import find_cycle

from .samples import sentences

JOINT = ["auto", "hpsg", "h3n"]


def worth(scores: Scores, parse: Parse) -> float:
    arc, root = np.asarray(scores.arc, float), np.asarray(scores.root, float)
    return float(sum(root[m] if h == -1 else arc[h, m] for m, h in enumerate(parse.governors)))


@pytest.mark.parametrize("decoder", JOINT)
@settings(deadline=None, max_examples=60)
@given(scores=sentences(min_words=1, max_words=12), agreement=st.floats(0, 3))
def test_arcs_move_only_where_that_is_worth_it(decoder: str, scores: Scores, agreement: float) -> None:
    (joint,) = decode_batch([scores], decoder)
    (free,) = decode_batch([scores], decoder, agreement=agreement)
    assert (free.spans, free.score) == (joint.spans, joint.score)
    moved = sum(one != two for one, two in zip(joint.governors, free.governors, strict=True))
    assert free.governors.count(-1) == 1
    assert find_cycle(free.governors) is None
    assert worth(scores, free) >= worth(scores, joint) + moved * agreement - 1e-3


@settings(deadline=None, max_examples=60)
@given(scores=sentences(min_words=1, max_words=12))
def test_without_a_preference_the_best_tree_of_all_is_found(scores: Scores) -> None:
    (best,) = decode_batch([scores], "mst")
    (free,) = decode_batch([scores], "hpsg", agreement=0.0)
    assert worth(scores, free) == pytest.approx(best.score, abs=1e-3)
    (joint,) = decode_batch([scores], "hpsg", agreement=1e6)
    assert joint == decode_batch([scores], "hpsg")[0]


@settings(deadline=None, max_examples=60)
@given(scores=sentences(min_words=3, max_words=10))
def test_constraints_hold_for_arcs_that_cross(scores: Scores) -> None:
    (best,) = decode_batch([scores], "hpsg", agreement=0.0)
    word = next(m for m, h in enumerate(best.governors) if h != -1)
    governor = best.governors[word]
    forbidden = Constraints(forbid_arcs=((governor, word),))
    (other,) = decode_batch([scores], "hpsg", agreement=0.0, constraints=[forbidden])
    assert other.governors[word] != governor
    required = Constraints(require_arcs=((governor, word),))
    (same,) = decode_batch([scores], "hpsg", agreement=0.0, constraints=[required])
    assert same.governors[word] == governor


def test_decoders_of_one_tree_are_left_alone() -> None:
    zeros = np.zeros((4, 4), np.float32)
    scores = Scores(arc=np.array(zeros), root=np.zeros(4, np.float32), full=np.zeros((5, 5), np.float32))
    for decoder in ("mst", "eisner"):
        assert decode_batch([scores], decoder, agreement=0.0) == decode_batch([scores], decoder)


def test_a_stranded_preposition() -> None:
    parser = h3n.load("en")
    (free,) = parser.parse("Who did you talk to?")
    (projective,) = parser.parse("Who did you talk to?", projective=True)
    assert (free.crossing, free.governors[4], projective.crossing) == ((4,), 0, ())
    assert free.tree == projective.tree
    assert "to   IN  1 case" in free.pretty()
    assert free.svg() != projective.svg()
    assert free.joint is not None
    assert projective.joint is not None
    assert free.joint.spans == projective.joint.spans
    assert h3n.Result.from_dict(free.to_dict()).crossing == (4,)
