"""Losses, against their definitions computed the slow way."""

from __future__ import annotations

from itertools import combinations, product

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from h3n.config import config_of
from h3n.decode import Scores
from h3n.engine.inputs import read_inputs
from h3n.engine.vocabulary import IGNORE, Seen, Vocabulary
from h3n.model import Network, build_network, collate, count_vocabulary
from h3n.model.batch import Targets, read_targets
from h3n.model.loss import (
    TERMS,
    Gold,
    crf,
    hinge,
    joint_hinge,
    joint_likelihood,
    losses,
    order_loss,
    softmax,
    weigh,
)
from h3n.model.spans import Spans, spans_of
from h3n.trees import Dependencies, Span
from tests.decode.enumeration import distinct_trees

Tree = dict[tuple[int, int], int]  # labelled spans


def every_tree(n: int, labels: int) -> list[Tree]:
    """Return every labelled tree over n words: the whole sentence labelled, spans nested."""
    inner = [(i, j) for i in range(n) for j in range(i + 1, n + 1) if (i, j) != (0, n)]
    found: list[Tree] = []
    for count in range(len(inner) + 1):
        for chosen in combinations(inner, count):
            if any(a < c < b < d or c < a < d < b for (a, b), (c, d) in combinations(chosen, 2)):
                continue
            spans = [(0, n), *chosen]
            found.extend(
                dict(zip(spans, named, strict=True)) for named in product(range(1, labels + 1), repeat=len(spans))
            )
    return found


def binary_costs(tree: Tree, gold: Tree, n: int) -> int:
    """Return the largest Hamming cost over the tree's binarizations: unlabelled spans that gold labels cost, too."""

    def cost(i: int, j: int) -> int:
        return int(tree.get((i, j), 0) != gold.get((i, j), 0))

    def crosses(i: int, j: int) -> bool:
        return any(a < i < b < j or i < a < j < b for a, b in tree)

    best: dict[tuple[int, int], int] = {}
    for width in range(1, n + 1):
        for i in range(n - width + 1):
            j = i + width
            splits = [best[i, k] + best[k, j] for k in range(i + 1, j) if (i, k) in best and (k, j) in best]
            if not crosses(i, j) and (width == 1 or splits):
                best[i, j] = cost(i, j) + max(splits, default=0)
    return best[0, n]


def place(spans: Spans) -> dict[tuple[int, int], int]:
    return {(i, j): at for at, (i, j) in enumerate(zip(spans.start.tolist(), spans.end.tolist(), strict=True))}


def gold_of(tree: Tree, spans: Spans) -> Gold:
    index = torch.tensor([place(spans)[span] for span in tree])
    return Gold(index, torch.tensor(list(tree.values())), torch.zeros(len(tree), dtype=torch.int64))


def tree_score(scores: Tensor, tree: Tree, spans: Spans) -> Tensor:
    return torch.stack([scores[place(spans)[span], label - 1] for span, label in tree.items()]).sum()


def case(n: int, labels: int, seed: int) -> tuple[Tensor, Spans, Tree, list[Tree]]:
    chance = torch.Generator().manual_seed(seed)
    spans = spans_of((n,))
    trees = every_tree(n, labels)
    gold = trees[int(torch.randint(len(trees), (1,), generator=chance))]
    return 2 * torch.randn(len(spans), labels, generator=chance), spans, gold, trees


@settings(deadline=None, max_examples=30)
@given(n=st.integers(1, 3), labels=st.integers(1, 2), seed=st.integers(0, 10_000))
def test_hinge_is_the_strongest_rivals_lead(n: int, labels: int, seed: int) -> None:
    scores, spans, gold, trees = case(n, labels, seed)
    rivals = [tree_score(scores, tree, spans) + binary_costs(tree, gold, n) for tree in trees]
    expected = max(rivals).item() - tree_score(scores, gold, spans).item()
    assert hinge(scores, spans, gold_of(gold, spans)).item() == pytest.approx(max(expected, 0.0), abs=1e-4)


