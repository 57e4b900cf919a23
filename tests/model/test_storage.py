"""Weights in fewer bits."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from h3n.errors import UsageError
from h3n.model.model import Model
from h3n.model.storage import GROUP, SCALE, SMALLEST, pack, unpack


def state(seed: int = 0) -> dict[str, torch.Tensor]:
    torch.manual_seed(seed)
    return {
        "matrix": torch.randn(70, 64) * torch.logspace(-4, 3, 70)[:, None],
        "cube": torch.randn(5, 33, 32),
        "small": torch.randn(8, 8),
        "vector": torch.randn(SMALLEST + 1),
        "zeros": torch.zeros(64, 64),
        "counts": torch.arange(9),
    }


@given(st.integers(0, 1000))
@settings(deadline=None, max_examples=20)
def test_eight_bits_are_within_half_a_step_of_each_row(seed: int) -> None:
    given_state = state(seed)
    packed = pack(given_state, 8)
    assert packed["matrix"].dtype == packed["cube"].dtype == torch.int8
    assert packed["vector"].dtype == packed["small"].dtype == torch.float16
    assert packed["counts"].dtype == torch.int64
    found = unpack(packed)
    assert found.keys() == given_state.keys()
    for name in ("matrix", "cube", "zeros"):
        step = given_state[name].abs().amax(dim=-1, keepdim=True) / 127
        assert torch.all((found[name] - given_state[name]).abs() <= 0.5 * step * 1.001)
    assert torch.allclose(found["vector"], given_state["vector"], rtol=1e-3, atol=1e-7)  # halves have a smallest step
    assert torch.equal(found["counts"], given_state["counts"])
    assert all(value.dtype != torch.float16 for value in found.values())


@given(st.integers(0, 1000))
@settings(deadline=None, max_examples=20)
def test_four_bits_are_at_least_as_near_as_the_plain_scale(seed: int) -> None:
    given_state = state(seed) | {"odd": torch.randn(100, 50)}
    packed = pack(given_state, 4)
    assert packed["matrix"].dtype == torch.uint8
    assert packed["matrix"].shape == (70, 32)
    assert packed["matrix" + SCALE].shape == (70, 2)
    assert packed["matrix" + SCALE].dtype == torch.float16
    assert packed["odd"].dtype == torch.int8  # not whole groups
    found = unpack(packed)
    assert found.keys() == given_state.keys()
    assert all(found[name].shape == given_state[name].shape for name in given_state)
    assert torch.all(found["zeros"] == 0)
    for name in ("matrix", "cube"):
        groups, near = (one.unflatten(-1, (-1, GROUP)) for one in (given_state[name], found[name]))
        scale = groups.abs().amax(dim=-1, keepdim=True) / 7
        plain = (groups / scale).round() * scale
        error, usual = ((groups - one).square().sum(dim=-1) for one in (near, plain))
        assert torch.all(error <= usual * 1.05)
        assert error.sum() < 0.95 * usual.sum()


def test_parts_may_have_bits_of_their_own() -> None:
    names = ("a.word_embeddings.weight", "0.intermediate.dense.weight", "b.weight")
    weights = {name: torch.randn(128, 64) for name in names}
    kinds = {name: value.dtype for name, value in pack(weights, 8, embedding_bits=4).items()}
    assert kinds["a.word_embeddings.weight"] == torch.uint8
    assert kinds["b.weight"] == kinds["0.intermediate.dense.weight"] == torch.int8
    kinds = {name: value.dtype for name, value in pack(weights, 8, inner_bits=4).items()}
    assert kinds["0.intermediate.dense.weight"] == torch.uint8
    assert kinds["b.weight"] == kinds["a.word_embeddings.weight"] == torch.int8


def test_packing_again_changes_nothing() -> None:
    packed = pack(state(), 8)
    again = pack(unpack(dict(packed)), 8)
    assert all(torch.equal(packed[name], again[name]) for name in packed if not name.endswith(SCALE))


def test_thirty_two_bits_are_exact_and_other_numbers_are_refused() -> None:
    given_state = state()
    found = unpack(pack(given_state, 32))
    assert all(torch.equal(found[name], given_state[name]) for name in given_state)
    with pytest.raises(UsageError, match="5 bits; accepted: 4, 8, 16, 32"):
        pack(given_state, 5)
    with pytest.raises(UsageError, match="3 bits; accepted: 4, 8, 16, 32"):
        pack(given_state, 8, embedding_bits=3)


@pytest.mark.parametrize(("bits", "share"), [(16, 0.55), (8, 0.45), (4, 0.35)])
def test_a_parser_in_fewer_bits_is_smaller_and_parses_alike(
    bits: int, share: float, tiny_model: Path, tmp_path: Path
) -> None:
    whole = Model.load(tiny_model)
    whole.save(tmp_path, bits=bits)
    sizes = [(folder / "model.safetensors").stat().st_size for folder in (tmp_path, tiny_model)]
    assert sizes[0] < share * sizes[1]
    small = Model.load(tmp_path)
    assert all(value.dtype == torch.float32 for value in small.network.parameters())
    given_words = [["this", "dog", "saw", "the", "old", "house", "."], ["Oslo", "found", "every", "telescope", "."]]
    for one, other in zip(whole.parse(given_words), small.parse(given_words), strict=True):
        assert one.score == pytest.approx(other.score, abs=0.02 * len(one.sentence) * abs(one.score) + 0.1)
        assert one.parse.governors == other.parse.governors
