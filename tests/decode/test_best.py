"""Every decoder, both twins, against an enumeration of all trees and against each other."""

from __future__ import annotations

from collections.abc import Callable

import networkx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from h3n.decode import DECODERS, Parse, Scores, decode_batch, native
from h3n.errors import DecodeError

from .enumeration import all_scores
from .samples import check_parse, random_scores, sentences

NAMES = [name for name in DECODERS if name != "auto"]
TWINS: list[tuple[str, Callable[[Scores], Parse]]] = [
    *((name, DECODERS[name].reference) for name in NAMES),
    *((name, DECODERS[name]) for name in NAMES),
    ("hpsg", lambda scores: _only(native.decode([scores], ["hpsg_n5"]))),
]
IDS = [*(f"{name}-reference" for name in NAMES), *(f"{name}-native" for name in NAMES), "hpsg_n5-native"]
both = pytest.mark.parametrize(("name", "decode"), TWINS, ids=IDS)


def _only(parses: list[Parse | None]) -> Parse:
    (parse,) = parses
    if parse is None:
        raise DecodeError("no tree has a finite score")
    return parse


@both
@settings(deadline=None, max_examples=60)
@given(scores=sentences(max_words=5))
def test_score_is_the_best_of_all_trees(name: str, decode: Callable[[Scores], Parse], scores: Scores) -> None:
    parse = decode(scores)
    assert parse.score == max(all_scores(scores, name))
    check_parse(parse, scores, name)


@both
@settings(deadline=None, max_examples=60)
@given(scores=sentences(max_words=5, forbid=0.3))
def test_forbidden_cells_leave_the_best_of_the_rest_or_none(
    name: str, decode: Callable[[Scores], Parse], scores: Scores
) -> None:
    best = max(all_scores(scores, name))
    if best == -np.inf:
        with pytest.raises(DecodeError, match="no tree has a finite score"):
            decode(scores)
    else:
        assert decode(scores).score == best


@pytest.mark.parametrize("name", NAMES)
@settings(deadline=None, max_examples=60)
@given(scores=sentences(min_words=6, max_words=12))
def test_twins_agree(name: str, scores: Scores) -> None:
    assert DECODERS[name](scores).score == DECODERS[name].reference(scores).score


@pytest.mark.parametrize("name", NAMES)
def test_a_single_tree_left_is_found(name: str) -> None:
    """Everything is -inf but the cells of one tree; whichever decoder, it returns that tree."""
    rng = np.random.default_rng(7)
    for words in (1, 2, 5, 17, 40):
        scores = random_scores(rng, words)
        wanted = DECODERS[name](scores)
        lone = {field: np.full_like(getattr(scores, field), -np.inf) for field in ("full", "open", "arc", "root")}
        for m, h in enumerate(wanted.governors):
            target, source = (lone["root"], scores.root) if h == -1 else (lone["arc"][h], scores.arc[h])
            target[m] = source[m]
        for i, j, *_ in wanted.spans:
            lone["full"][i, j] = lone["open"][i, j] = scores.full[i, j]
        if name != "mst" and name != "eisner":
            _allow_one_binarization(lone["open"], wanted)
        again = DECODERS[name](Scores(**lone, head=scores.head, label=scores.label))
        assert again == wanted


def _allow_one_binarization(open_: np.ndarray, parse: Parse) -> None:
    """Let unlabelled spans in where they are needed: inside each labelled span, from the head outwards, right first."""
    spans = [(i, j, head) for i, j, _, head in parse.spans]
    for i, j, head in spans:
        inside = [s for s in spans if i <= s[0] and s[1] <= j and s[:2] != (i, j)]
        children = [s for s in inside if not any(o[0] <= s[0] and s[1] <= o[1] and o != s for o in inside)]
        covered = {w for a, b, _ in children for w in range(a, b)}
        parts = sorted([(a, b) for a, b, _ in children] + [(w, w + 1) for w in range(i, j) if w not in covered])
        for a, b in parts:
            open_[a, b] = max(open_[a, b], 0)
        middle = next(p for p in parts if p[0] <= max(head, i) < p[1])
        ends = [b for _, b in parts if b > middle[1]]
        starts = [a for a, _ in reversed(parts) if a < middle[0]]
        for a, b in [(middle[0], b) for b in ends] + [(a, j) for a in starts]:
            if (a, b) != (i, j):
                open_[a, b] = max(open_[a, b], 0)


@settings(deadline=None, max_examples=40)
@given(scores=sentences(min_words=2, max_words=40))
def test_the_chart_of_vectors_equals_the_published_recurrence(scores: Scores) -> None:
    exact, published = native.decode([scores, scores], ["hpsg", "hpsg_n5"])
    assert exact is not None
    assert published is not None
    assert exact.score == published.score