@settings(deadline=None, max_examples=30)
@given(n=st.integers(1, 3), labels=st.integers(1, 2), seed=st.integers(0, 10_000))
def test_crf_is_the_log_probability_of_the_gold_tree(n: int, labels: int, seed: int) -> None:
    scores, spans, gold, trees = case(n, labels, seed)
    total = torch.stack([tree_score(scores, tree, spans) for tree in trees]).logsumexp(dim=0)
    expected = total - tree_score(scores, gold, spans)
    assert crf(scores, spans, gold_of(gold, spans)).item() == pytest.approx(expected.item(), abs=1e-4)


def test_softmax_is_a_cross_entropy_per_span() -> None:
    scores, spans, gold, _ = case(3, 2, 4)
    target = torch.zeros(len(spans), dtype=torch.int64)
    for span, label in gold.items():
        target[place(spans)[span]] = label
    everything = torch.cat((torch.zeros(len(spans), 1), scores), dim=1)
    expected = torch.nn.functional.cross_entropy(everything, target, reduction="sum")
    torch.testing.assert_close(softmax(scores, spans, gold_of(gold, spans)), expected)


def test_hinge_gradient_lifts_gold_and_lowers_the_rival() -> None:
    scores, spans, gold, _ = case(3, 2, 8)
    scores.requires_grad_()
    loss = hinge(scores, spans, gold_of(gold, spans))
    loss.backward()
    assert loss.item() > 0
    assert scores.grad is not None
    better = hinge((scores - 0.01 * scores.grad).detach(), spans, gold_of(gold, spans))
    assert better.item() < loss.item()


WORDS = [("the", "dog", "slept"), ("she", "slept"), ("it",)]
SPANS = [(Span(0, 3, "S"), Span(0, 2, "NP")), (Span(0, 2, "S"),), (Span(0, 1, "NP"),)]
ARCS = [
    Dependencies((1, 2, -1), ("det", "nsubj", "root")),
    Dependencies((1, -1), ("nsubj", "root")),
    Dependencies((-1,), ("root",)),
]


def model(spans: str) -> tuple[Network, Vocabulary]:
    seen = [
        Seen(words=words, spans=spans_, dependencies=arcs, tags=(*"XZZ"[: len(words)],))
        for words, spans_, arcs in zip(WORDS, SPANS, ARCS, strict=True)
    ]
    vocabulary = count_vocabulary(seen, keep_words=True)
    layers = {"count": 1, "size": 16, "heads": 2, "head_size": 8, "inner": 16}
    sizes = {"span": 8, "arc": 8, "relation": 8, "head": 8, "order": 8, "tag": 8}
    torch.manual_seed(0)
    config = config_of({"encoder": {"layers": layers}, "scorers": sizes, "loss": {"spans": spans}})
    network = build_network(config, vocabulary).eval()
    torch.nn.init.normal_(network.arc.weight)
    torch.nn.init.normal_(network.relation.weight)
    return network, vocabulary


def terms(network: Network, vocabulary: Vocabulary, targets: list[Targets], spans: str) -> dict[str, Tensor]:
    batch = collate([read_inputs(words, vocabulary) for words in WORDS])
    options = config_of({"loss": {"spans": spans, "joint": 1.0}}).loss
    return losses(network, network(batch), targets, options=options, helper=vocabulary.helper)


def full_targets(vocabulary: Vocabulary) -> list[Targets]:
    return [
        read_targets(
            vocabulary,
            spans=spans,
            dependencies=arcs,
            levels=[1] * len(arcs),
            ranks=arcs.governors,
            tags=list("XZZ"[: len(arcs)]),
        )
        for spans, arcs in zip(SPANS, ARCS, strict=True)
    ]


