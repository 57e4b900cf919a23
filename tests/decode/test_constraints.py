"""Required and forbidden spans and arcs, against an enumeration of all trees that obey them."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from h3n.decode import DECODERS, Constraints, Parse, Scores, constrain, decode_batch, label_scores
from h3n.errors import DecodeError, UnknownName, UsageError
from h3n.trees import ROOT

from .enumeration import Part, arc_score, arcs_of, binary_trees, dependency_trees, distinct_trees, joint_trees
from .samples import random_scores

NEVER = float("-inf")


@st.composite
def constraints_for(draw: st.DrawFn, n: int) -> Constraints:
    spans = st.tuples(st.integers(0, n - 1), st.integers(1, n)).filter(lambda pair: pair[0] < pair[1])
    arcs = st.tuples(st.integers(-1, n - 1), st.integers(0, n - 1)).filter(lambda pair: pair[0] != pair[1])
    some_spans, some_arcs = st.lists(spans, max_size=2).map(tuple), st.lists(arcs, max_size=2).map(tuple)
    return Constraints(
        require_spans=draw(some_spans),
        forbid_spans=draw(some_spans),
        require_arcs=draw(some_arcs),
        forbid_arcs=draw(some_arcs),
    )


def best_span(scores: Scores, part: Part, wanted: Constraints) -> float:
    """Return what the span adds with the better of a label and none, as far as each is allowed."""
    cell = (part.start, part.end)
    must = part.role == "top" or (part.role == "dependent" and part.end - part.start > 1)
    assert scores.full is not None
    labelled = NEVER if cell in wanted.forbid_spans else float(scores.full[cell])
    unlabelled = NEVER if must or cell in wanted.require_spans else 0.0
    return max(labelled, unlabelled)


def best_arcs(scores: Scores, arcs: set[tuple[int, int]], wanted: Constraints) -> float:
    if not arcs.issuperset(wanted.require_arcs) or arcs.intersection(wanted.forbid_arcs):
        return NEVER
    return sum(arc_score(scores, *arc) for arc in arcs)


def best_of_all(scores: Scores, decoder: str, wanted: Constraints) -> float:
    n = len(scores)
    best = NEVER
    if decoder in ("mst", "eisner"):
        for governors in dependency_trees(n, projective=decoder == "eisner"):
            best = max(best, best_arcs(scores, {(h, m) for m, h in enumerate(governors)}, wanted))
    elif decoder == "cky":
        for tree in binary_trees(0, n):
            if set(tree).issuperset(wanted.require_spans):
                parts = [Part(i, j, -1, "top" if j - i == n else "head") for i, j in tree]
                best = max(best, sum(best_span(scores, part, wanted) for part in parts))
    else:
        for parts in joint_trees(0, n):
            if not {part[:2] for part in parts}.issuperset(wanted.require_spans):
                continue
            arcs = {*arcs_of(parts), (ROOT, parts[0].head)}
            spans = sum(best_span(scores, part, wanted) for part in parts)
            best = max(best, spans + best_arcs(scores, arcs, wanted))
    return best


def decode(scores: Scores, decoder: str, wanted: Constraints) -> Parse:
    return decode_batch([scores], decoder, constraints=[wanted])[0]


@pytest.mark.parametrize("decoder", ["cky", "mst", "eisner", "hpsg"])
@settings(deadline=None, max_examples=100)
@given(data=st.data(), n=st.integers(1, 5), seed=st.integers(0, 2**32 - 1))
def test_the_best_tree_that_obeys_is_found(decoder: str, data: st.DataObject, n: int, seed: int) -> None:
    scores = random_scores(np.random.default_rng(seed), n)
    drawn = data.draw(constraints_for(n))
    wanted = Constraints(
        require_spans=drawn.require_spans if decoder not in ("mst", "eisner") else (),
        forbid_spans=drawn.forbid_spans if decoder not in ("mst", "eisner") else (),
        require_arcs=drawn.require_arcs if decoder != "cky" else (),
        forbid_arcs=drawn.forbid_arcs if decoder != "cky" else (),
    )
    best = best_of_all(scores, decoder, wanted)
    if best == NEVER:
        with pytest.raises(DecodeError, match=r"contradict each other|cannot be met"):
            decode(scores, decoder, wanted)
    else:
        parse = decode(scores, decoder, wanted)
        assert parse.score == best
        spans = {span[:2] for span in parse.spans}
        arcs = {(h, m) for m, h in enumerate(parse.governors)}
        assert spans.issuperset(wanted.require_spans)
        assert spans.isdisjoint(wanted.forbid_spans)
        assert arcs.issuperset(wanted.require_arcs)
        assert arcs.isdisjoint(wanted.forbid_arcs)


CONTRADICTIONS: list[tuple[str, Constraints, set[str]]] = [
    (
        "cky",
        Constraints(require_spans=((0, 1), (1, 4), (4, 6), (2, 5))),
        {"span (1, 4) required", "span (2, 5) required"},
    ),
    (
        "cky",
        Constraints(require_spans=((1, 3),), forbid_spans=((3, 5), (1, 3))),
        {"span (1, 3) required", "span (1, 3) forbidden"},
    ),
    ("h3n", Constraints(forbid_spans=((0, 7), (2, 3))), {"span (0, 7) forbidden"}),
    ("hpsg", Constraints(require_arcs=((3, 1), (3, 2), (5, 1))), {"arc 3 -> 1 required", "arc 5 -> 1 required"}),
    ("mst", Constraints(require_arcs=((3, 1), (0, 2), (1, 3))), {"arc 3 -> 1 required", "arc 1 -> 3 required"}),
    ("eisner", Constraints(require_arcs=((0, 2), (1, 3))), {"arc 0 -> 2 required", "arc 1 -> 3 required"}),
    ("mst", Constraints(require_arcs=((ROOT, 2), (ROOT, 3))), {"arc root -> 2 required", "arc root -> 3 required"}),
    (
        "mst",
        Constraints(forbid_arcs=tuple((ROOT, word) for word in range(7))),
        {f"arc root -> {word} forbidden" for word in range(7)},
    ),
    (
        "hpsg",  # two words of one span governed from outside it
        Constraints(require_spans=((1, 4), (5, 7)), require_arcs=((0, 1), (6, 3), (5, 6))),
        {"span (1, 4) required", "arc 0 -> 1 required", "arc 6 -> 3 required"},
    ),
]


@pytest.mark.parametrize(("decoder", "wanted", "named"), CONTRADICTIONS)
def test_the_error_names_what_contradicts_what(decoder: str, wanted: Constraints, named: set[str]) -> None:
    scores = random_scores(np.random.default_rng(1), 7)
    with pytest.raises(DecodeError) as caught:
        decode_batch([scores, scores], decoder, constraints=[None, wanted])
    where, _, why = str(caught.value).partition(": ")
    assert where == "sentence 1 of the batch"
    assert set(why.partition(": ")[2].split("; ")) == named


@settings(deadline=None, max_examples=60)
@given(data=st.data(), n=st.integers(2, 5), seed=st.integers(0, 2**32 - 1))
def test_none_of_the_named_constraints_is_to_spare(data: st.DataObject, n: int, seed: int) -> None:
    scores = random_scores(np.random.default_rng(seed), n)
    wanted = data.draw(constraints_for(n))
    try:
        decode(scores, "hpsg", wanted)
    except DecodeError as error:
        named = set(str(error).rpartition(": ")[2].split("; "))
    else:
        return
    kinds = {"require_spans": "span", "forbid_spans": "span", "require_arcs": "arc", "forbid_arcs": "arc"}

    def text(kind: str, pair: tuple[int, int]) -> str:
        verb = "required" if kind.startswith("require") else "forbidden"
        if kinds[kind] == "span":
            return f"span {pair} {verb}"
        return f"arc {'root' if pair[0] == ROOT else pair[0]} -> {pair[1]} {verb}"

    chosen = [(kind, pair) for kind in kinds for pair in set(getattr(wanted, kind)) if text(kind, pair) in named]
    assert len(chosen) == len(named)

    def gather(some: list[tuple[str, tuple[int, int]]]) -> Constraints:
        return Constraints(**{kind: tuple(pair for k, pair in some if k == kind) for kind in kinds})

    assert best_of_all(scores, "hpsg", gather(chosen)) == NEVER
    for left_out in chosen:
        assert best_of_all(scores, "hpsg", gather([one for one in chosen if one != left_out])) > NEVER


def test_given_heads_that_stand_in_the_way_are_named_as_the_cause() -> None:
    scores = random_scores(np.random.default_rng(2), 6)
    ranked = Scores(
        full=scores.full, open=scores.open, arc=scores.arc, root=scores.root, head=np.arange(6, dtype=np.float32)
    )
    wanted = Constraints(require_arcs=((1, 4),))
    with pytest.raises(DecodeError, match=r"arc 1 -> 4 required \(given the head scores.*`hpsg` finds a tree"):
        decode(ranked, "h3n", wanted)
    assert decode(ranked, "hpsg", wanted).governors[4] == 1
    with pytest.raises(DecodeError, match=r"arc 1 -> 4 required$"):  # no memory for `hpsg` to have a look
        decode_batch([ranked], "h3n", constraints=[wanted], memory_limit=1000)


def test_impossible_scores_are_not_blamed_on_constraints() -> None:
    scores = random_scores(np.random.default_rng(2), 4)
    nothing = Scores(full=scores.full, open=scores.open, arc=scores.arc, root=np.full(4, -np.inf, dtype=np.float32))
    with pytest.raises(DecodeError, match="no tree has a finite score, with or without constraints"):
        decode(nothing, "hpsg", Constraints(require_spans=((1, 3),)))


@pytest.mark.parametrize(
    ("wanted", "message"),
    [
        (Constraints(require_spans=((2, 2),)), r"span \(2, 2\) required: the sentence has 4 words"),
        (Constraints(forbid_spans=((0, 5),)), r"span \(0, 5\) forbidden: .*0 <= start < end <= 4"),
        (Constraints(require_arcs=((1, 1),)), "arc 1 -> 1 required: .*no word governs itself"),
        (Constraints(require_arcs=((4, 1),)), "arc 4 -> 1 required"),
        (Constraints(forbid_arcs=((0, -1),)), "arc 0 -> -1 forbidden"),
    ],
)
def test_constraints_outside_the_sentence_are_refused(wanted: Constraints, message: str) -> None:
    with pytest.raises(DecodeError, match=message):
        decode(random_scores(np.random.default_rng(0), 4), "hpsg", wanted)


def test_constraints_on_what_a_decoder_does_not_find_are_refused() -> None:
    scores = random_scores(np.random.default_rng(0), 4)
    with pytest.raises(UsageError, match="`cky` finds no arcs"):
        decode(scores, "cky", Constraints(require_arcs=((0, 1),)))
    with pytest.raises(UsageError, match="`mst` finds no spans"):
        decode(scores, "mst", Constraints(forbid_spans=((0, 1),)))
    with pytest.raises(UsageError, match="1 constraints for 2 sentences"):
        decode_batch([scores, scores], constraints=[None])


def test_the_given_scores_are_left_as_they_are() -> None:
    scores = random_scores(np.random.default_rng(0), 5)
    before = [np.copy(array) for array in (scores.full, scores.open, scores.arc, scores.root)]
    constrain(scores, Constraints(require_spans=((1, 3),), require_arcs=((0, 2),), forbid_arcs=((ROOT, 0),)))
    for array, copy in zip((scores.full, scores.open, scores.arc, scores.root), before, strict=True):
        assert np.array_equal(array, copy)


def test_no_constraints_change_nothing() -> None:
    scores = random_scores(np.random.default_rng(0), 9)
    assert not Constraints()
    for name in DECODERS:
        assert decode(scores, name, Constraints()) == DECODERS[name](scores)


@pytest.mark.parametrize("given", [(2, 7), ((2,),), ((2, "7"),), "ab", 3, ((1, 2), None)])
def test_what_is_not_a_tuple_of_pairs_is_refused(given: Any) -> None:
    with pytest.raises(UsageError, match=r"require_spans is .*; a tuple of \(start, end\) or .* is accepted"):
        Constraints(require_spans=given)
    with pytest.raises(
        UsageError, match=r"require_arcs is .*; a tuple of pairs of whole numbers, such as .* is accepted"
    ):
        Constraints(require_arcs=given)
    with pytest.raises(UsageError, match=r"prefer_spans is .*; a tuple of \(start, end, bonus\) or .* is accepted"):
        Constraints(prefer_spans=given)
    assert Constraints(require_spans=[[2, 7]]).require_spans == ((2, 7),)  # type: ignore[arg-type, list-item]


LABELS = ["", "S", "NP", "VP", "PP"]


def labelled_scores(words: int, seed: int) -> Scores:
    """Return scores with those of all labels, whole numbers."""
    rng = np.random.default_rng(seed)
    cube = rng.integers(-3, 4, (words + 1, words + 1, len(LABELS))).astype(np.float32)
    cube[..., 0] = 0.0
    full, open_, label = label_scores(cube)
    plain = random_scores(rng, words)
    return Scores(full=full, open=open_, label=label, labels=cube, arc=plain.arc, root=plain.root, head=plain.head)


def all_labelled(scores: Scores, name: str) -> dict[frozenset[tuple[int, int, int]], float]:
    """Return the best score of every set of labelled spans; the enumeration knows one label per span."""
    assert scores.labels is not None
    assert scores.full is not None
    found: dict[frozenset[tuple[int, int, int]], float] = {}
    for (cells, _), score in distinct_trees(scores, name).items():
        less = score - sum(float(scores.full[i, j]) for i, j, _ in cells)
        for labels in product(range(1, len(LABELS)), repeat=len(cells)):
            spans = frozenset((i, j, label) for (i, j, _), label in zip(cells, labels, strict=True))
            worth = less + sum(float(scores.labels[cell]) for cell in spans)
            found[spans] = max(found.get(spans, -np.inf), worth)
    return found


@pytest.mark.parametrize("name", ["cky", "hpsg"])
@settings(deadline=None, max_examples=20)
@given(
    seed=st.integers(0, 2**32 - 1),
    required=st.sampled_from([(0, 2, "NP"), (1, 3, "VP"), (0, 3, "PP"), (2, 3, "S")]),
    forbidden=st.sampled_from([(0, 3, "S"), (1, 2, "NP"), (0, 1, "VP")]),
    preferred=st.sampled_from([(1, 3, 2.0), (1, 2, "PP", 5.0), (0, 3, "NP", -2.0), (0, 1, -3.0)]),
)
def test_labels_are_required_forbidden_and_preferred(
    name: str, seed: int, required: Any, forbidden: Any, preferred: Any
) -> None:
    scores = labelled_scores(3, seed)
    wanted = Constraints(require_spans=(required,), forbid_spans=(forbidden,), prefer_spans=(preferred,)).numbered(
        LABELS
    )
    (must,), (never,), ((*place, bonus),) = wanted.require_spans, wanted.forbid_spans, wanted.prefer_spans
    trees = {
        spans: score + bonus * sum(span[: len(place)] == tuple(place) for span in spans)
        for spans, score in all_labelled(scores, name).items()
        if must in spans and never not in spans
    }
    if not trees:
        with pytest.raises(DecodeError, match=r"contradict|cannot be met"):
            decode(scores, name, wanted)
        return
    parse = decode(scores, name, wanted)
    assert parse.score == max(trees.values())
    assert trees[frozenset(span[:3] for span in parse.spans)] == parse.score


@settings(deadline=None, max_examples=30)
@given(
    seed=st.integers(0, 2**32 - 1), bonus=st.sampled_from([-4.0, 1.5, 6.0]), arc=st.sampled_from([(0, 2), (ROOT, 1)])
)
@pytest.mark.parametrize("name", ["mst", "eisner", "hpsg"])
def test_a_preferred_arc_has_its_bonus(name: str, seed: int, bonus: float, arc: tuple[int, int]) -> None:
    scores = random_scores(np.random.default_rng(seed), 4)
    governor, word = arc
    with_it = decode(scores, name, Constraints(require_arcs=(arc,)))
    without = decode(scores, name, Constraints(forbid_arcs=(arc,)))
    parse = decode(scores, name, Constraints(prefer_arcs=((*arc, bonus),)))
    assert parse.score == max(with_it.score + bonus, without.score)
    assert (parse.governors[word] == governor) or parse.score == without.score


def test_what_is_wrong_with_a_label_is_reported() -> None:
    scores = labelled_scores(3, 0)
    with pytest.raises(UnknownName, match="unknown label 'XP'"):
        Constraints(require_spans=((0, 2, "XP"),)).numbered(LABELS)
    with pytest.raises(DecodeError, match=r"span \(0, 2\) required as NP: scores know labels by number"):
        constrain(scores, Constraints(require_spans=((0, 2, "NP"),)))
    with pytest.raises(DecodeError, match=r"span \(0, 2\) preferred as 9: there are labels 1 to 4"):
        constrain(scores, Constraints(prefer_spans=((0, 2, 9, 1.0),)))
    with pytest.raises(DecodeError, match=r"label of span \(0, 2\) needs the scores of all labels"):
        constrain(replace(scores, labels=None), Constraints(require_spans=((0, 2, 1),)))
    with pytest.raises(DecodeError, match=r"labels has type float32 and shape \(2, 2, 5\)"):
        replace(scores, labels=np.zeros((2, 2, 5), dtype=np.float32))
