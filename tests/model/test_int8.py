"""Parts of the network in 8 bits beside the same parts in 32."""

from __future__ import annotations

from pathlib import Path
from typing import TypeVar

import pytest
import torch
from torch import Tensor, nn

from h3n.config import Layers
from h3n.engine import Architecture
from h3n.errors import UsageError
from h3n.model import native
from h3n.model.bert import Bert, BertConfig
from h3n.model.int8 import Int8Arcs, Int8Bert, Int8Linear, Int8Relations, Int8Spans, Int8Stack, pays_off, use_int8
from h3n.model.layers import Stack
from h3n.model.mpnet import Mpnet
from h3n.model.scorers import ArcScorer, RelationScorer, SpanScorer
from h3n.model.spans import spans_of

Module = TypeVar("Module", bound=nn.Module)
OPTIONS = Architecture(
    kind="bert",
    vocab_size=50,
    type_vocab_size=2,
    hidden_size=96,
    intermediate_size=160,
    layers=3,
    heads=4,
    max_positions=40,
    pad=0,
    epsilon=1e-12,
    activation="gelu",
    buckets=32,
    dropout=0.1,
    attention_dropout=0.1,
)
LENGTHS = (30, 1, 12, 3)


def spread(module: Module) -> Module:
    """Return the module with random weights, also where it starts from zeros and ones."""
    torch.manual_seed(5)
    with torch.no_grad():
        for parameter in module.parameters():
            parameter.copy_(torch.randn_like(parameter) / max(parameter.shape[-1], 4) ** 0.5)
    return module.eval()


def rounded(module: nn.Module) -> nn.Module:
    """Return what takes the place of a module in a fast network."""
    holder = nn.ModuleDict({"part": module})
    use_int8(holder)
    return holder["part"]


def assert_near(found: Tensor, wanted: Tensor, *, share: float = 0.03) -> None:
    """Check that the two differ, by rounding, and by no more than a share of how large the numbers are."""
    error = (found - wanted).abs()
    assert 0 < error.mean() < share * wanted.abs().mean()
    assert error.max() < 5 * share * wanted.abs().max()


def words(width: int, *, edges: int = 2) -> tuple[Tensor, Tensor]:
    torch.manual_seed(7)
    mask = torch.arange(max(LENGTHS) + edges)[None] < torch.tensor(LENGTHS)[:, None] + edges
    return torch.randn(*mask.shape, width), mask


@torch.inference_mode()
@pytest.mark.parametrize("kind", [Bert, Mpnet])
def test_bert(kind: type[Bert]) -> None:
    bert = spread(kind(BertConfig(Path(), OPTIONS)))
    fast = rounded(bert)
    assert isinstance(fast, Int8Bert)
    _, mask = words(1)
    ids = torch.randint(0, 50, mask.shape)
    found, wanted = (model(ids, mask.long(), torch.zeros_like(ids)).last_hidden_state for model in (fast, bert))
    assert_near(found[mask], wanted[mask], share=0.06)
    for at, length in enumerate(LENGTHS):  # alone as in the batch, to the last bit
        alone = fast(ids[at : at + 1, : length + 2], torch.ones(1, length + 2)).last_hidden_state
        assert torch.equal(alone[0], found[at, : length + 2])


@torch.inference_mode()
@pytest.mark.parametrize("count", [1, 2])
def test_partitioned_layers(count: int) -> None:
    stack = spread(Stack(Layers(count=count, size=64, heads=3, head_size=20, inner=72, positions=20)))
    fast = rounded(stack)
    assert isinstance(fast, Int8Stack)
    content, mask = words(32)
    assert_near(fast(content, mask)[mask], stack(content, mask)[mask], share=0.06)


