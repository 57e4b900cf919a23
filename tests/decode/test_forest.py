"""The k best trees, probabilities and samples against an enumeration of all distinct trees."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from h3n.decode import (
    Constraints,
    Parse,
    Scores,
    best_parses,
    decode_batch,
    distributions,
    forest_reference,
    least_risk,
    native,
    sample_parses,
)
from h3n.errors import DecodeError, UnknownName, UsageError

from .enumeration import arc_score, dependency_trees, distinct_trees
from .samples import check_parse, random_scores, sentences

NAMES = ["cky", "eisner", "hpsg", "h3n"]
Shape = tuple[tuple[tuple[int, int, int], ...], tuple[int, ...]]


def shape_of(parse: Parse) -> Shape:
    return tuple(sorted((i, j, head) for i, j, _, head in parse.spans)), parse.governors


@pytest.mark.parametrize("name", NAMES)
@settings(deadline=None, max_examples=40)
@given(scores=sentences(max_words=4), best=st.sampled_from([1, 3, 10, 5000]))
def test_the_best_trees_are_those_of_the_enumeration(name: str, scores: Scores, best: int) -> None:
    trees = distinct_trees(scores, name)
    (found,) = best_parses([scores], name, best=best)
    assert [parse.score for parse in found] == sorted(trees.values(), reverse=True)[:best]
    assert len({shape_of(parse) for parse in found}) == len(found)
    for parse in found:
        assert trees[shape_of(parse)] == parse.score
        check_parse(parse, scores, name)


@pytest.mark.parametrize("name", NAMES)
@settings(deadline=None, max_examples=40)
@given(scores=sentences(max_words=4))
def test_probabilities_are_those_of_the_enumeration(name: str, scores: Scores) -> None:
    trees = distinct_trees(scores, name)
    total = np.logaddexp.reduce(list(trees.values()))
    (found,) = distributions([scores], name)
    assert found.log_partition == pytest.approx(total, abs=1e-5)
    shares = {tree: math.exp(score - total) for tree, score in trees.items()}
    assert found.entropy == pytest.approx(sum(p * (total - trees[tree]) for tree, p in shares.items()), abs=1e-4)
    n = len(scores)
    spans, arcs = np.zeros((n + 1, n + 1)), np.zeros((n + 1, n))
    heads: Counter[tuple[int, int, int]] = Counter()
    for (cells, governors), share in shares.items():
        for i, j, head in cells:
            spans[i, j] += share
            heads[i, j, head] += share
        for word, governor in enumerate(governors):
            arcs[governor, word] += share
    if found.spans is not None:
        assert found.spans == pytest.approx(spans, abs=1e-5)
    if found.arcs is not None and found.roots is not None:
        assert np.vstack([found.arcs, found.roots]) == pytest.approx(arcs, abs=1e-5)
    if found.heads is not None:
        for cell, share in zip(found.heads[0].tolist(), found.heads[1].tolist(), strict=True):
            assert share == pytest.approx(heads.pop(tuple(cell), 0.0), abs=1e-5)
        assert max(heads.values(), default=0.0) < 1.01e-4


@pytest.mark.parametrize("name", NAMES)
def test_longer_sentences_keep_the_sums(name: str) -> None:
    rng = np.random.default_rng(3)
    for words in (1, 2, 9, 17, 33):
        scores = random_scores(rng, words)
        (found,) = distributions([scores], name)
        (parses,) = best_parses([scores], name, best=20)
        assert parses[0].score == decode_batch([scores], name)[0].score
        assert [parse.score for parse in parses] == sorted((parse.score for parse in parses), reverse=True)
        assert len({shape_of(parse) for parse in parses}) == len(parses)
        assert sum(found.probability(parse) for parse in parses) <= 1 + 1e-6
        for parse in parses:
            check_parse(parse, scores, name)
        if found.arcs is not None and found.roots is not None:
            assert found.arcs.sum(axis=0) + found.roots == pytest.approx(np.ones(words), abs=1e-5)
        if found.spans is not None:
            assert found.spans[0, words] == pytest.approx(1.0, abs=1e-5)


@pytest.mark.parametrize("name", ["cky", "hpsg", "h3n"])
@settings(deadline=None, max_examples=40)
@given(data=st.data(), seed=st.integers(0, 2**32 - 1))
def test_constraints_hold_for_all_trees(name: str, data: st.DataObject, seed: int) -> None:
    scores = random_scores(np.random.default_rng(seed), 4)
    required = data.draw(st.sampled_from([(0, 2), (1, 3), (1, 4), (2, 3)]))
    forbidden = data.draw(st.sampled_from([(2, 4), (0, 3), (3, 4)]))
    wanted = Constraints(require_spans=(required,), forbid_spans=(forbidden,))
    trees = {
        tree: score
        for tree, score in distinct_trees(scores, name).items()
        if required in {cell[:2] for cell in tree[0]} and forbidden not in {cell[:2] for cell in tree[0]}
    }
    (found,) = best_parses([scores], name, best=5000, constraints=[wanted])
    assert [parse.score for parse in found] == sorted(trees.values(), reverse=True)
    (given,) = distributions([scores], name, constraints=[wanted])
    assert given.log_partition == pytest.approx(np.logaddexp.reduce(list(trees.values())), abs=1e-5)


@pytest.mark.parametrize("name", NAMES)
def test_samples_come_as_often_as_they_are_probable(name: str) -> None:
    scores = random_scores(np.random.default_rng(4), 4, low=-1, high=1)
    trees = distinct_trees(scores, name)
    total = np.logaddexp.reduce(list(trees.values()))
    count = 20_000
    (drawn,) = sample_parses([scores], name, count=count, seed=1)
    assert (drawn,) == tuple(sample_parses([scores], name, count=count, seed=1))
    assert (drawn,) != tuple(sample_parses([scores], name, count=count, seed=2))
    often = Counter(map(shape_of, drawn))
    assert set(often) <= set(trees)
    for tree, score in trees.items():
        share = math.exp(score - total)
        assert abs(often[tree] / count - share) < 5 * math.sqrt(share * (1 - share) / count) + 1e-4


def test_least_risk_is_the_best_tree_where_there_is_no_doubt_and_a_tree_elsewhere() -> None:
    rng = np.random.default_rng(5)
    for words in (0, 1, 2, 6, 15):
        scores = random_scores(rng, words)
        check_parse(least_risk(scores), scores, "hpsg")
        sure = Scores(
            **{f: getattr(scores, f) * np.float32(1000) for f in ("full", "open", "arc", "root")}, label=scores.label
        )
        sure = replace(sure, arc=sure.arc + rng.normal(size=(words, words)).astype(np.float32) * 90)
        assert least_risk(sure).governors == decode_batch([sure], "hpsg")[0].governors


def test_what_cannot_be_answered_is_refused(scores: Scores) -> None:
    with pytest.raises(UnknownName, match="unknown decoder 'mst'"):
        best_parses([scores], "mst", best=2)
    with pytest.raises(UsageError, match="0 best trees"):
        best_parses([scores], best=0)
    with pytest.raises(UsageError, match="0 samples"):
        sample_parses([scores], count=0, seed=1)
    with pytest.raises(UsageError, match="`cky` finds one kind of tree"):
        least_risk(scores, "cky")
    with pytest.raises(
        DecodeError, match=r"sentence 0 of the batch: the sums over all trees of 9 words take more than 0 MB"
    ):
        distributions([scores], "h3n", memory_limit=1000)
    odd = replace(scores, open=np.maximum(scores.open, 1))
    with pytest.raises(DecodeError, match="a span without a label scores other than 0"):
        distributions([odd], "cky")
    nothing = replace(scores, root=np.full(9, -np.inf, dtype=np.float32))
    with pytest.raises(DecodeError, match="no tree has a finite score"):
        best_parses([nothing], "hpsg", best=2)


@pytest.mark.parametrize("name", NAMES)
@settings(deadline=None, max_examples=25)
@given(scores=sentences(max_words=7), best=st.sampled_from([1, 4, 30]))
def test_the_plain_twin_finds_trees_of_the_same_scores(name: str, scores: Scores, best: int) -> None:
    (found,) = best_parses([scores], name, best=best)
    twins = forest_reference.best_parses(scores, name, best=best)
    assert [parse.score for parse in twins] == [parse.score for parse in found]
    for parse in twins:
        check_parse(parse, scores, name)


@pytest.mark.parametrize("name", [*NAMES, "mst"])
@settings(deadline=None, max_examples=25)
@given(scores=sentences(max_words=9))
def test_the_plain_twin_finds_the_same_probabilities(name: str, scores: Scores) -> None:
    scores = replace(scores, arc=np.clip(scores.arc, -9, 9), root=np.clip(scores.root, -9, 9))
    (found,), twin = distributions([scores], name), forest_reference.distribution(scores, name)
    assert found.log_partition == pytest.approx(twin.log_partition, abs=1e-4)
    assert found.entropy == pytest.approx(twin.entropy, abs=1e-3)
    for field in ("spans", "arcs", "roots"):
        ours, theirs = getattr(found, field), getattr(twin, field)
        assert (ours is None) == (theirs is None)
        if ours is not None:
            assert ours == pytest.approx(theirs, abs=2e-5)


@settings(deadline=None, max_examples=40)
@given(scores=sentences(max_words=5))
def test_probabilities_of_crossing_trees_are_those_of_the_enumeration(scores: Scores) -> None:
    scores = replace(scores, arc=np.clip(scores.arc, -9, 9), root=np.clip(scores.root, -9, 9))
    n = len(scores)
    trees = {g: sum(arc_score(scores, h, m) for m, h in enumerate(g)) for g in dependency_trees(n, projective=False)}
    total = np.logaddexp.reduce(list(trees.values()))
    arcs, entropy = np.zeros((n + 1, n)), 0.0
    for governors, score in trees.items():
        share = math.exp(score - total)
        entropy += share * (total - score)
        for word, governor in enumerate(governors):
            arcs[governor, word] += share
    (found,) = distributions([scores], "mst")
    for one in (found, forest_reference.distribution(scores, "mst")):
        assert one.arcs is not None
        assert one.roots is not None
        assert one.log_partition == pytest.approx(total, abs=1e-6)
        assert one.entropy == pytest.approx(entropy, abs=1e-4)
        assert np.vstack([one.arcs, one.roots]) == pytest.approx(arcs, abs=1e-5)
        assert one.spans is None


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("spread", [0.1, 3.0, 300.0])
def test_numbers_out_of_the_range_of_32_bits_are_no_trouble(name: str, spread: float) -> None:
    """Flat scores have more trees than a float can count, steep ones weights that it has no place for."""
    rng = np.random.default_rng(6)
    n = 90
    full = (rng.normal(size=(n + 1, n + 1)) * spread).astype(np.float32)
    arc, root = ((rng.normal(size=shape) * spread).astype(np.float32) for shape in ((n, n), (n,)))
    head = rng.normal(size=n).astype(np.float32)
    scores = Scores(full=full, open=np.maximum(full, 0), arc=arc, root=root, head=head)
    (found,), (best,) = distributions([scores], name), decode_batch([scores], name)
    assert found.log_partition >= best.score - 1e-3
    assert np.isfinite(found.entropy)
    if found.arcs is not None and found.roots is not None:
        assert found.arcs.sum(axis=0) + found.roots == pytest.approx(np.ones(n), abs=1e-4)
    (drawn,) = sample_parses([scores], name, count=300, seed=3)
    mean = np.mean([found.log_partition - parse.score for parse in drawn])
    deviation = np.std([parse.score for parse in drawn])
    assert abs(mean - found.entropy) <= 5 * deviation / math.sqrt(300) + 1e-2


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("words", [5, 27, 40, 70])
def test_all_instruction_sets_find_the_same(name: str, words: int) -> None:
    scores = random_scores(np.random.default_rng(words), words)
    first, *others = (
        native.explore([scores], [name], best=5, marginals=True, limit=1 << 30, target=target)[0]
        for target in native.targets()
    )
    for other in others:
        assert [parse.score for parse in other.best] == [parse.score for parse in first.best]
        assert other.log_partition == pytest.approx(first.log_partition, abs=1e-4)
        assert other.entropy == pytest.approx(first.entropy, abs=1e-3)
        for field in ("spans", "arcs"):
            ours, theirs = getattr(first, field), getattr(other, field)
            assert (ours is None and theirs is None) or ours == pytest.approx(theirs, abs=1e-4)
