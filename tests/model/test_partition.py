"""The sum over all trees, against an enumeration of them."""

from __future__ import annotations

from itertools import combinations

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from h3n.decode import Scores, decode_batch
from h3n.model.partition import log_partition, span_marginals
from h3n.model.spans import Spans, spans_of

Tree = tuple[tuple[int, int], ...]


def every_tree(n: int) -> list[Tree]:
    """Return every set of spans that nest and hold the whole sentence."""
    inner = [(i, j) for i in range(n) for j in range(i + 1, n + 1) if (i, j) != (0, n)]
    return [
        ((0, n), *chosen)
        for count in range(len(inner) + 1)
        for chosen in combinations(inner, count)
        if not any(a < c < b < d or c < a < d < b for (a, b), (c, d) in combinations(chosen, 2))
    ]


def tree_weights(weights: Tensor, spans: Spans, sentence: int) -> Tensor:
    rows = zip(spans.sentence.tolist(), spans.start.tolist(), spans.end.tolist(), strict=True)
    place = {(i, j): at for at, (b, i, j) in enumerate(rows) if b == sentence}
    trees = every_tree(spans.lengths[sentence])
    return torch.stack([weights[[place[span] for span in tree]].sum() for tree in trees])


@settings(deadline=None, max_examples=25)
@given(lengths=st.lists(st.integers(1, 4), min_size=1, max_size=3), seed=st.integers(0, 1000))
def test_sum_and_marginals_are_those_of_all_trees(lengths: list[int], seed: int) -> None:
    spans = spans_of(tuple(lengths))
    start = 3 * torch.randn(len(spans), generator=torch.Generator().manual_seed(seed))
    weights, oracle = start.clone().requires_grad_(), start.double().requires_grad_()
    found = log_partition(weights, spans)
    expected = torch.stack([tree_weights(oracle, spans, b).logsumexp(dim=0) for b in range(len(lengths))])
    torch.testing.assert_close(found, expected.float(), atol=1e-4, rtol=1e-4)
    found.sum().backward()
    expected.sum().backward()
    assert weights.grad is not None
    assert oracle.grad is not None
    torch.testing.assert_close(weights.grad, oracle.grad.float(), atol=1e-4, rtol=1e-3)
    torch.testing.assert_close(span_marginals(start, spans), oracle.grad.float(), atol=1e-4, rtol=1e-3)


def test_the_likeliest_tree_is_the_one_cky_finds() -> None:
    spans = spans_of((4,))
    weights = torch.randn(len(spans), generator=torch.Generator().manual_seed(5))
    full = spans.square(weights, empty=0.0)[0].numpy()
    (parse,) = decode_batch([Scores(full=full, open=full.clip(min=0.0))], decoder="cky")
    assert parse.score == pytest.approx(tree_weights(weights, spans, 0).max().item(), abs=1e-5)


def test_a_long_sentence_stays_finite() -> None:
    spans = spans_of((150, 2))
    weights = torch.full((len(spans),), 3.0, requires_grad=True)
    found = log_partition(weights, spans)
    found.sum().backward()
    assert weights.grad is not None
    assert torch.isfinite(found).all()
    assert weights.grad.min() >= 0
    assert weights.grad.max() <= 1 + 1e-3