@pytest.mark.parametrize("spans", ["hinge", "crf", "softmax"])
def test_a_batch_is_the_sum_of_its_sentences_and_of_its_kinds(spans: str) -> None:
    network, vocabulary = model(spans)
    known = full_targets(vocabulary)
    together = terms(network, vocabulary, known, spans)
    nothing = Targets()
    for name in TERMS:
        apart = [
            terms(network, vocabulary, [t if a == b else nothing for b, t in enumerate(known)], spans)[name]
            for a in range(len(known))
        ]
        torch.testing.assert_close(together[name], torch.stack(apart).sum(), atol=1e-4, rtol=1e-4)
        assert together[name].item() > 0
    constituents = [Targets(spans=t.spans) for t in known]
    only = terms(network, vocabulary, constituents, spans)
    torch.testing.assert_close(only["span"], together["span"])
    assert [only[name].item() for name in TERMS if name != "span"] == [0.0] * (len(TERMS) - 1)


def test_a_batch_that_knows_nothing_still_has_a_gradient() -> None:
    network, vocabulary = model("crf")
    found = weigh(terms(network, vocabulary, [Targets()] * 3, "crf"), config_of({}).loss)
    found.backward()
    assert found.item() == 0.0


def test_dev_labels_that_train_lacks_are_ignored() -> None:
    network, vocabulary = model("crf")
    strange = read_targets(
        vocabulary,
        spans=[Span(0, 3, "S"), Span(0, 2, "WHAT")],
        dependencies=Dependencies((1, 2, -1), ("odd", "nsubj", "root")),
        tags=["X", "NEW", "X"],
    )
    assert strange.spans is not None
    assert strange.spans.tolist() == [[0, 3, vocabulary.label_index["S"]]]
    found = terms(network, vocabulary, [strange, Targets(), Targets()], "crf")
    assert all(np.isfinite(value.item()) for value in found.values())


def test_weigh_uses_every_weight() -> None:
    weights = {"span": 1, "arc": 10, "relation": 100, "head": 1000, "order": 10000, "joint": 100000, "tag": 1000000}
    options = config_of({"loss": weights}).loss
    assert weigh({name: torch.tensor(float(at + 1)) for at, name in enumerate(TERMS)}, options).item() == 7654321.0


def test_every_word_is_to_outrank_all_words_below_it() -> None:
    scores = torch.tensor([0.5, -1.0, 2.0, 0.0, 3.0, 1.0], requires_grad=True)
    # Words 0 to 3: 1 is the root word, 0 and 2 hang on it, 3 on 2. Word 4 has no tree. Word 5 is alone.
    governors = torch.tensor([2, 0, 2, 3, IGNORE, 0])
    below = [(1, 0), (1, 2), (1, 3), (2, 3)]
    expected = sum(torch.log1p(torch.exp(scores[low] - scores[up])) for up, low in below)
    loss = order_loss(scores, governors, (4, 1, 1))
    torch.testing.assert_close(loss, torch.as_tensor(expected))
    loss.backward()
    assert scores.grad is not None
    assert scores.grad[[4, 5]].tolist() == [0.0, 0.0]


def test_no_word_below_another_costs_nothing() -> None:
    assert order_loss(torch.tensor([1.0, 2.0]), torch.tensor([0, 0]), (1, 1)).item() == 0.0


def joint_example(gold_score: float) -> tuple[Tensor, Tensor, Tensor, Spans, Gold, Tensor]:
    """Return what `joint_hinge` reads of "the dog sleeps" and a word alone, gold labels and arcs at ``gold_score``."""
    spans = spans_of((3, 1))
    at = place(spans)
    scores = torch.full((len(spans), 2), -gold_score)
    gold = Gold(torch.tensor([at[0, 3], at[0, 2], len(spans) - 1]), torch.tensor([1, 2, 1]), torch.tensor([0, 0, 1]))
    scores[gold.spans, gold.labels - 1] = gold_score
    governors = torch.tensor([[2, 3, 0], [0, 0, 0]])
    arcs = torch.zeros(2, 3, 4).scatter(2, governors[..., None], gold_score)
    order = torch.tensor([[0.0, 1.0, 2.0], [0.0, 0.0, 0.0]])
    return scores.requires_grad_(), arcs.requires_grad_(), order, spans, gold, governors


