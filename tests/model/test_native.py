"""Layers in native code against plain ones, for every target this machine can run."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from torch.nn import functional

from h3n.errors import UsageError
from h3n.model import _layers
from h3n.model.native import array_of, require_native

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


def rounded_linear(
    x: NDArray[np.float32], weight: NDArray[np.float32], bias: NDArray[np.float32]
) -> NDArray[np.float64]:
    """Return what the 8-bit layer is to compute, from its definition."""
    scale = np.abs(weight).max(axis=1, keepdims=True) / 127
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


def test_all_targets_round_alike() -> None:
    layer = _layers.Linear(matrix(200, 130, 1), None)
    x = matrix(100, 130, 2)
    made = [np.empty((100, 200), dtype=np.float32) for _ in TARGETS]
    for target in TARGETS:
        layer.run(x, made[target], 0, target)
    for other in made[1:]:
        assert np.abs(other - made[0]).max() < 1e-4


def test_eight_bits_are_near_the_truth() -> None:
    x, weight, bias = matrix(50, 384, 1), matrix(300, 384, 2), matrix(1, 300, 3)[0]
    out = np.empty((50, 300), dtype=np.float32)
    _layers.Linear(weight, bias).run(x, out)
    error = np.abs(out - (x @ weight.T + bias))
    assert 0 < error.mean() < 0.01 * np.abs(out).mean()


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
    _layers.add_norm(x, y, array_of(norm.weight), array_of(norm.bias), norm.eps, x)
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
        wanted = functional.scaled_dot_product_attention(*cut)
        back = wanted.view(heads, length, parts, size).permute(1, 2, 0, 3).reshape(length, width)
        assert torch.allclose(torch.from_numpy(out[at : at + length]), back, atol=2e-5)
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


def test_without_native_code(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("h3n.model.native._layers", None)
    with pytest.raises(UsageError, match="not built for this platform"):
        require_native()
