"""Weights made small for storing, and large again for use.

With 16 bits every weight is rounded to half precision. With 8 bits, matrices are rounded to whole numbers from -127 to
127, each row with a scale of its own, stored beside it under the name `SCALE`; what is not a matrix takes 16. With 4
bits, a row is cut into groups of `GROUP` weights, each with a scale of its own in half precision, the one of several
with which the sum of squared errors is least; a weight is a whole number from -8 to 7. Two of them share a byte
(``uint8``), each with 8 added: the first in the lower half. Rows that are not whole groups take 8 bits.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from h3n.errors import UsageError

Floats: TypeAlias = NDArray[np.float32]
Array: TypeAlias = NDArray[Any]

SCALE = ".scale"
BITS = (4, 8, 16, 32)
SMALLEST = 4096  # weights: smaller tensors are not worth a scale
GROUP = 32  # weights that share a scale
LANES = 8  # sums of a group are made in so many strands, so that they are the same on every machine
EMBEDDINGS, INNER = (
    "word_embeddings.weight",
    "intermediate.dense.weight",
)  # names of parts of a pretrained encoder end so
TRIED = (0.70, 0.76, 0.82, 0.88, 0.94, 1.0, 1.06)  # shares of the scale with which the largest weight just fits
LEAST = np.float32(2.0**-24)  # the smallest number in half precision


@dataclass(frozen=True, slots=True)
class Stored:
    """One tensor as it lies in the file: floating-point numbers, or whole ones with scales.

    ``values`` are float32 or float16 without scales, int8 with one for each row, or uint8 (two weights a byte) with one
    for each group. ``shape`` is that of the weights once unpacked.
    """

    values: Array
    scales: Array | None
    shape: tuple[int, ...]

    def floats(self) -> Floats:
        """Return all weights in 32 bits."""
        return _unpacked(self.values, self.scales)

    def rows(self, ids: NDArray[np.int64]) -> Floats:
        """Return some rows of a table in 32 bits; the others are not unpacked."""
        return _unpacked(self.values[ids], self.scales[ids] if self.scales is not None else None)


def stored(values: Array, scales: Array | None = None) -> Stored:
    """Return a tensor with the shape that its weights have once unpacked."""
    halved = scales is not None and values.dtype == np.uint8
    return Stored(values, scales, (*values.shape[:-1], 2 * values.shape[-1]) if halved else values.shape)


def _unpacked(values: Array, scales: Array | None) -> Floats:
    if scales is None:
        return values.astype(np.float32)
    if values.dtype != np.uint8:
        whole = values.astype(np.float32)
        whole *= scales.astype(np.float32)[..., None]
        return whole
    halves = np.empty((*values.shape, 2), dtype=np.float32)
    halves[..., 0] = values & 15
    halves[..., 1] = values >> 4
    halves -= np.float32(8.0)
    groups = _cut(halves.reshape(*values.shape[:-1], -1), GROUP)
    groups *= scales.astype(np.float32)[..., None]
    return groups.reshape(*values.shape[:-1], -1)


def pack(
    state: Mapping[str, Array], bits: int, *, embedding_bits: int | None = None, inner_bits: int | None = None
) -> dict[str, Array]:
    """Return the weights in 4, 8, 16 or 32 bits each; whole numbers stay as they are.

    ``embedding_bits`` are those of a pretrained encoder's word pieces, where they differ, and ``inner_bits`` those of
    the first of the two matrices in its feed-forward steps.
    """
    for number in (bits, embedding_bits, inner_bits):
        if number is not None and number not in BITS:
            raise UsageError(f"{number} bits; accepted: {', '.join(map(str, BITS))}")
    own = {EMBEDDINGS: embedding_bits, INNER: inner_bits}
    packed: dict[str, Array] = {}
    with np.errstate(over="ignore", invalid="ignore"):  # what half precision cannot hold is refused on reading
        for name, value in state.items():
            chosen = next((some for end, some in own.items() if some is not None and name.endswith(end)), bits)
            packed |= _packed(name, value, chosen)
    return {name: np.ascontiguousarray(value) for name, value in packed.items()}


def unpack(state: Mapping[str, Array]) -> dict[str, Array]:
    """Return the weights that `pack` made small, in 32 bits."""
    names = [name for name in state if not is_scale(name, state)]
    return {
        name: state[name] if state[name].dtype.kind in "iu" and name + SCALE not in state else _of(state, name).floats()
        for name in names
    }


def _of(state: Mapping[str, Array], name: str) -> Stored:
    return stored(state[name], state.get(name + SCALE))


def is_scale(name: str, names: Mapping[str, Any]) -> bool:
    """Return whether a tensor holds the scales of another one."""
    return name.endswith(SCALE) and name.removesuffix(SCALE) in names


def _packed(name: str, value: Array, bits: int) -> dict[str, Array]:
    if value.dtype.kind != "f" or bits == 32:
        return {name: value}
    if bits == 16 or value.ndim < 2 or value.size < SMALLEST:
        return {name: value.astype(np.float16)}
    if bits == 4 and value.shape[-1] % GROUP == 0:
        rounded, scales = _rounded_groups(value.astype(np.float32))
        return {name: _paired(rounded), name + SCALE: scales}
    scale = np.maximum(np.abs(value).max(axis=-1, keepdims=True) / np.float32(127.0), np.float32(1e-12))
    return {name: np.rint(value / scale).astype(np.int8), name + SCALE: scale[..., 0]}


def _rounded_groups(value: Floats) -> tuple[Floats, Array]:
    """Return the weights as whole numbers from -8 to 7, and the scales of their groups."""
    groups = _cut(value, GROUP)  # (..., groups, GROUP)
    largest = np.take_along_axis(groups, np.abs(groups).argmax(axis=-1, keepdims=True), axis=-1)
    best = np.full_like(largest, LEAST)
    least = np.full_like(largest, np.inf)
    for share in TRIED:
        for limit in (-8.0, 7.0):  # there is one number more below 0 than above: either side may be the larger one
            scale = _half(_fitted(groups, _half(largest * np.float32(share) / np.float32(limit))))
            error = _sum(np.square(groups - _whole(groups, scale) * scale))
            best, least = np.where(error < least, scale, best), np.minimum(error, least)
    return _whole(groups, best).reshape(value.shape), best[..., 0].astype(np.float16)


def _cut(rows: Floats, size: int) -> Floats:
    """Return rows cut into pieces, which are a dimension more."""
    return rows.reshape(*rows.shape[:-1], -1, size)


def _sum(groups: Floats) -> Floats:
    """Return the sum of each group, always added up in the same order."""
    first, *others = np.moveaxis(groups.reshape(*groups.shape[:-1], -1, LANES), -2, 0)
    for other in others:
        first = first + other
    total: Floats = first[..., :1]
    for lane in range(1, LANES):
        total = total + first[..., lane : lane + 1]
    return total


def _whole(groups: Floats, scale: Floats) -> Floats:
    rounded: Floats = np.clip(np.rint(groups / scale), np.float32(-8), np.float32(7))
    return rounded


def _fitted(groups: Floats, scale: Floats) -> Floats:
    """Return the scale with the least squared error for the whole numbers that another one gives."""
    rounded = _whole(groups, scale)
    total = _sum(np.square(rounded))
    return np.where(total > 0, _sum(groups * rounded) / np.maximum(total, np.float32(1)), scale)


def _half(scale: Floats) -> Floats:
    """Return scales as they are when they are stored, but none of 0."""
    rounded = scale.astype(np.float16).astype(np.float32)
    return np.where(rounded == 0, LEAST, rounded)


def _paired(rounded: Floats) -> Array:
    pairs = (rounded + np.float32(8)).astype(np.uint8).reshape(*rounded.shape[:-1], -1, 2)
    return pairs[..., 0] | (pairs[..., 1] << 4)


def shape_once_unpacked(kind: str, shape: tuple[int, ...], scale: tuple[int, ...] | None) -> tuple[int, ...] | None:
    """Return the shape of a tensor's weights from what is stored of it, or None if the scales do not fit it.

    ``kind`` is the type as safetensors names it, ``scale`` the shape of the scales where there are some.
    """
    if scale is None:
        return shape
    if kind == "I8":
        return shape if scale == shape[:-1] else None
    if kind != "U8" or not shape or 2 * shape[-1] % GROUP:
        return None
    whole = (*shape[:-1], 2 * shape[-1])
    return whole if scale == (*shape[:-1], whole[-1] // GROUP) else None
