"""The network whose scorers read words together, beside the same scorers one by one."""

from __future__ import annotations

import copy
from pathlib import Path

import numpy as np
import pytest
import torch
from h3n.model.int8 import SMALLEST, use_int8
from h3n.model.int8_network import Int8Network
from torch import nn

from h3n.decode import EXACT_UP_TO
from h3n.model import native
from h3n.model.model import Model
from h3n.model.network import Network, Output
from h3n.model.scorers import SpanScorer, WordScorer
from h3n.trees import Sentence

WORDS = ["the", "old", "dog", "near", "Oslo", "saw", "a", "very", "small", "cat", ".", "and"]
pytestmark = pytest.mark.skipif(not native.targets(), reason="the native layers are not built")


@pytest.fixture(scope="module", params=[0, 24], ids=["differences", "pairs"])
def model(tiny_model: Path, request: pytest.FixtureRequest) -> Model:
    """Return a model, with and without scores for pairs of fenceposts, whose scorers are worth 8 bits."""
    loaded = Model.load(tiny_model)
    torch.manual_seed(3)
    network, known = loaded.network, loaded.vocabulary
    scorer = SpanScorer(network.encoder.size, 64, len(known.labels) - 1, dropout=0.0, pair=request.param)
    if scorer.weight is not None:
        nn.init.normal_(scorer.weight)
    network.span = scorer
    network.tag = WordScorer(network.encoder.size, SMALLEST, (len(known.tags), len(known.upos)), dropout=0.0)
    network.eval()
    return loaded


def output_of(model: Model, network: Network) -> Output:
    """Return what a network says of sentences of very different lengths."""
    sentences = [Sentence(words=tuple(WORDS[:n])) for n in (11, 1, 4, 12)]
    ((_, inputs),) = model.batches(sentences)
    scored = Model(network, model.vocabulary, model.config).score_batch(sentences, inputs)
    return scored.output


def test_together_is_one_by_one_to_the_last_bit(model: Model) -> None:
    alone = copy.deepcopy(model.network)
    use_int8(alone)
    found = output_of(model, Int8Network(copy.deepcopy(model.network)).eval())
    wanted = output_of(model, alone.eval())
    words = wanted.words
    for name in ("arcs", "tags", "upos", "levels"):
        assert torch.equal(getattr(found, name)[words], getattr(wanted, name)[words]), name
    inner = wanted.mask[:, 1:]  # the root and the words
    assert torch.equal(found.governors[:, :-1][inner], wanted.governors[:, :-1][inner])
    assert torch.equal(found.dependents[:, 1:-1][words], wanted.dependents[:, 1:-1][words])
    assert torch.equal(found.posts.hidden[inner], wanted.posts.hidden[inner])
    assert (found.posts.pairs is None) == (wanted.posts.pairs is None)
    if found.posts.pairs is not None and wanted.posts.pairs is not None:
        both = inner[:, :, None] & inner[:, None]
        assert torch.equal(found.posts.pairs[both], wanted.posts.pairs[both])


def test_levels_are_left_out_where_no_decoder_asks_for_them(model: Model, monkeypatch: pytest.MonkeyPatch) -> None:
    network = Int8Network(copy.deepcopy(model.network)).eval()
    fast = Model(network, model.vocabulary, model.config)
    asked: list[int] = []
    forward = network.head.forward
    monkeypatch.setattr(network.head, "forward", lambda x: asked.append(x.shape[1]) or forward(x))
    short, long = (Sentence(words=("dog",) * n) for n in (4, EXACT_UP_TO + 1))
    for sentence in (short, long):
        for _, scored in fast.score([sentence]):
            fast.prepare(scored, decoder="auto")
    assert asked == [len(long)]
    for _, scored in fast.score([short]):
        fast.prepare(scored, decoder="h3n")
    assert asked == [len(long), len(short)]


def test_together_reads_rows_where_they_lie() -> None:
    torch.manual_seed(1)
    layers = [nn.Linear(64, 5), nn.Linear(64, 70, bias=False)]
    x = torch.randn(9, 64).numpy()
    places = np.array([7, 0, 3, 8], dtype=np.int64)
    scattered = np.zeros((9, 70), dtype=np.float32)
    both = native.Together(layers, activations=["relu", "none"])
    few, _ = both(x, places, rows=[2, 4], outs=[None, scattered])
    assert np.array_equal(few, native.Linear(layers[:1], activation="relu")(x[places[:2]]))
    assert np.array_equal(scattered[places], native.Linear(layers[1:])(x[places]))
    assert not scattered[[1, 2, 4, 5, 6]].any(), "no other row is written to"
    for wrong in ([9], [-1]):
        with pytest.raises(ValueError, match="a place is wrong"):
            both(x, np.array(wrong, dtype=np.int64), rows=[1, 1], outs=[None, None])
    with pytest.raises(ValueError, match="fewer places than rows"):
        both(x, places, rows=[5, 1], outs=[None, None])