def test_a_joint_tree_that_wins_by_its_margin_costs_nothing() -> None:
    assert joint_hinge(*joint_example(9.0)).item() == 0.0


def test_the_joint_hinge_lifts_the_gold_tree_over_what_h3n_finds() -> None:
    scores, arcs, order, spans, gold, governors = joint_example(0.0)
    loss = joint_hinge(scores, arcs, order, spans, gold, governors)
    # Nothing scores anything, so the rival has only its points. In the first sentence: a wrong label on (0, 3), a span
    # (1, 3) that gold has not, three words labelled that gold leaves bare, and "the" on "sleeps". In the second: a
    # wrong label.
    assert loss.item() == pytest.approx(1 + 1 + 3 + 1 + 1)
    loss.backward()
    assert scores.grad is not None
    assert arcs.grad is not None
    assert (scores.grad[gold.spans, gold.labels - 1] < 0).all()
    assert arcs.grad[0, 0].tolist() == [0.0, 0.0, -1.0, 1.0]
    assert arcs.grad[0, 1].tolist() == [0.0] * 4  # both trees have this arc


def test_wrong_head_scores_bar_the_gold_tree() -> None:
    scores, arcs, order, spans, gold, governors = joint_example(9.0)
    order[0] = torch.tensor([2.0, 1.0, 0.0])  # "the" would head everything
    assert joint_hinge(scores, arcs, order, spans, gold, governors).item() == 0.0  # gold is not found, but it is better


def test_the_joint_likelihood_is_that_of_the_enumeration_and_its_gradient_that_of_differences() -> None:
    generator = torch.Generator().manual_seed(0)
    spans = spans_of((4, 1))
    scores = torch.randn(len(spans), 2, generator=generator)
    arcs = torch.randn(2, 4, 5, generator=generator)
    gold = Gold(torch.tensor([0]), torch.tensor([1]), torch.tensor([0]))  # any will do: its score is only taken off
    governors = torch.tensor([[2, 0, 2, 3], [0, 0, 0, 0]])

    def loss(some: Tensor, others: Tensor) -> Tensor:
        return joint_likelihood(some, others, spans, gold, governors)

    full = spans.square(scores.logsumexp(dim=-1), empty=0.0).numpy()
    total = 0.0
    for b, n in enumerate(spans.lengths):
        arc = arcs[b, :n, : n + 1].T.contiguous().numpy()
        one = full[b, : n + 1, : n + 1]
        given = Scores(full=one, open=np.maximum(one, 0), arc=arc[1:], root=arc[0])
        total += np.logaddexp.reduce(list(distinct_trees(given, "hpsg").values()))
    kept = scores[0, 0] + arcs[0, [0, 1, 2, 3], [2, 0, 2, 3]].sum() + arcs[1, 0, 0]
    assert loss(scores, arcs).item() == pytest.approx(total - kept.item(), abs=1e-4)

    leaves = scores.clone().requires_grad_(), arcs.clone().requires_grad_()
    loss(*leaves).backward()
    step = 0.05
    for number, (leaf, plain) in enumerate(zip(leaves, (scores, arcs), strict=True)):
        assert leaf.grad is not None
        for at in np.ndindex(plain.shape):
            if number == 1 and (at[1] + 1 == at[2] or max(at[1] + 1, at[2]) > spans.lengths[at[0]]):
                continue  # an arc from a word to itself, or padding
            ends = []
            for sign in (1, -1):
                moved = [scores.clone(), arcs.clone()]
                moved[number][at] += sign * step
                ends.append(loss(*moved).item())
            assert leaf.grad[at].item() == pytest.approx((ends[0] - ends[1]) / (2 * step), abs=2e-3)
