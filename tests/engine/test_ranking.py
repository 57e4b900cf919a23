"""Heads are ranked when a decoder asks for them, in any way, from one run of the network."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_args, get_type_hints

import numpy as np
import pytest

import h3n
from h3n.config import Decoding
from h3n.decode import Scores
from h3n.engine.output import Floats
from h3n.engine.ranking import RANKINGS, expected_level, likeliest_level, rank
from h3n.errors import UnknownName, UsageError
from h3n.trees import Sentence

WORDS = ("The", "old", "dog", "near", "the", "river", "saw", "a", "very", "small", "cat", ".")


@dataclass(frozen=True)
class Said:
    """As much of a network's output as rankings look at, for one sentence."""

    scores: Floats
    order_scores: Floats | None = None

    @property
    def lengths(self) -> tuple[int, ...]:
        return (len(self.scores),)

    def levels(self) -> Floats:
        return self.scores

    def order(self) -> Floats | None:
        return self.order_scores


def said(levels: Floats, order: Floats | None = None) -> Any:
    return Said(levels, order)


def arcs() -> Scores:
    """Return the arcs of a tree: 1 is the root word, 0 and 2 hang on it, 3 on 2."""
    arc = np.full((4, 4), -9.0, dtype=np.float32)
    arc[1, 0] = arc[1, 2] = arc[2, 3] = 0.0
    return Scores(arc=arc, root=np.array([-9, 0, -9, -9], dtype=np.float32))


def test_small_levels_rank_first() -> None:
    levels = np.full((3, 32), -20.0, dtype=np.float32)
    levels[0, 0] = levels[1, 1] = levels[2, 1] = 20.0
    levels[2, 30] = 19.0  # the same likeliest level, but less sure of it
    assert likeliest_level(levels).tolist() == [1.0, 0.5, 0.5]
    soft = expected_level(levels)
    assert soft[0] > soft[1] > soft[2]


def test_trees_rank_governors_first_and_then_by_the_word() -> None:
    levels = np.full((4, 32), -20.0, dtype=np.float32)
    for word, level in enumerate([4, 29, 1, 0]):
        levels[word, level] = 20.0
    output = said(levels, np.array([0.5, 0.1, 0.9, 1.0], dtype=np.float32))
    for how in ("tree", "tree-order"):
        (heads,) = rank(output, [arcs()], how)
        assert np.argsort(-heads).tolist() == [1, 2, 3, 0]
    (shallow,) = rank(output, [arcs()], "tree", beyond=4)
    (soft,) = rank(output, [arcs()], "soft")
    assert shallow.tolist() == soft.tolist()
    assert np.argsort(-soft).tolist() == [3, 2, 0, 1]


def test_an_order_that_was_not_learned_is_refused() -> None:
    with pytest.raises(UsageError, match="'order': the model was trained without it; accepted: 'arg-max', 'soft', 'tr"):
        rank(said(np.zeros((4, 32), dtype=np.float32)), [arcs()], "order")
    with pytest.raises(UnknownName, match="unknown head score 'best'"):
        rank(said(np.zeros((4, 32), dtype=np.float32)), [arcs()], "best")


def test_options_and_rankings_have_the_same_names() -> None:
    assert set(get_args(get_type_hints(Decoding)["head_score"])) == set(RANKINGS)


def test_the_network_runs_once_for_all_rankings(tiny_model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    parser = h3n.load(tiny_model)
    engine = parser.engine
    ((_, scored),) = engine.score([Sentence(words=WORDS)])
    assert scored.scores[0].head is None
    monkeypatch.setattr(type(engine.network), "run", None)  # it would fail if it ran again
    heads = {}
    for how in RANKINGS:
        (ranked,) = engine.rank(scored, decoder="h3n", head_score=how)
        assert ranked.head is not None
        heads[how] = ranked.head.tolist()
        assert parser.decode(scored, parser.options(decoder="h3n", head_score=how))[0].joint is not None
    assert len(set(map(tuple, heads.values()))) == len(RANKINGS)
    assert engine.rank(scored, decoder="h3n")[0].head.tolist() == heads[engine.config.decoding.head_score]  # type: ignore[union-attr]
    assert engine.rank(scored, decoder="hpsg")[0].head is None


def test_a_parser_takes_the_head_score_by_the_call(tiny_model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    parser = h3n.load(tiny_model)
    for how in RANKINGS:
        (result,) = parser.parse([list(WORDS)], decoder="h3n", head_score=how)
        options = parser.options(decoder="h3n", head_score=how)
        (expected,) = parser.parse_batch([Sentence(words=WORDS)], options)
        assert result.joint == expected.joint
    monkeypatch.setattr(parser.engine.network, "ordered", False)
    with pytest.raises(UsageError, match="'order': the model was trained without it"):
        parser.parse([list(WORDS)], head_score="order")
