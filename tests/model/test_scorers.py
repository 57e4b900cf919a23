"""Scorers: against the plain formulas, in blocks and at once, and with what they must never say."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from h3n.config import Layers
from h3n.model import scorers
from h3n.model.layers import SharedDropout, Stack
from h3n.model.scorers import ArcScorer, RelationScorer, SpanScorer, fenceposts
from h3n.model.spans import spans_of


@settings(deadline=None)
@given(lengths=st.lists(st.integers(1, 9), min_size=1, max_size=4))
def test_cells_are_numbered_by_sentence_start_and_end(lengths: list[int]) -> None:
    spans = spans_of(tuple(lengths))
    expected = [(b, i, j) for b, n in enumerate(lengths) for i in range(n) for j in range(i + 1, n + 1)]
    assert list(zip(spans.sentence.tolist(), spans.start.tolist(), spans.end.tolist(), strict=True)) == expected
    table = np.array(expected)
    assert spans.index(table[:, 0], table[:, 1], table[:, 2]).tolist() == list(range(len(expected)))
    chart = spans.square(torch.arange(len(spans), dtype=torch.float32), empty=-1.0)
    assert [chart[span].item() for span in expected] == list(range(len(expected)))
    assert (chart == -1.0).sum() == chart.numel() - len(expected)


def test_span_scores_are_those_of_the_difference_of_fenceposts() -> None:
    torch.manual_seed(0)
    scorer = SpanScorer(6, 5, 3, dropout=0.0)
    words = torch.randn(2, 6, 6)
    spans = spans_of((4, 2))
    found = scorer(scorer.posts(words), spans)
    posts = fenceposts(words)
    for at, (b, i, j) in enumerate(zip(spans.sentence, spans.start, spans.end, strict=True)):
        feature = scorer.first(posts[b, j] - posts[b, i]) + scorer.bias
        torch.testing.assert_close(found[at], scorer.second(torch.relu(scorer.norm(feature))), atol=1e-5, rtol=1e-4)


def test_a_fencepost_sees_the_word_before_and_the_word_after() -> None:
    words = torch.arange(12.0).view(1, 3, 4)  # start, one word, stop
    assert fenceposts(words).tolist() == [[[0, 2, 5, 7], [4, 6, 9, 11]]]


def test_blocks_change_neither_scores_nor_gradients(monkeypatch: pytest.MonkeyPatch) -> None:
    torch.manual_seed(0)
    scorer = SpanScorer(6, 5, 3, dropout=0.0)
    words = torch.randn(2, 9, 6)
    spans = spans_of((7, 3))

    def both() -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        scorer.zero_grad()
        found = scorer(scorer.posts(words), spans)
        found.square().sum().backward()
        best = scorer.best(scorer.posts(words), spans, helper=2)
        assert scorer.first.weight.grad is not None
        return found.detach(), scorer.first.weight.grad.clone(), best[0].detach()

    whole = both()
    monkeypatch.setattr(scorers, "BLOCK", 4)
    for one, other in zip(whole, both(), strict=True):
        torch.testing.assert_close(one, other)


def test_the_helper_label_is_barred_from_words_and_whole_sentences() -> None:
    torch.manual_seed(0)
    scorer = SpanScorer(6, 5, 3, dropout=0.0)
    with torch.no_grad():
        scorer.second.bias[1] = 100.0  # label 2 would win everywhere
    spans = spans_of((4, 1))
    _, labels = scorer.best(scorer.posts(torch.randn(2, 6, 6)), spans, helper=2)
    width = spans.end - spans.start
    barred = (width == 1) | (width == torch.tensor(spans.lengths)[spans.sentence])
    assert (labels == 2).tolist() == (~barred).tolist()


def test_arcs_are_biaffine_and_bar_loops_and_padding() -> None:
    torch.manual_seed(0)
    scorer = ArcScorer(6, 4, dropout=0.0)
    torch.nn.init.normal_(scorer.weight)
    words, mask = torch.randn(2, 5, 6), torch.tensor([[True] * 5, [True] * 4 + [False]])
    found = scorer(words, mask)
    for b, n in enumerate((3, 2)):
        for m in range(n):
            for h in range(4):
                if h == m + 1 or h > n:
                    assert found[b, m, h] == -torch.inf
                    continue
                dependent = torch.cat((scorer.dependent(words)[b, m + 1], torch.ones(1)))
                expected = dependent @ scorer.weight @ scorer.governor(words)[b, h]
                torch.testing.assert_close(found[b, m, h], expected, atol=1e-5, rtol=1e-4)


def test_relations_are_biaffine_and_root_belongs_to_the_root() -> None:
    torch.manual_seed(0)
    scorer = RelationScorer(6, 4, at_root=(True, False, True), elsewhere=(False, True, True), dropout=0.0)
    torch.nn.init.normal_(scorer.weight)
    governor, dependent = torch.randn(2, 4), torch.randn(2, 4)
    found = scorer(governor, dependent, root=torch.tensor([True, False]))
    assert found[0].isneginf().tolist() == [False, True, False]
    assert found[1].isneginf().tolist() == [True, False, False]
    one = torch.ones(1)
    expected = torch.cat((dependent[1], one)) @ scorer.weight[1] @ torch.cat((governor[1], one))
    torch.testing.assert_close(found[1, 1], expected, atol=1e-5, rtol=1e-4)


def test_a_relation_seen_nowhere_leaves_a_choice() -> None:
    scorer = RelationScorer(6, 4, at_root=(False, False), elsewhere=(True, True), dropout=0.0)
    assert torch.isfinite(scorer(torch.randn(1, 4), torch.randn(1, 4), root=torch.tensor([True]))).all()


def test_layers_do_not_mix_content_and_position() -> None:
    torch.manual_seed(0)
    stack = Stack(Layers(count=1, size=8, heads=2, head_size=4, inner=8, dropout=0.0)).eval()
    layer = stack.layers[0]
    x = torch.randn(1, 1, 8)  # one word: attention can only look at itself
    mask = torch.ones(1, 1, 1, 1, dtype=torch.bool)
    changed = x.clone()
    changed[..., :4] += 1.0
    one, other = layer.attention(x, mask), layer.attention(changed, mask)
    torch.testing.assert_close(one[..., 4:], other[..., 4:])
    assert not torch.allclose(one[..., :4], other[..., :4])


def test_shared_dropout_drops_the_same_places_of_all_words() -> None:
    torch.manual_seed(0)
    dropped = SharedDropout(0.5)(torch.ones(3, 4, 100))
    assert torch.equal(dropped[:, 0], dropped[:, 3])
    assert not torch.equal(dropped[0], dropped[1])
    assert 0.4 < (dropped == 0).float().mean() < 0.6
    assert dropped.max() == 2.0


def test_the_score_of_both_ends_is_added_to_every_label() -> None:
    torch.manual_seed(0)
    scorer = SpanScorer(6, 5, 3, dropout=0.0, pair=4)
    words, spans = torch.randn(2, 6, 6), spans_of((4, 2))
    without = scorer(scorer.posts(words), spans)
    assert scorer.weight is not None
    assert scorer.start is not None
    assert scorer.end is not None
    torch.nn.init.normal_(scorer.weight)
    found = scorer(scorer.posts(words), spans)
    posts, one = fenceposts(words), torch.ones(1)
    for at, (b, i, j) in enumerate(zip(spans.sentence, spans.start, spans.end, strict=True)):
        start = torch.cat((scorer.start(posts)[b, i], one))
        end = torch.cat((scorer.end(posts)[b, j], one))
        expected = (start @ scorer.weight @ end).expand(3)
        torch.testing.assert_close(found[at] - without[at], expected, atol=1e-4, rtol=1e-4)
    second = scorer.posts(words).select(torch.tensor([1]), 3)
    torch.testing.assert_close(scorer(second, spans_of((2,))), found[10:])
