"""What is learned: spans, arcs, relations, levels and tags, each from the sentences that know it.

Every term is a sum over the batch; the caller divides by sentences or words, so that a batch spread over several
processes or steps weighs the same as in one piece.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from h3n.config import Loss
from h3n.decode import Parse, Scores, cky_nodes, decode_batch
from h3n.engine.vocabulary import IGNORE
from h3n.model.batch import Targets, stack_targets
from h3n.model.joint_likelihood import joint_log_partition
from h3n.model.network import Network, Output
from h3n.model.partition import log_partition
from h3n.model.soft_targets import soft_cross_entropy
from h3n.model.spans import Spans, spans_of
from h3n.trees import WHOLE

TERMS = ("span", "arc", "relation", "head", "order", "joint", "tag")


@dataclass(frozen=True, slots=True)
class Gold:
    """The labelled spans of sentences that have them: their places among all spans, labels (from 1) and sentences."""

    spans: Tensor
    labels: Tensor
    sentences: Tensor
    shares: Tensor | None = None  # of each, where some are soft labels

    def score(self, scores: Tensor) -> Tensor:
        """Return the summed scores of the labelled spans, by their shares; ``scores`` is (S, L)."""
        found = scores[self.spans, self.labels - 1]
        if self.shares is not None:  # a teacher may find likely what the network bars
            found = found.masked_fill(found.isneginf(), 0.0) * self.shares
        return found.sum()


def losses(
    network: Network, output: Output, targets: Sequence[Targets], *, options: Loss, helper: int | None
) -> dict[str, Tensor]:
    """Return the sum of each term over the batch, unweighted; a term no sentence has a target for is zero.

    (paper, section II, with the softmax that its J_d leaves out)
    """
    device = output.mask.device
    lengths = output.spans.lengths
    inside = output.words

    def known(columns: list[np.ndarray | None]) -> Tensor:
        return stack_targets(columns, lengths).to(device)

    def choices(scores: Tensor, name: str) -> Tensor:
        """Return the term of a choice that each word has; what a teacher finds likely counts before its best tree."""
        soft = [getattr(t.soft, name) for t in targets]
        hard = [getattr(t, name) if table is None else None for t, table in zip(targets, soft, strict=True)]
        return _cross_entropy(scores, known(hard)) + soft_cross_entropy(scores, soft, lengths)

    governors = known([t.governors for t in targets])
    arc = choices(output.arcs[inside], "governors")
    relation = choices(network.relations(output, governors.clamp(min=0)), "relations")
    head = _cross_entropy(output.levels[inside], known([t.levels for t in targets]))
    tag = choices(output.tags[inside], "tags")
    upos = choices(output.upos[inside], "upos")
    span = span_loss(network, output, targets, options=options, helper=helper)
    order = arc.new_zeros(())
    if output.order is not None:
        order = order_loss(output.order[inside], known([t.ranks for t in targets]), lengths)
    joint = arc.new_zeros(())
    if options.joint:
        joint = joint_loss(network, output, targets, whole=options.whole, helper=helper)
    return {
        "span": span,
        "arc": arc,
        "relation": relation,
        "head": head,
        "order": order,
        "joint": joint,
        "tag": tag + upos,
    }


def weigh(terms: dict[str, Tensor], options: Loss) -> Tensor:
    """Return the weighted sum of the terms."""
    return torch.stack([getattr(options, name) * terms[name] for name in TERMS]).sum()


def order_loss(scores: Tensor, governors: Tensor, lengths: Sequence[int]) -> Tensor:
    """Return the sum over all pairs of a word and a word below it of how far the upper one is from outranking it.

    The head of a span of the joint tree stands above all its other words, so these are the pairs that `h3n` asks for,
    O(n depth) of them. Words and governors of all sentences stand in a row; governors are counted from 1 in their
    sentence, 0 is the root, and sentences without a tree have `IGNORE`.
    """
    starts = torch.tensor([0, *lengths[:-1]], device=scores.device).cumsum(0)
    first = starts.repeat_interleave(torch.tensor(lengths, device=scores.device))
    above = torch.where(governors > 0, governors - 1 + first, -1)
    lower = (above >= 0).nonzero()[:, 0]
    upper = above[lower]
    total = scores.sum() * 0.0
    while len(lower):
        total = total + functional.softplus(scores[lower] - scores[upper]).sum()
        further = above[upper]
        lower, upper = lower[further >= 0], further[further >= 0]
    return total


def span_loss(
    network: Network, output: Output, targets: Sequence[Targets], *, options: Loss, helper: int | None
) -> Tensor:
    """Return the sum of the span term over the sentences that have a phrase structure tree."""
    soft = options.spans in BY_SHARES
    tables = [t.soft.spans if soft and t.soft.spans is not None else t.spans for t in targets]
    known = [b for b, table in enumerate(tables) if table is not None]
    if not known:
        return output.arcs.new_zeros(())
    scores, spans = _span_scores(network, output, known, helper=helper)
    gold = gold_table([tables[b] for b in known], spans, scores.device)
    return SPAN_LOSSES[options.spans](scores, spans, gold)


def _span_scores(
    network: Network, output: Output, known: Sequence[int], *, helper: int | None
) -> tuple[Tensor, Spans]:  # (S, L)
    """Return the scores of all labels of all spans of some sentences of the batch."""
    spans, posts = output.spans, output.posts
    if len(known) < len(spans.lengths):
        device = output.mask.device
        spans = spans_of(tuple(spans.lengths[b] for b in known), device=device)
        posts = posts.select(torch.tensor(known, device=device), max(spans.lengths) + 1)
    scores = network.span(posts, spans).float()
    spans.bar_helper(scores, helper)
    return scores, spans


def joint_loss(
    network: Network, output: Output, targets: Sequence[Targets], *, whole: str, helper: int | None
) -> Tensor:
    """Return the sum of `joint_hinge` or `joint_likelihood` over the sentences that have both trees."""
    known = [b for b, target in enumerate(targets) if target.spans is not None and target.ranks is not None]
    if not known or (output.order is None and whole == "hinge"):
        return output.arcs.new_zeros(())
    scores, spans = _span_scores(network, output, known, helper=helper)
    gold = gold_table([targets[b].spans for b in known], spans, scores.device)
    width = max(spans.lengths)
    arcs = output.arcs[known, :width, : width + 1].float().log_softmax(dim=-1)
    governors = torch.zeros(len(known), width, dtype=torch.int64)
    for row, b in enumerate(known):
        ranks = targets[b].ranks
        if ranks is not None:
            governors[row, : len(ranks)] = torch.from_numpy(ranks)
    governors = governors.to(scores.device)
    if whole == "likelihood" or output.order is None:
        return joint_likelihood(scores, arcs, spans, gold, governors)
    return joint_hinge(scores, arcs, output.order[known], spans, gold, governors)


def joint_likelihood(scores: Tensor, arcs: Tensor, spans: Spans, gold: Gold, governors: Tensor) -> Tensor:
    """Return minus the log-probability of the gold joint trees among all joint trees with all labels.

    ``scores`` is (S, L), ``arcs`` (B, n, n + 1) as in `Output`, ``governors`` (B, n) with 0 for the root.
    """
    partition = joint_log_partition(scores.logsumexp(dim=-1), arcs, spans).sum()
    lengths = torch.tensor(spans.lengths, device=scores.device)
    inside = torch.arange(governors.shape[1], device=scores.device) < lengths[:, None]
    of_arcs = arcs.gather(2, governors[..., None])[..., 0].where(inside, 0.0).sum()
    return partition - gold.score(scores) - of_arcs


def joint_hinge(scores: Tensor, arcs: Tensor, order: Tensor, spans: Spans, gold: Gold, governors: Tensor) -> Tensor:
    """Return how far the gold joint trees are from beating the tree that `h3n` finds by its number of mistakes.

    ``scores`` is (S, L), ``arcs`` (B, n, n + 1) as in `Output`, ``order`` (B, n), ``governors`` (B, n) with 0 for the
    root. The search sees a point added to every wrong label and every wrong arc, and ranks heads by ``order``.
    Gradients flow through the scores of the two trees, not through the search and not through the ranking.
    """
    lengths = torch.tensor(spans.lengths, device=scores.device)
    inside = torch.arange(governors.shape[1], device=scores.device) < lengths[:, None]

    def total(places: Tensor, labels: Tensor, sentences: Tensor, above: Tensor) -> Tensor:
        """Return the score of one tree for each sentence."""
        of_arcs = arcs.gather(2, above[..., None])[..., 0].where(inside, 0.0).sum(dim=1)
        return of_arcs.index_add(0, sentences, scores[places, labels - 1])

    parses = _strongest_rivals(scores.detach(), arcs.detach(), order.detach(), spans, gold, governors)
    best = scores.new_tensor([parse.score for parse in parses])
    rows = [(b, *span[:3]) for b, parse in enumerate(parses) for span in parse.spans]
    table = np.array(rows, dtype=np.int64)
    places = spans.index(table[:, 0], table[:, 1], table[:, 2]).to(scores.device)
    sentences, labels = (torch.from_numpy(table[:, column]).to(scores.device) for column in (0, 3))
    above = torch.zeros_like(governors)
    for b, parse in enumerate(parses):
        above[b, : len(parse.governors)] = torch.tensor(parse.governors) + 1  # the root is -1
    rival = total(places, labels, sentences, above)
    # The rival's score with its points is the decoder's; the gradient is that of its score without them.
    gap = rival - rival.detach() + best - total(gold.spans, gold.labels, gold.sentences, governors)
    return functional.relu(gap).sum()


def _strongest_rivals(
    scores: Tensor, arcs: Tensor, order: Tensor, spans: Spans, gold: Gold, governors: Tensor
) -> list[Parse]:
    """Return the trees that `h3n` finds with a point added to every mistake."""
    full, unlabelled, label = (chart.cpu().numpy() for chart in _margins(scores, spans, gold)[:3])
    points = torch.ones_like(arcs).scatter_(2, governors[..., None], 0.0)
    # Words in padding have no governor at all; any number will do for them.
    arc = (arcs + points).nan_to_num(nan=0.0).transpose(1, 2).contiguous().cpu().numpy()
    head = order.float().cpu().numpy()
    sentences = [
        Scores(
            full=full[b, : n + 1, : n + 1],
            open=unlabelled[b, : n + 1, : n + 1],
            arc=arc[b, 1 : n + 1, :n],
            root=np.ascontiguousarray(arc[b, 0, :n]),
            head=np.ascontiguousarray(head[b, :n]),
            label=label[b, : n + 1, : n + 1],
        )
        for b, n in enumerate(spans.lengths)
    ]
    return decode_batch(sentences, "h3n")


def _margins(scores: Tensor, spans: Spans, gold: Gold) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Return charts of the best label, of the best label or none, and of the labels, and every span's gold label.

    Wrong labels have a point added, and so has no label where gold has one.
    """
    gold_label = torch.zeros(len(spans), dtype=torch.int64, device=scores.device)
    gold_label[gold.spans] = gold.labels
    margins = scores + 1.0
    margins[gold.spans, gold.labels - 1] -= 1.0
    full, label = margins.max(dim=-1)
    either = torch.maximum(full, (gold_label > 0).to(full.dtype))
    labels = spans.square((label + 1).int(), empty=0)
    return spans.square(full, empty=0.0), spans.square(either, empty=0.0), labels, gold_label


