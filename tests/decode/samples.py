"""Scores to test with, and what every parse must be."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from h3n.decode import Parse, Scores
from h3n.trees import ROOT, find_cycle

JOINT = ("hpsg", "h3n", "auto")
FIELDS = ("full", "open", "arc", "root", "head", "label")


def random_scores(rng: np.random.Generator, words: int, *, low: int = -3, high: int = 3, forbid: float = 0.0) -> Scores:
    """Return whole numbers: sums are exact and ties are common. ``forbid`` is the share of cells set to -inf."""

    def draw(*shape: int) -> np.ndarray:
        drawn = rng.integers(low, high + 1, shape).astype(np.float32)
        drawn[rng.random(shape) < forbid] = -np.inf
        return drawn

    full = draw(words + 1, words + 1)
    return Scores(
        full=full,
        open=np.maximum(full, np.where(rng.random(full.shape) < forbid, -np.inf, 0)).astype(np.float32),
        arc=draw(words, words),
        root=draw(words),
        head=rng.integers(low, high + 1, words).astype(np.float32),
        label=rng.integers(1, 9, full.shape).astype(np.int32),
    )


def fields_of(scores: Scores) -> dict[str, Any]:
    """Return the arrays by name, as `Scores` takes them."""
    return {name: getattr(scores, name) for name in FIELDS}


def sentences(*, max_words: int, min_words: int = 1, forbid: float = 0.0) -> SearchStrategy[Scores]:
    """Draw sentences of whole-number scores; hypothesis picks length, seed and spread."""
    return st.builds(
        lambda words, seed, spread: random_scores(
            np.random.default_rng(seed), words, low=-spread, high=spread, forbid=forbid
        ),
        st.integers(min_words, max_words),
        st.integers(0, 2**32 - 1),
        st.sampled_from([1, 3, 50]),
    )


def check_parse(parse: Parse, scores: Scores, decoder: str) -> None:
    """Fail unless the parse is a tree of the kind the decoder finds, worth what it says."""
    n = len(scores)
    total = 0.0
    if decoder in ("mst", "eisner"):
        assert parse.spans == ()
    else:
        check_spans(parse, n)
        assert scores.full is not None
        total += sum(float(scores.full[i, j]) for i, j, _, _ in parse.spans)
    if decoder == "cky":
        assert parse.governors == ()
        assert all(head == -1 for *_, head in parse.spans)
    else:
        assert len(parse.governors) == n
        assert n == 0 or list(parse.governors).count(ROOT) == 1
        assert find_cycle(parse.governors) is None
        assert scores.arc is not None
        assert scores.root is not None
        total += sum(float(scores.root[m] if h == ROOT else scores.arc[h, m]) for m, h in enumerate(parse.governors))
    if decoder in JOINT:
        check_heads(parse)
    assert parse.score == total  # spans without a label are worth nothing in random_scores


def check_spans(parse: Parse, n: int) -> None:
    """Fail unless the spans nest, stand in pre-order and include the whole sentence."""
    if n:
        assert parse.spans[0][:2] == (0, n)
    assert len({span[:2] for span in parse.spans}) == len(parse.spans)
    assert [s[:2] for s in parse.spans] == sorted((s[:2] for s in parse.spans), key=lambda s: (s[0], -s[1]))
    for i, j, *_ in parse.spans:
        assert not any(i < a < j < b for a, b, *_ in parse.spans)


def check_heads(parse: Parse) -> None:
    """Fail unless the Head Feature Principle holds: only the head of a span has its governor outside, and a dependent
    of more than one word is a labelled span."""
    spans = {(i, j): head for i, j, _, head in parse.spans}
    for (i, j), head in spans.items():
        assert [m for m in range(i, j) if not i <= parse.governors[m] < j] == [head]
    for word, governor in enumerate(parse.governors):
        descendants = _descendants(parse.governors, word)
        first, last = min(descendants), max(descendants) + 1
        assert len(descendants) == last - first  # projective
        if governor != ROOT and last - first > 1:
            assert spans.get((first, last)) == word


def _descendants(governors: tuple[int, ...], top: int) -> set[int]:
    found = {top}
    while more := {m for m, h in enumerate(governors) if h in found} - found:
        found |= more
    return found