@settings(deadline=None, max_examples=100)
@given(scores=sentences(max_words=60))
def test_given_heads_never_beat_the_exact_decoder_and_match_it_on_its_own_levels(scores: Scores) -> None:
    exact = DECODERS["hpsg"](scores)
    assert DECODERS["h3n"](scores).score <= exact.score
    levels = np.full(len(scores), 999, dtype=np.float32)
    depth: list[tuple[int, int]] = []
    for i, j, _, head in exact.spans:
        depth = [(a, b) for a, b in depth if a <= i and j <= b]
        depth.append((i, j))
        levels[head] = min(levels[head], len(depth))
    own = Scores(full=scores.full, open=scores.open, arc=scores.arc, root=scores.root, head=-levels)
    assert DECODERS["h3n"](own).score == exact.score


@settings(deadline=None, max_examples=40)
@given(scores=sentences(max_words=12))
def test_mst_equals_an_independent_arborescence(scores: Scores) -> None:
    best = -np.inf
    for top in range(len(scores)):
        graph = networkx.DiGraph()
        graph.add_node(top)
        for h in range(len(scores)):
            for m in range(len(scores)):
                if h != m and m != top:
                    graph.add_edge(h, m, weight=float(scores.arc[h, m]))
        tree = networkx.maximum_spanning_arborescence(graph)
        best = max(best, float(scores.root[top]) + sum(tree[h][m]["weight"] for h, m in _arcs(graph, tree)))
    parse = DECODERS["mst"](scores)
    assert parse.score == best
    assert parse.governors.count(-1) == 1


def _arcs(graph: networkx.DiGraph, tree: networkx.DiGraph) -> list[tuple[int, int]]:
    for h, m in tree.edges:
        tree[h][m]["weight"] = graph[h][m]["weight"]
    return list(tree.edges)


@settings(deadline=None, max_examples=40)
@given(scores=sentences(min_words=20, max_words=60))
def test_crossing_arcs_are_worth_at_least_as_much_as_projective_ones(scores: Scores) -> None:
    assert (
        DECODERS["mst"](scores).score
        >= DECODERS["eisner"](scores).score
        >= _arcs_worth(DECODERS["hpsg"](scores), scores)
    )


def _arcs_worth(parse: Parse, scores: Scores) -> float:
    return sum(float(scores.root[m] if h == -1 else scores.arc[h, m]) for m, h in enumerate(parse.governors))


@pytest.mark.parametrize("name", list(DECODERS))
def test_thousands_of_parses_are_trees_and_keep_the_head_feature_principle(name: str) -> None:
    rng = np.random.default_rng(11)
    batch = [random_scores(rng, int(words)) for words in rng.integers(0, 30, 1500)]
    for scores, parse in zip(batch, decode_batch(batch, name, exact_up_to=15), strict=True):
        check_parse(parse, scores, name)


@pytest.mark.parametrize("target", native.targets())
@pytest.mark.parametrize("name", [*NAMES, "hpsg_n5"])
def test_every_instruction_set_finds_the_same_parse(name: str, target: str) -> None:
    rng = np.random.default_rng(5)
    lengths = [1, 2, 3, 15, 16, 17, 31, 32, 33, 47, 48, 63, 64, 65]
    batch = [random_scores(rng, words, low=-9, high=9) for words in lengths[: 8 if name == "hpsg_n5" else None]]
    assert native.decode(batch, [name] * len(batch), target=target) == native.decode(batch, [name] * len(batch))


@pytest.mark.parametrize("name", ["cky", "h3n", "eisner", "mst"])
@pytest.mark.parametrize("shape", ["rising", "falling", "level"])
def test_long_sentences_with_heads_in_order(name: str, shape: str) -> None:
    """Head scores that rise or fall all along, so that the head changes with every span; ties for "level"."""
    rng = np.random.default_rng(3)
    scores = random_scores(rng, 150)
    rank = {"rising": np.arange(150), "falling": -np.arange(150), "level": np.zeros(150)}[shape].astype(np.float32)
    ordered = Scores(full=scores.full, open=scores.open, arc=scores.arc, root=scores.root, head=rank)
    parse = DECODERS[name](ordered)
    check_parse(parse, ordered, name)
    if name == "h3n":
        wanted = {"rising": 149, "falling": 0, "level": 149}[shape]
        assert parse.governors[wanted] == -1
        assert all(head == (i if shape == "falling" else j - 1) for i, j, _, head in parse.spans)


@given(st.integers(2, 9), st.integers(0, 2**32 - 1))
@settings(deadline=None, max_examples=60)
def test_twins_agree_on_heads_in_order(words: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    scores = random_scores(rng, words)
    for rank in (np.arange(words), -np.arange(words), np.zeros(words)):
        ordered = Scores(
            full=scores.full, open=scores.open, arc=scores.arc, root=scores.root, head=rank.astype(np.float32)
        )
        assert DECODERS["h3n"](ordered).score == DECODERS["h3n"].reference(ordered).score
