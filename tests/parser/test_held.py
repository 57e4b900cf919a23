"""Dependencies that a sentence has are kept, and phrases are found that agree with them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from h3n.convert.joint import governors_of, join
from h3n.decode import EXACT_UP_TO, Constraints
from h3n.errors import UsageError
from h3n.parser import Parser
from h3n.parser.held import held_arcs
from h3n.trees import ROOT, Dependencies, Sentence

WORDS = ("The", "man", "sees", "the", "dog", "with", "the", "telescope", ".")
# The dog has the telescope; a relation that the model has never seen.
GOVERNORS = (1, 2, ROOT, 4, 2, 7, 7, 4, 2)
OWN = Dependencies(GOVERNORS, ("det", "nsubj", "root", "det", "obj", "case", "det", "nmod:odd", "punct"))
OTHER = Dependencies(
    (1, 2, ROOT, 4, 2, 7, 7, 2, 2), ("det", "nsubj", "root", "det", "obj", "case", "det", "obl", "punct")
)
CROSSING = Dependencies((2, 2, ROOT, 5, 2, 2, 7, 4, 2), OWN.relations)


@pytest.mark.parametrize("own", [OWN, OTHER])
def test_arcs_and_relations_stay_and_phrases_agree(parser: Parser, own: Dependencies) -> None:
    (result,) = parser.parse([Sentence(words=WORDS, dependencies=own)], keep_arcs=True)
    assert result.sentence.dependencies == own
    assert result.tree is not None
    assert [arc.relation for arc in result.arcs] == list(own.relations)
    assert governors_of(join(result.tree, own).tree) == own.governors  # no arc is moved: the two trees agree
    assert result.joint is not None
    assert result.joint.relations == own.relations


def test_without_the_option_trees_are_made_anew(parser: Parser) -> None:
    (result,) = parser.parse([Sentence(words=WORDS, dependencies=OWN)])
    assert "nmod:odd" not in result.relations


def test_arcs_that_cross_are_kept_without_phrases(parser: Parser) -> None:
    sentences = [Sentence(words=WORDS, dependencies=CROSSING), Sentence(words=WORDS, dependencies=OWN)]
    crossing, other = parser.parse(sentences, keep_arcs=True)
    assert crossing.sentence.dependencies == CROSSING
    assert crossing.tree is None
    assert crossing.joint is None
    assert not crossing.spans
    assert len(crossing.arcs) == len(WORDS)
    assert 0.0 < crossing.confidence < other.confidence
    assert other.tree is not None


def test_a_sentence_without_arcs_gets_both_trees(parser: Parser) -> None:
    (result,) = parser.parse([Sentence(words=WORDS)], keep_arcs=True)
    assert result.governors
    assert result.tree is not None
    assert result == next(parser.parse([Sentence(words=WORDS)], decoder="auto"))


def test_a_long_sentence_is_not_held() -> None:
    count = EXACT_UP_TO + 1
    chain = Dependencies((ROOT, *range(count - 1)), ("dep",) * count)
    assert held_arcs(Sentence(words=("a",) * count, dependencies=chain)) is None
    short = Sentence(words=("a",) * 3, dependencies=Dependencies((ROOT, 0, 1), ("dep",) * 3))
    assert held_arcs(short) == Constraints(require_arcs=((-1, 0), (0, 1), (1, 2)))


def test_what_does_not_go_together_is_refused(parser: Parser) -> None:
    with pytest.raises(UsageError, match="both constraints and keep_arcs"):
        parser.parse([WORDS], keep_arcs=True, constraints=Constraints())
    with pytest.raises(UsageError, match="keep_arcs with decoder 'h3n'"):
        parser.parse([WORDS], keep_arcs=True, decoder="h3n")


def test_the_mean_confidence_counts_arcs_and_phrases(parser: Parser) -> None:
    (result,) = parser.parse(words=[list(WORDS)])
    parts = [*result.arcs, *result.spans]
    assert result.confidence == pytest.approx(sum(part.confidence for part in parts) / len(parts))
    assert replace(result, arcs=(), spans=()).confidence == 0.0
