"""Layers in native code against plain ones, for every target this machine can run."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from torch.nn import functional

from h3n.engine import _layers

TARGETS = range(len(_layers.targets()))
PLAIN = {
    "none": lambda x: x,
    "relu": functional.relu,
    "leaky": lambda x: functional.leaky_relu(x, 0.1),
    "gelu": functional.gelu,
}
sizes = st.integers(1, 150)


def matrix(rows: int, width: int, seed: int, *, scale: float = 1.0) -> NDArray[np.float32]:
    return (np.random.default_rng(seed).normal(size=(rows, width)) * scale).astype(np.float32)


def turned(rows: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return rows multiplied by a matrix of 1 and -1 that takes large numbers apart, where their width allows it."""
    if rows.shape[1] % 32:
        return rows
    signs = np.ones((1, 1), dtype=np.float32)
    while len(signs) < 32:
        signs = np.block([[signs, signs], [signs, -signs]]).astype(np.float32)
    made: NDArray[np.float32] = np.einsum(
        "st,rtk->rsk", signs, rows.reshape(len(rows), 32, rows.shape[1] // 32)
    ).reshape(rows.shape)
    return made


def rounded_linear(
    x: NDArray[np.float32], weight: NDArray[np.float32], bias: NDArray[np.float32]
) -> NDArray[np.float64]:
    """Return what the 8-bit layer is to compute, from its definition."""
    if x.shape[1] % 32 == 0:
        x, weight = turned(x), turned(weight) / 32
    even = np.pad(weight, ((0, 0), (0, x.shape[1] % 2))).reshape(len(weight), -1, 2)
    scale = np.maximum(np.abs(even).max(axis=(1, 2)), np.abs(even.sum(axis=2)).max(axis=1))[:, None] / 127
    low = x.min(axis=1, keepdims=True)
    step = (x.max(axis=1, keepdims=True) - low) / 255
    step[step == 0] = 1
    values = low + np.rint((x - low) / step) * step
    made: NDArray[np.float64] = (
        values.astype(np.float64) @ (np.rint(weight / scale) * scale).T.astype(np.float64) + bias
    )
    return made


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("activation", PLAIN)
@given(rows=st.integers(0, 14), inputs=sizes, outputs=sizes, seed=st.integers(0, 99))
@settings(deadline=None, max_examples=25)
def test_linear_layers_compute_with_rounded_numbers(
    target: int, activation: str, rows: int, inputs: int, outputs: int, seed: int
) -> None:
    x, weight, bias = matrix(rows, inputs, seed), matrix(outputs, inputs, seed + 1), matrix(1, outputs, seed + 2)[0]
    out = np.full((rows, outputs + 3), 7.0, dtype=np.float32)
    _layers.Linear(weight, bias).run(x, out[:, :outputs], _layers.ACTIVATIONS.index(activation), target)
    wanted = PLAIN[activation](torch.from_numpy(rounded_linear(x, weight, bias))).numpy()
    # An input half way between two steps may be rounded either way.
    slack = np.abs(x).max(initial=0) * np.abs(weight).max() / 100
    assert np.abs(out[:, :outputs] - wanted).max(initial=0) <= 1e-4 + slack
    assert np.median(np.abs(out[:, :outputs] - wanted)) < 1e-4 if rows else True
    assert (out[:, outputs:] == 7.0).all()


def on_all_targets(run: Callable[[NDArray[np.float32], int], None], rows: int, width: int) -> None:
    """Check that every target fills an array with the same bits."""
    made = [np.full((rows, width), np.nan, dtype=np.float32) for _ in TARGETS]
    for target in TARGETS:
        run(made[target], target)
    assert not np.isnan(made[0]).any()
    for other in made[1:]:
        assert other.tobytes() == made[0].tobytes()


@pytest.mark.parametrize("inputs", [130, 384, 7])
@pytest.mark.parametrize("activation", PLAIN)
def test_all_targets_give_the_same_bits(inputs: int, activation: str) -> None:
    layer, x, bias = _layers.Linear(matrix(200, inputs, 1), None), matrix(100, inputs, 2), matrix(2, inputs, 3)
    x[7, inputs // 2] = 1e3
    how = _layers.ACTIVATIONS.index(activation)
    on_all_targets(lambda out, target: layer.run(x, out, how, target), 100, 200)
    on_all_targets(lambda out, target: _layers.add_norm(x, x[::-1].copy(), *bias, 1e-5, out, target), 100, inputs)
    pull, right = _layers.Linear(matrix(5 * 23, inputs, 4), None), matrix(100, 23, 5)
    on_all_targets(lambda out, target: _layers.bilinear(pull, x, right, out, target), 100, 5)
    roles, lengths = [matrix(100, 48, seed) for seed in range(3)], np.array([1, 40, 59])
    on_all_targets(lambda out, target: _layers.attention(*roles, lengths, 3, 2, out, target), 100, 48)


def test_no_pair_of_products_is_too_large_for_16_bits() -> None:
    weight = np.ones((4, 6), dtype=np.float32) * np.array([[1], [-1], [1], [1]], dtype=np.float32)
    weight[2] = [1, -1] * 3
    x = np.array([[0, 1, 1, 1, 1, 1], [1, 1, 1, 1, 0, 1]], dtype=np.float32)
    for target in TARGETS:
        out = np.empty((2, 4), dtype=np.float32)
        _layers.Linear(weight, None).run(x, out, 0, target)
        assert np.abs(out - x @ weight.T).max() < 0.1


@pytest.mark.parametrize("largest", [1.0, 20.0])
def test_eight_bits_are_near_the_truth(largest: float) -> None:
    x, weight, bias = matrix(50, 384, 1), matrix(300, 384, 2), matrix(1, 300, 3)[0]
    x[:, 100] *= largest  # as some inputs are in encoders: the others keep nearly all their steps
    out = np.empty((50, 300), dtype=np.float32)
    _layers.Linear(weight, bias).run(x, out)
    error = np.abs(out - (x @ weight.T + bias))
    assert 0 < error.mean() < 0.02 * np.abs(matrix(50, 384, 1) @ weight.T).mean()


@pytest.mark.parametrize("target", TARGETS)
def test_rows_of_one_value_and_of_huge_ones(target: int) -> None:
    weight = matrix(70, 20, 1)
    x = np.stack([np.zeros(20), np.full(20, 3.0), np.full(20, -2e-31), np.linspace(-1e20, 1e20, 20)]).astype(np.float32)
    out = np.empty((4, 70), dtype=np.float32)
    _layers.Linear(weight, None).run(x, out, 0, target)
    wanted = x.astype(np.float64) @ weight.T.astype(np.float64)
    assert np.abs(out - wanted)[0].max() == 0
    assert np.abs(out - wanted)[1:3].max() < 0.3
    assert np.abs(out - wanted)[3].max() < 0.02 * np.abs(wanted[3]).max()


@pytest.mark.parametrize("target", TARGETS)
@given(rows=st.integers(1, 9), width=sizes, seed=st.integers(0, 99), added=st.booleans())
@settings(deadline=None, max_examples=25)
def test_norm(target: int, rows: int, width: int, seed: int, added: bool) -> None:
    x, y = matrix(rows, width, seed), matrix(rows, width, seed + 1)
    weight, bias = matrix(2, width, seed + 2)
    out = np.empty_like(x)
    _layers.add_norm(x, y if added else None, weight, bias, 1e-5, out, target)
    total = torch.from_numpy(x + y if added else x)
    wanted = functional.layer_norm(total, (width,), torch.from_numpy(weight), torch.from_numpy(bias), 1e-5)
    assert torch.allclose(torch.from_numpy(out), wanted, atol=2e-5)


def test_norm_writes_over_its_input() -> None:
    norm = torch.nn.LayerNorm(40)
    x, y = matrix(3, 40, 1), matrix(3, 40, 2)
    wanted = norm(torch.from_numpy(x + y)).detach()
    _layers.add_norm(x, y, norm.weight.detach().numpy(), norm.bias.detach().numpy(), norm.eps, x)
    assert torch.allclose(torch.from_numpy(x), wanted, atol=1e-5)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("activation", PLAIN)
def test_activations(target: int, activation: str) -> None:
    x = np.concatenate([np.linspace(-12, 12, 2001), [0.0, -0.0, 1e-20, 1e4, -1e4]]).astype(np.float32)[None]
    made = x.copy()
    _layers.activate(made, _layers.ACTIVATIONS.index(activation), target)
    wanted = PLAIN[activation](torch.from_numpy(x))
    assert torch.allclose(torch.from_numpy(made), wanted, atol=1e-6, rtol=1e-6)


@pytest.mark.parametrize("target", TARGETS)
@given(
    lengths=st.lists(st.integers(0, 40), min_size=1, max_size=4),
    heads=st.integers(1, 3),
    size=st.integers(1, 20),
    parts=st.integers(1, 2),
    seed=st.integers(0, 99),
)
@settings(deadline=None, max_examples=25)
def test_attention_is_among_the_words_of_a_sentence(
    target: int, lengths: list[int], heads: int, size: int, parts: int, seed: int
) -> None:
    rows, width = sum(lengths), heads * size * parts
    query, key, value = (matrix(rows, width, seed + at, scale=3.0) for at in range(3))
    out = np.empty((rows, width), dtype=np.float32)
    _layers.attention(query, key, value, np.array(lengths), heads, parts, out, target)
    at = 0
    for length in filter(None, lengths):
        # (rows, parts, heads, size) -> (heads, rows, parts * size)
        cut = [
            torch.from_numpy(m[at : at + length]).view(length, parts, heads, size).permute(2, 0, 1, 3).flatten(2)
            for m in (query, key, value)
        ]
        wanted = functional.scaled_dot_product_attention(*(m.double() for m in cut)).float()
        back = wanted.view(heads, length, parts, size).permute(1, 2, 0, 3).reshape(length, width)
        # Scores reach 70 and values 10: the rounding of 32 bits moves a result by up to 3e-5, in torch's as in ours.
        assert torch.allclose(torch.from_numpy(out[at : at + length]), back, atol=1e-4)
        at += length


def test_what_does_not_fit_is_refused() -> None:
    layer, x = _layers.Linear(matrix(5, 4, 1), None), matrix(4, 6, 1)
    with pytest.raises(ValueError, match="another shape"):
        layer.run(matrix(2, 3, 1), matrix(2, 5, 1))
    with pytest.raises(ValueError, match="another shape"):
        layer.run(matrix(2, 4, 1), matrix(3, 5, 1))
    with pytest.raises(ValueError, match="not contiguous"):
        layer.run(matrix(2, 8, 1)[:, ::2], matrix(2, 5, 1))
    with pytest.raises(ValueError, match="no such target"):
        layer.run(matrix(2, 4, 1), matrix(2, 5, 1), 0, 99)
    with pytest.raises(ValueError, match="no such activation"):
        layer.run(matrix(2, 4, 1), matrix(2, 5, 1), 9)
    with pytest.raises(ValueError, match="the weights are empty"):
        _layers.Linear(np.empty((0, 3), dtype=np.float32), None)
    with pytest.raises(ValueError, match="do not add up"):
        _layers.attention(x, x, x, np.array([2, 1]), 2, 1, x)
    with pytest.raises(ValueError, match="does not fit the number of heads"):
        _layers.attention(x, x, x, np.array([4]), 4, 1, x)