def gold_table(tables: Sequence[np.ndarray | None], spans: Spans, device: torch.device) -> Gold:
    """Return what the tables of spans say, which have a fourth column where they are soft labels."""
    known = [table for table in tables if table is not None]
    table = np.concatenate([table[:, :3] for table in known])
    sentence = np.repeat(np.arange(len(known)), [len(table) for table in known])
    index = spans.index(sentence, table[:, 0], table[:, 1])
    shares = None
    if any(table.shape[1] > 3 for table in known):
        thousandths = [table[:, 3] if table.shape[1] > 3 else np.full(len(table), WHOLE) for table in known]
        shares = (torch.from_numpy(np.concatenate(thousandths)).float() / WHOLE).to(device)
    labels, sentences = torch.from_numpy(table[:, 2]), torch.from_numpy(sentence)
    return Gold(index.to(device), labels.to(device), sentences.to(device), shares)


def crf(scores: Tensor, spans: Spans, gold: Gold) -> Tensor:
    """Return minus the log-probability of the gold trees among all labelled trees."""
    partition = log_partition(scores.logsumexp(dim=-1), spans).sum()
    return partition - gold.score(scores)


def softmax(scores: Tensor, spans: Spans, gold: Gold) -> Tensor:
    """Return the sum over all spans of minus the log-probability of the right label, empty or not."""
    del spans
    total = functional.softplus(scores.logsumexp(dim=-1)).sum()  # the empty label scores 0
    return total - gold.score(scores)


