"""Soft labels: what a teacher's network says of its choices, and what a student loses by not agreeing."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from h3n.model.batch import Targets, read_targets
from h3n.model.loss import TERMS, Gold, SpanLoss, crf, gold_table, softmax
from h3n.model.model import Model
from h3n.model.soft_labels import soft_labels_of
from h3n.model.soft_targets import SoftTargets, soft_cross_entropy
from h3n.model.spans import spans_of
from h3n.parser import Parser, Result
from h3n.trees import HELPER, ROOT, Dependencies, Sentence, SoftLabels, Span
from tests.model.test_loss import ARCS, SPANS, case, full_targets, gold_of, model, terms

SENTENCES = [("The", "dog", "sees", "a", "cat", "."), ("A", "bird", "sleeps", ".")]


def shares_of(spans: tuple[Span, ...], arcs: Dependencies) -> SoftLabels:
    """Return labels that are not soft at all: all of every choice is one."""
    return SoftLabels(
        governors=tuple(((governor, 1000),) for governor in arcs.governors),
        relations=tuple(((relation, 1000),) for relation in arcs.relations),
        tags=tuple(((tag, 1000),) for tag in "XZZ"[: len(arcs)]),
        spans=tuple((span, 1000) for span in spans),
    )


@pytest.mark.parametrize("loss", ["crf", "softmax", "hinge"])
def test_a_teacher_without_doubts_is_a_treebank(loss: str) -> None:
    network, vocabulary = model(loss)
    hard = full_targets(vocabulary)
    soft = [
        replace(target, soft=read_targets(vocabulary, soft_labels=shares_of(spans, arcs), length=len(arcs)).soft)
        for target, spans, arcs in zip(hard, SPANS, ARCS, strict=True)
    ]
    expected = terms(network, vocabulary, hard, loss)
    for batch in (soft, [soft[0], *hard[1:]], [*hard[:2], soft[2]]):
        found = terms(network, vocabulary, batch, loss)
        for name in TERMS:
            torch.testing.assert_close(found[name], expected[name], atol=1e-4, rtol=1e-4)


@pytest.mark.parametrize("loss", [crf, softmax])
def test_doubt_between_two_trees_is_the_mean_of_their_losses(loss: SpanLoss) -> None:
    for seed in range(10):
        scores, spans, one, trees = case(3, 2, seed)
        other = trees[seed % len(trees)]
        gold = [gold_of(tree, spans) for tree in (one, other)]
        mixed = Gold(
            *(torch.cat([getattr(g, name) for g in gold]) for name in ("spans", "labels", "sentences")),
            shares=torch.cat([torch.full((len(one),), 0.7), torch.full((len(other),), 0.3)]),
        )
        expected = 0.7 * loss(scores, spans, gold[0]) + 0.3 * loss(scores, spans, gold[1])
        torch.testing.assert_close(loss(scores, spans, mixed), expected, atol=1e-4, rtol=1e-4)


def test_shares_are_the_weights_of_a_cross_entropy() -> None:
    scores = torch.randn(5, 4, generator=torch.Generator().manual_seed(3), requires_grad=True)
    # Three words, of which nothing is known, and two words.
    table = np.array([[0, 2, 600], [0, 1, 400], [1, 3, 1000]])
    found = soft_cross_entropy(scores, [None, table], (3, 2))
    log = scores.log_softmax(dim=-1)
    torch.testing.assert_close(found, -(0.6 * log[3, 2] + 0.4 * log[3, 1] + log[4, 3]))
    found.backward()
    assert scores.grad is not None
    assert not scores.grad[:3].any()


def test_what_the_network_bars_is_passed_over() -> None:
    network, vocabulary = model("crf")
    odd = SoftLabels(
        governors=(((0, 500), (1, 500)), ((2, 1000),), ((ROOT, 1000),)),  # the first word on itself
        relations=((("root", 400), ("det", 600)), (("nsubj", 1000),), (("det", 100), ("root", 900))),
        spans=((Span(0, 3, "S"), 1000), (Span(0, 3, HELPER), 500), (Span(0, 1, "WHAT"), 500)),
    )
    target = read_targets(vocabulary, dependencies=ARCS[0], soft_labels=odd, length=3)
    found = terms(network, vocabulary, [target, Targets(), Targets()], "crf")
    assert all(np.isfinite(value.item()) for value in found.values())
    assert found["span"].item() > 0


def test_the_whole_sentence_has_a_label_for_sure() -> None:
    """Rounding and unknown labels must not leave a student anything to gain without end."""
    _, vocabulary = model("crf")
    labels = SoftLabels(spans=((Span(0, 3, "S"), 700), (Span(0, 3, "NP"), 295), (Span(0, 2, "NP"), 980)))
    spans = read_targets(vocabulary, soft_labels=labels, length=3).soft.spans
    assert spans is not None
    s, np_ = (vocabulary.label_index[name] for name in ("S", "NP"))
    assert spans.tolist() == [[0, 3, s, 704], [0, 3, np_, 296], [0, 2, np_, 980]]
    unknown = SoftLabels(spans=((Span(0, 3, "WHAT"), 990), (Span(0, 2, "NP"), 980)))
    assert read_targets(vocabulary, soft_labels=unknown, length=3).soft.spans is None


@pytest.mark.parametrize("seed", range(5))
def test_no_scores_are_better_than_the_teachers_doubts(tiny_model: Path, seed: int) -> None:
    """The loss stays above zero, however far a student goes in any direction, as its targets are those of trees."""
    teacher = Model.load(tiny_model)
    torch.manual_seed(seed)
    for part in (teacher.network.span, teacher.network.arc):  # a teacher that knows little has many doubts
        for weights in part.parameters():
            torch.nn.init.normal_(weights, std=0.2)
    words = SENTENCES[0]
    ((_, scored),) = teacher.engine.score([Sentence(words=words)])
    (labels,) = soft_labels_of(scored.output, scored.scores, [()], vocabulary=teacher.vocabulary)
    targets = read_targets(teacher.vocabulary, soft_labels=labels, length=len(words))
    assert targets.soft.spans is not None
    assert len(targets.soft.spans) > 2 * len(words)
    spans = spans_of((len(words),))
    gold = gold_table([targets.soft.spans], spans, torch.device("cpu"))
    whole = (spans.end - spans.start) == len(words)
    for scale in (1.0, 1e2, 1e4):
        for shift in (-scale, 0.0, scale):
            scores = torch.randn(len(spans), len(teacher.vocabulary.labels) - 1)
            scores[whole] += shift
            assert crf(scores, spans, gold).item() >= 0
            assert crf(scale * scores, spans, gold).item() >= 0


def test_nothing_soft_is_no_target() -> None:
    _, vocabulary = model("crf")
    assert read_targets(vocabulary, soft_labels=SoftLabels(), length=3).soft == SoftTargets()


def test_the_shares_of_a_network_are_its_probabilities(tiny_model: Path) -> None:
    teacher = Model.load(tiny_model)
    given = [Sentence(words=words) for words in SENTENCES]
    for numbers, scored in teacher.engine.score(given):
        parsed = Parser(teacher.engine).decode(scored)
        governors = [one.parse.governors for one in parsed]
        found = soft_labels_of(scored.output, scored.scores, governors, vocabulary=teacher.vocabulary)
        for at, labels in enumerate(found):
            n = len(SENTENCES[numbers[at]])
            for words in (labels.governors, labels.relations, labels.tags):
                assert len(words) == n
                assert all(950 <= sum(share for _, share in word) <= 1002 for word in words)
            scores = scored.scores[at]
            assert scores.arc is not None
            assert scores.root is not None
            for word, row in enumerate(labels.governors):
                for governor, share in row:
                    score = scores.root[word] if governor == ROOT else scores.arc[governor, word]
                    assert share == pytest.approx(1000 * np.exp(score), abs=0.6)
            whole = [share for span, share in labels.spans if (span.start, span.end) == (0, n)]
            assert 950 <= sum(whole) <= 1001
            assert {span for span, share in labels.spans if share > 900} <= spans_in(parsed[at])


def spans_in(parsed: Result) -> set[Span]:
    assert parsed.joint is not None
    return {Span(span.start, span.end, span.label) for span in parsed.joint.spans}


def test_a_higher_temperature_doubts_more(tiny_model: Path) -> None:
    teacher = Model.load(tiny_model)
    ((_, scored),) = teacher.engine.score([Sentence(words=SENTENCES[0])])
    sure, unsure = (
        soft_labels_of(scored.output, scored.scores, [()], vocabulary=teacher.vocabulary, temperature=temperature)[0]
        for temperature in (1.0, 20.0)
    )
    assert sure.relations == unsure.relations == ()  # no governors were found
    assert max(share for _, share in unsure.governors[0]) < max(share for _, share in sure.governors[0])
