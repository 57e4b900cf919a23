"""Around in a result: from a word to those below it, to another word, and to its phrase."""

from __future__ import annotations

import importlib.util
import sys
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from h3n.errors import MissingExtra, TreeError, UsageError
from h3n.parser import Arc, LabelledSpan, Parser, Result
from h3n.parser.navigation import children_of, path_between, subtree_of
from h3n.trees import ROOT, Dependencies, HeadedSpan, JointTree, Sentence

WORDS = ("the", "very", "old", "dog", "sleeps", "well")
GOVERNORS = (3, 2, 3, 4, ROOT, 4)
RELATIONS = ("det", "advmod", "amod", "nsubj", "root", "advmod")
SPANS = ((0, 6, "S", 4), (0, 4, "NP-SBJ", 3), (1, 3, "ADJP", 2), (4, 6, "VP", 4), (5, 6, "ADVP::NP", 5))


@pytest.fixture
def result() -> Result:
    joint = JointTree(WORDS, ("X",) * 6, tuple(HeadedSpan(*span) for span in SPANS), RELATIONS)
    sentence = Sentence(words=WORDS, dependencies=Dependencies(GOVERNORS, RELATIONS))
    arcs = tuple(Arc(word, governor, RELATIONS[word], 1.0) for word, governor in enumerate(GOVERNORS))
    spans = tuple(LabelledSpan(*span, 1.0) for span in SPANS)
    return Result(sentence=sentence, joint=joint, spans=spans, arcs=arcs)


def test_below_a_word(result: Result) -> None:
    assert result.root == 4
    assert result.children(4) == (3, 5)
    assert result.children(3) == (0, 2)
    assert result.children(0) == ()
    assert result.children(ROOT) == (4,)
    assert result.subtree(3) == (0, 1, 2, 3)
    assert result.subtree(2) == (1, 2)
    assert result.subtree(5) == (5,)
    assert result.subtree(ROOT) == result.subtree(4) == tuple(range(6))


def test_from_word_to_word(result: Result) -> None:
    assert result.path(1, 5) == (1, 2, 3, 4, 5)
    assert result.path(5, 0) == (5, 4, 3, 0)
    assert result.path(0, 2) == (0, 3, 2)
    assert result.path(3, 1) == (3, 2, 1)
    assert result.path(2, 2) == (2,)
    assert result.path(2, ROOT) == (2, 3, 4, ROOT)


def test_from_a_word_to_its_largest_phrase(result: Result) -> None:
    assert [span and span.label for span in map(result.phrase, range(6))] == [
        None,
        None,
        "ADJP",
        "NP-SBJ",
        "S",
        "ADVP::NP",
    ]
    assert [(span.start, span.end) for span in result.noun_phrases] == [(0, 4), (5, 6)]


trees = st.integers(1, 12).flatmap(
    lambda n: st.tuples(st.permutations(range(n)), st.tuples(*(st.integers(0, max(at - 1, 0)) for at in range(n))))
)


def governors_from(drawn: tuple[list[int], tuple[int, ...]]) -> list[int]:
    """Return a tree in which every word hangs on one that stands before it in the order drawn."""
    order, above = drawn
    governors = [ROOT] * len(order)
    for at, word in enumerate(order[1:], start=1):
        governors[word] = order[above[at]]
    return governors


@given(drawn=trees)
def test_ways_agree_with_their_definitions(drawn: tuple[list[int], tuple[int, ...]]) -> None:
    governors = governors_from(drawn)
    words = range(len(governors))
    for word in words:
        below = {word}
        for _ in words:
            below |= {child for one in below for child in children_of(governors, one)}
        assert subtree_of(governors, word) == tuple(sorted(below))
        for other in words:
            way = path_between(governors, word, other)
            assert (way[0], way[-1], len(set(way))) == (word, other, len(way))
            assert all(governors[one] == two or governors[two] == one for one, two in pairwise(way))


def test_a_chain_of_many_words_is_no_trouble() -> None:
    governors = list(range(-1, 50_000))
    assert len(subtree_of(governors, 25_000)) == 25_001
    assert len(path_between(governors, 0, 50_000)) == 50_001


@pytest.mark.parametrize("word", [6, -2])
def test_a_word_that_is_not_there(result: Result, word: int) -> None:
    for ask in (result.children, result.subtree, result.phrase, lambda one: result.path(0, one)):
        with pytest.raises(
            UsageError, match=rf"word {word} of a sentence of 6 words; accepted: 0 to 5, and -1, the root"
        ):
            ask(word)


def test_what_was_not_parsed_says_why(parser: Parser) -> None:
    (phrases,) = parser.parse("The dog sleeps.", decoder="cky")
    assert phrases.root is None
    assert phrases.noun_phrases
    for ask in (phrases.children, phrases.subtree, lambda word: phrases.path(word, word)):
        with pytest.raises(TreeError, match="has no dependencies: it was parsed with a decoder for phrase structure"):
            ask(1)
    (arcs,) = parser.parse("The dog sleeps.", decoder="mst")
    assert arcs.noun_phrases == ()
    for result in (phrases, arcs):
        with pytest.raises(TreeError, match="has no phrases with heads: it was parsed with a decoder that finds one"):
            result.phrase(1)
    with pytest.raises(TreeError, match="has no dependencies: too long"):
        Result(sentence=Sentence(words=("a",)), note="too long").subtree(0)


def test_png(result: Result, monkeypatch: pytest.MonkeyPatch) -> None:
    if importlib.util.find_spec("resvg_py") is not None:
        picture = result.png(theme="light")
        assert picture.startswith(b"\x89PNG")
        width, wider = (int.from_bytes(result.png(scale=scale)[16:20], "big") for scale in (1, 2))
        assert wider == pytest.approx(2 * width, abs=2)
    monkeypatch.setitem(sys.modules, "resvg_py", None)
    with pytest.raises(MissingExtra, match="PNG pictures need the extra 'png'"):
        result.png()