def hinge(scores: Tensor, spans: Spans, gold: Gold) -> Tensor:
    """Return how far the gold trees are from beating every other tree by its number of wrong labels.

    (paper, section II)

    The search for the strongest rival sees scores with one point added to every wrong label; gradients flow through
    the scores of the rival and of the gold tree, not through the search.
    """
    with torch.no_grad():
        full, either, label, gold_label = _margins(scores, spans, gold)
        nodes, _ = cky_nodes(full.cpu(), either.cpu(), label.cpu(), lengths=spans.lengths)
        sentence, start, end, chosen = torch.from_numpy(nodes.astype(np.int64)).to(scores.device).unbind(dim=1)
        index = spans.index(sentence.cpu().numpy(), start.cpu().numpy(), end.cpu().numpy()).to(scores.device)
        points = (chosen != gold_label[index]).to(scores.dtype)
    labelled = chosen > 0
    rival = points.masked_fill(labelled, 0.0).index_put((labelled,), scores[index[labelled], chosen[labelled] - 1])
    gap = scores.new_zeros(len(spans.lengths)).index_add(0, sentence, rival + points.where(labelled, 0.0))
    gap = gap.index_add(0, gold.sentences, -scores[gold.spans, gold.labels - 1])
    return functional.relu(gap).sum()


SpanLoss = Callable[[Tensor, Spans, Gold], Tensor]
SPAN_LOSSES: dict[str, SpanLoss] = {"hinge": hinge, "crf": crf, "softmax": softmax}
BY_SHARES = frozenset({"crf", "softmax"})  # which are expectations, so that trees may have shares


def _cross_entropy(scores: Tensor, targets: Tensor) -> Tensor:
    """Return the sum of minus the log-probability of the targets; zero without any."""
    if not bool((targets != IGNORE).any()):
        return scores.new_zeros(()) + scores[:0].sum() * 0.0
    return functional.cross_entropy(scores.float(), targets, ignore_index=IGNORE, reduction="sum")
