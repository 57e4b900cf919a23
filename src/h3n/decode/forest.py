"""More than the best tree: the k best ones, how probable each part is, samples, and the tree of least risk.

A tree is what its reader sees: spans with labels and heads, and governors. Its probability is e to the power of its
score over the sum of that for all trees the decoder may choose from. Each tree counts once, however many ways there
are to binarize a flat phrase. A span without a label is taken to score 0, as it does in every model. Trees differ in
spans, heads and governors; each span has its best label.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from h3n.decode import native
from h3n.decode.constraints import Constraints
from h3n.decode.decoders import DECODERS, EXACT_UP_TO, MEMORY_LIMIT, check_memory, constrain_all, decode_batch, resolve
from h3n.decode.scores import Floats, Parse, Scores, empty_scores
from h3n.errors import UnknownName, UsageError
from h3n.trees import ROOT

FOREST_DECODERS = tuple(name for name in DECODERS if name != "mst")  # those with a chart


@dataclass(frozen=True, slots=True, eq=False)
class Distribution:
    """How probable trees and their parts are.

    Parts of a probability of less than 1e-12 may be taken for impossible. What the decoder does not find is None.
    ``heads`` has the cells of 1 in 10,000 or more: rows (start, end, head) and the probability of each.
    """

    log_partition: float  # the logarithm of the sum over all trees of e^score
    entropy: float  # in nats
    spans: Floats | None  # (n+1, n+1): some label on words i .. j-1
    arcs: Floats | None  # (n, n): [governor, word]
    roots: Floats | None  # (n,)
    heads: tuple[NDArray[np.int32], Floats] | None

    def probability(self, parse: Parse) -> float:
        """Return how probable this tree is among all."""
        return float(np.exp(parse.score - self.log_partition))


def best_parses(
    sentences: Sequence[Scores],
    decoder: str = "auto",
    *,
    best: int,
    exact_up_to: int = EXACT_UP_TO,
    memory_limit: int = MEMORY_LIMIT,
    constraints: Sequence[Constraints | None] | None = None,
) -> list[tuple[Parse, ...]]:
    """Return the best trees of each sentence, all different, the best first; fewer where there are not so many."""
    if best < 1:
        raise UsageError(f"{best} best trees; 1 or more is accepted")
    allowed, names = _ready(sentences, decoder, exact_up_to, memory_limit, constraints)
    return [tuple(answer.best) for answer in native.explore(allowed, names, best=best, limit=memory_limit)]


def sample_parses(
    sentences: Sequence[Scores],
    decoder: str = "auto",
    *,
    count: int,
    seed: int,
    exact_up_to: int = EXACT_UP_TO,
    memory_limit: int = MEMORY_LIMIT,
    constraints: Sequence[Constraints | None] | None = None,
) -> list[tuple[Parse, ...]]:
    """Return trees of each sentence drawn by their probability; the same for the same seed and place in the batch."""
    if count < 1:
        raise UsageError(f"{count} samples; 1 or more is accepted")
    allowed, names = _ready(sentences, decoder, exact_up_to, memory_limit, constraints)
    return [
        tuple(answer.samples) for answer in native.explore(allowed, names, samples=count, seed=seed, limit=memory_limit)
    ]


def distributions(
    sentences: Sequence[Scores],
    decoder: str = "auto",
    *,
    exact_up_to: int = EXACT_UP_TO,
    memory_limit: int = MEMORY_LIMIT,
    constraints: Sequence[Constraints | None] | None = None,
) -> list[Distribution]:
    """Return the distribution over the trees of each sentence."""
    allowed, names = _ready(sentences, decoder, exact_up_to, memory_limit, constraints, DECODERS)
    found = []
    for scores, answer in zip(allowed, native.explore(allowed, names, marginals=True, limit=memory_limit), strict=True):
        arcs, cells, values = answer.arcs, answer.head_cells, answer.head_values
        if arcs is None and len(scores) == 0 and "arc" in DECODERS[decoder].needs:
            arcs = np.zeros((1, 0), dtype=np.float32)
        found.append(
            Distribution(
                answer.log_partition,
                answer.entropy,
                answer.spans,
                None if arcs is None else arcs[:-1],
                None if arcs is None else arcs[-1],
                None if cells is None or values is None else (cells, values),
            )
        )
    return found


def least_risk(scores: Scores, decoder: str = "hpsg", *, weight: float = 0.5, rounds: int = 8) -> Parse:
    """Return the joint tree of highest expected ``weight`` x F1 of spans + (1 - ``weight``) x share of right governors.

    The expectation of F1 is taken as twice the expected matches over the expected number of spans in both trees. A
    ratio is not a sum over the tree: so a tree is found for the ratio of the one before, until it stays (Dinkelbach).
    """
    (given,) = distributions([scores], decoder)
    if given.spans is None or given.arcs is None or given.roots is None:
        raise UsageError(f"`{decoder}` finds one kind of tree; `hpsg`, `h3n`, `auto` find both")
    n = len(scores)
    if n == 0:
        return Parse((), (), 0.0)
    gold = float(given.spans.sum())
    (parse,) = decode_batch([scores], decoder)
    barred = np.isneginf(empty_scores(scores))
    for _ in range(rounds):
        count = gold + len(parse.spans)
        ratio = 2 * sum(float(given.spans[i, j]) for i, j, *_ in parse.spans) / count
        full = (weight * (2 * given.spans - ratio) / count).astype(np.float32)
        full[given.spans == 0] = -np.inf
        full[0, n] = 0.0
        open_ = np.maximum(full, np.where(barred, np.float32(-np.inf), np.float32(0.0)))
        arc, root = ((1 - weight) / n * share for share in (given.arcs, given.roots))
        risk = replace(scores, full=full, open=open_, arc=arc, root=root, empty=None)
        (found,) = decode_batch([risk], decoder)
        same = found.governors == parse.governors and found.spans == parse.spans
        parse = found
        if same:
            break
    return replace(parse, score=_score(scores, parse))


def _score(scores: Scores, parse: Parse) -> float:
    assert scores.full is not None
    assert scores.arc is not None
    assert scores.root is not None
    spans = sum(float(scores.full[i, j]) for i, j, *_ in parse.spans)
    arcs = (float(scores.root[m] if h == ROOT else scores.arc[h, m]) for m, h in enumerate(parse.governors))
    return spans + sum(arcs)


def _ready(
    sentences: Sequence[Scores],
    decoder: str,
    exact_up_to: int,
    memory_limit: int,
    constraints: Sequence[Constraints | None] | None,
    known: Collection[str] = FOREST_DECODERS,
) -> tuple[Sequence[Scores], list[str]]:
    if decoder not in known:
        raise UnknownName("decoder", decoder, known)
    names = [resolve(decoder, len(scores), exact_up_to) for scores in sentences]
    for number, (scores, name) in enumerate(zip(sentences, names, strict=True)):
        if name == "hpsg":
            check_memory(number, len(scores), memory_limit)
    allowed = constrain_all(sentences, decoder, constraints) if constraints is not None else sentences
    return allowed, names
