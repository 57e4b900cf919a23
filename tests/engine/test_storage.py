"""Weights in fewer bits."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from h3n.engine.storage import GROUP, SCALE, SMALLEST, Array, Stored, pack, stored, unpack
from h3n.errors import UsageError
from h3n.model.model import Model
from tests.engine import torch_packing
from tests.parsing import parse


def state(seed: int = 0) -> dict[str, Array]:
    random = np.random.default_rng(seed)

    def normal(*shape: int) -> Array:
        return random.standard_normal(shape, dtype=np.float32)

    return {
        "matrix": normal(70, 64) * np.logspace(-4, 3, 70, dtype=np.float32)[:, None],
        "cube": normal(5, 33, 32),
        "small": normal(8, 8),
        "vector": normal(SMALLEST + 1),
        "zeros": np.zeros((64, 64), dtype=np.float32),
        "odd": normal(100, 50),
        "counts": np.arange(9),
    }


@pytest.mark.parametrize("bits", [4, 8, 16, 32])
@given(seed=st.integers(0, 1000))
@settings(deadline=None, max_examples=10)
def test_the_bytes_are_those_that_torch_makes(bits: int, seed: int) -> None:
    ours = pack(state(seed), bits)
    theirs = torch_packing.pack({name: torch.from_numpy(value) for name, value in state(seed).items()}, bits)
    assert ours.keys() == theirs.keys()
    for name, value in ours.items():
        assert value.dtype == theirs[name].numpy().dtype
        assert value.tobytes() == theirs[name].numpy().tobytes()
    found, expected = unpack(ours), torch_packing.unpack(dict(theirs))
    assert all(found[name].tobytes() == expected[name].numpy().tobytes() for name in state())


def test_torch_itself_adds_up_to_the_same_bytes() -> None:
    """Its sums may differ in the last bit from one processor to another: hardly a scale changes."""
    value = state()["matrix"]
    groups = torch.from_numpy(value).unflatten(-1, (-1, GROUP))
    ours = torch_packing._sum(groups.square())
    assert torch.allclose(ours, groups.square().sum(dim=-1, keepdim=True), rtol=1e-6)


@pytest.mark.parametrize("bits", [4, 8, 16, 32])
def test_rows_are_those_of_the_whole(bits: int) -> None:
    packed = pack(state(), bits)
    for name in ("matrix", "cube", "odd"):
        one = stored(packed[name], packed.get(name + SCALE))
        assert isinstance(one, Stored)
        assert one.shape == state()[name].shape == one.floats().shape
        ids = np.array([[3, 0], [4, 3]])
        assert np.array_equal(one.rows(ids), one.floats()[ids])


@given(st.integers(0, 1000))
@settings(deadline=None, max_examples=20)
def test_eight_bits_are_within_half_a_step_of_each_row(seed: int) -> None:
    given_state = state(seed)
    packed = pack(given_state, 8)
    assert packed["matrix"].dtype == packed["cube"].dtype == np.int8
    assert packed["vector"].dtype == packed["small"].dtype == np.float16
    assert packed["counts"].dtype == np.int64
    found = unpack(packed)
    assert found.keys() == given_state.keys()
    for name in ("matrix", "cube", "zeros"):
        step = np.abs(given_state[name]).max(axis=-1, keepdims=True) / 127
        assert np.all(np.abs(found[name] - given_state[name]) <= 0.5 * step * 1.001)
    assert np.allclose(found["vector"], given_state["vector"], rtol=1e-3, atol=1e-7)  # halves have a smallest step
    assert np.array_equal(found["counts"], given_state["counts"])
    assert all(value.dtype != np.float16 for value in found.values())


@given(st.integers(0, 1000))
@settings(deadline=None, max_examples=20)
def test_four_bits_are_at_least_as_near_as_the_plain_scale(seed: int) -> None:
    given_state = state(seed)
    packed = pack(given_state, 4)
    assert packed["matrix"].dtype == np.uint8
    assert packed["matrix"].shape == (70, 32)
    assert packed["matrix" + SCALE].shape == (70, 2)
    assert packed["matrix" + SCALE].dtype == np.float16
    assert packed["odd"].dtype == np.int8  # not whole groups
    found = unpack(packed)
    assert found.keys() == given_state.keys()
    assert all(found[name].shape == given_state[name].shape for name in given_state)
    assert np.all(found["zeros"] == 0)
    for name in ("matrix", "cube"):
        groups, near = (one.reshape(*one.shape[:-1], -1, GROUP) for one in (given_state[name], found[name]))
        scale = np.abs(groups).max(axis=-1, keepdims=True) / 7
        plain = np.rint(groups / scale) * scale
        error, usual = (np.square(groups - one).sum(axis=-1) for one in (near, plain))
        assert np.all(error <= usual * 1.05)
        assert error.sum() < 0.95 * usual.sum()


def test_parts_may_have_bits_of_their_own() -> None:
    names = ("a.word_embeddings.weight", "0.intermediate.dense.weight", "b.weight")
    weights = {name: state()["matrix"] for name in names}
    kinds = {name: value.dtype for name, value in pack(weights, 8, embedding_bits=4).items()}
    assert kinds["a.word_embeddings.weight"] == np.uint8
    assert kinds["b.weight"] == kinds["0.intermediate.dense.weight"] == np.int8
    kinds = {name: value.dtype for name, value in pack(weights, 8, inner_bits=4).items()}
    assert kinds["0.intermediate.dense.weight"] == np.uint8
    assert kinds["b.weight"] == kinds["a.word_embeddings.weight"] == np.int8


def test_packing_again_changes_nothing() -> None:
    packed = pack(state(), 8)
    again = pack(unpack(packed), 8)
    assert all(np.array_equal(packed[name], again[name]) for name in packed if not name.endswith(SCALE))


def test_thirty_two_bits_are_exact_and_other_numbers_are_refused() -> None:
    given_state = state()
    found = unpack(pack(given_state, 32))
    assert all(np.array_equal(found[name], given_state[name]) for name in given_state)
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
    for one, other in zip(parse(whole, given_words), parse(small, given_words), strict=True):
        assert one.score == pytest.approx(other.score, abs=0.02 * len(one.sentence) * abs(one.score) + 0.1)
        assert one.parse.governors == other.parse.governors