@torch.inference_mode()
@pytest.mark.parametrize("pair", [0, 70])
@pytest.mark.parametrize("helper", [None, 1, 2, 80])
def test_spans(pair: int, helper: int | None) -> None:
    scorer = spread(SpanScorer(64, 90, 80, dropout=0.3, pair=pair))
    given, _ = words(64)
    spans = spans_of(LENGTHS)
    wanted, (best, labels) = (
        scorer(scorer.posts(given), spans),
        scorer.best(scorer.posts(given), spans, helper=helper),
    )
    fast = rounded(scorer)
    assert isinstance(fast, Int8Spans)
    scores, (found, found_labels) = fast(fast.posts(given), spans), fast.best(fast.posts(given), spans, helper=helper)
    assert_near(scores, wanted)
    assert_near(found, best)
    assert (found_labels == labels).float().mean() > 0.9
    # What is said to be best is the best of what is said of all, save for the helper label.
    if helper is not None:
        width = spans.end - spans.start
        barred = (width == 1) | (width == torch.tensor(LENGTHS)[spans.sentence])
        scores[barred, helper - 1] = -torch.inf
    assert torch.equal(found, scores.max(dim=-1).values)
    assert torch.equal(found_labels, scores.argmax(dim=-1) + 1)


@torch.inference_mode()
def test_arcs() -> None:
    scorer = spread(ArcScorer(64, 80, dropout=0.3))
    given, mask = words(64)
    wanted = scorer(given, mask)
    fast = rounded(scorer)
    assert isinstance(fast, Int8Arcs)
    found = fast(given, mask)
    assert torch.equal(found.isneginf(), wanted.isneginf())
    assert_near(found[found.isfinite()], wanted[wanted.isfinite()], share=0.05)


@torch.inference_mode()
def test_relations() -> None:
    at_root = (False, True, *(False,) * 18)
    scorer = spread(
        RelationScorer(64, 70, at_root=at_root, elsewhere=tuple(not allowed for allowed in at_root), dropout=0.3)
    )
    given, mask = words(64)
    governors, dependents = (role[mask] for role in scorer.roles(given))
    root = torch.arange(len(governors)) % 7 == 0
    wanted = scorer(governors, dependents, root=root)
    fast = rounded(scorer)
    assert isinstance(fast, Int8Relations)
    found = fast(governors, dependents, root=root)
    assert torch.equal(found.isneginf(), wanted.isneginf())
    assert_near(found[found.isfinite()], wanted[wanted.isfinite()], share=0.05)


@torch.inference_mode()
def test_small_layers_are_left_alone() -> None:
    holder = nn.ModuleDict({"small": nn.Linear(63, 200), "large": nn.Linear(64, 64, bias=False)})
    given = torch.randn(3, 2, 64)
    wanted = holder["large"](given)
    use_int8(holder)
    assert type(holder["small"]) is nn.Linear
    assert isinstance(holder["large"], Int8Linear)
    assert_near(holder["large"](given), wanted)


def test_when_it_pays_off(monkeypatch: pytest.MonkeyPatch) -> None:
    holder = nn.ModuleDict({"model": Bert(BertConfig(Path(), OPTIONS))})
    monkeypatch.delenv("H3N_ISA", raising=False)
    monkeypatch.setattr(native._layers, "targets", lambda: ["avx512_vnni", "baseline"])
    assert pays_off(holder)
    assert not pays_off(nn.ModuleDict({"other": nn.Linear(100, 100)}))
    monkeypatch.setattr(native._layers, "targets", lambda: ["avx2", "baseline"])
    assert pays_off(holder)
    monkeypatch.setenv("H3N_ISA", "baseline")
    assert not pays_off(holder)
    monkeypatch.setenv("H3N_ISA", "avx512_vnni")
    with pytest.raises(UsageError, match="H3N_ISA is 'avx512_vnni'; accepted on this machine: avx2, baseline"):
        pays_off(holder)
    monkeypatch.delenv("H3N_ISA")
    monkeypatch.setattr(native._layers, "targets", lambda: ["baseline"])
    assert not pays_off(holder)
    monkeypatch.setattr(native, "_layers", None)
    assert not pays_off(holder)
    with pytest.raises(UsageError, match="not built for this platform"):
        use_int8(holder)
