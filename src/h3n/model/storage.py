"""Weights made small for storing, and large again for use.

With 16 bits every weight is rounded to half precision. With 8 bits, matrices are rounded to whole numbers from -127 to
127, each row with a scale of its own, stored beside it under the name `SCALE`; what is not a matrix takes 16. With 4
bits, a row is cut into groups of `GROUP` weights, each with a scale of its own in half precision, the one of several
with which the sum of squared errors is least; a weight is a whole number from -8 to 7. Two of them share a byte
(``uint8``), each with 8 added: the first in the lower half. Rows that are not whole groups take 8 bits.
"""

from __future__ import annotations

import torch
from torch import Tensor

from h3n.errors import UsageError

SCALE = ".scale"
BITS = (4, 8, 16, 32)
SMALLEST = 4096  # weights: smaller tensors are not worth a scale
GROUP = 32  # weights that share a scale
EMBEDDINGS, INNER = (
    "word_embeddings.weight",
    "intermediate.dense.weight",
)  # names of parts of a pretrained encoder end so
TRIED = (0.70, 0.76, 0.82, 0.88, 0.94, 1.0, 1.06)  # shares of the scale with which the largest weight just fits
LEAST = 2.0**-24  # the smallest number in half precision


def pack(
    state: dict[str, Tensor], bits: int, *, embedding_bits: int | None = None, inner_bits: int | None = None
) -> dict[str, Tensor]:
    """Return the weights in 4, 8, 16 or 32 bits each; whole numbers stay as they are.

    ``embedding_bits`` are those of a pretrained encoder's word pieces, where they differ, and ``inner_bits`` those of
    the first of the two matrices in its feed-forward steps.
    """
    for number in (bits, embedding_bits, inner_bits):
        if number is not None and number not in BITS:
            raise UsageError(f"{number} bits; accepted: {', '.join(map(str, BITS))}")
    own = {EMBEDDINGS: embedding_bits, INNER: inner_bits}
    stored: dict[str, Tensor] = {}
    for name, value in state.items():
        chosen = next((some for end, some in own.items() if some is not None and name.endswith(end)), bits)
        stored |= _packed(name, value, chosen)
    return {name: value.contiguous() for name, value in stored.items()}


def _packed(name: str, value: Tensor, bits: int) -> dict[str, Tensor]:
    if not value.is_floating_point() or bits == 32:
        return {name: value}
    if bits == 16 or value.dim() < 2 or value.numel() < SMALLEST:
        return {name: value.half()}
    if bits == 4 and value.shape[-1] % GROUP == 0:
        rounded, scale = _rounded_groups(value.float())
        return {name: _paired(rounded), name + SCALE: scale}
    scale = (value.abs().amax(dim=-1, keepdim=True) / 127.0).clamp(min=1e-12)
    return {name: (value / scale).round().to(torch.int8), name + SCALE: scale.squeeze(-1)}


def _rounded_groups(value: Tensor) -> tuple[Tensor, Tensor]:
    """Return the weights as whole numbers from -8 to 7, and the scales of their groups."""
    groups = _cut(value, GROUP)  # (..., groups, GROUP)
    largest = groups.gather(-1, groups.abs().argmax(dim=-1, keepdim=True))
    best = torch.full_like(largest, LEAST)
    least = torch.full_like(largest, torch.inf)
    for share in TRIED:
        for limit in (-8.0, 7.0):  # there is one number more below 0 than above: either side may be the larger one
            scale = _half(_fitted(groups, _half(largest * share / limit)))
            error = (groups - _whole(groups, scale) * scale).square().sum(dim=-1, keepdim=True)
            best, least = torch.where(error < least, scale, best), torch.minimum(error, least)
    return _whole(groups, best).flatten(-2), best.squeeze(-1).half()


def _cut(rows: Tensor, size: int) -> Tensor:
    """Return rows cut into pieces, which are a dimension more."""
    return rows.reshape(*rows.shape[:-1], -1, size)


def _whole(groups: Tensor, scale: Tensor) -> Tensor:
    return (groups / scale).round().clamp(-8, 7)


def _fitted(groups: Tensor, scale: Tensor) -> Tensor:
    """Return the scale with the least squared error for the whole numbers that another one gives."""
    rounded = _whole(groups, scale)
    total = rounded.square().sum(dim=-1, keepdim=True)
    return torch.where(total > 0, (groups * rounded).sum(dim=-1, keepdim=True) / total.clamp(min=1), scale)


def _half(scale: Tensor) -> Tensor:
    """Return scales as they are when they are stored, but none of 0."""
    rounded = scale.half().float()
    return torch.where(rounded == 0, torch.full_like(rounded, LEAST), rounded)


def _paired(rounded: Tensor) -> Tensor:
    pairs = _cut((rounded + 8).to(torch.uint8), 2)
    return pairs[..., 0] | (pairs[..., 1] << 4)


def unpack(state: dict[str, Tensor]) -> dict[str, Tensor]:
    """Return the weights that `pack` made small, in 32 bits; they are taken out of ``state``, to save memory."""
    unpacked: dict[str, Tensor] = {}
    for name in [name for name in state if not (name.endswith(SCALE) and name.removesuffix(SCALE) in state)]:
        value, scale = state.pop(name), state.pop(name + SCALE, None)
        if scale is not None and value.dtype == torch.uint8:
            halves = torch.stack((value & 15, value >> 4), dim=-1).flatten(-2).float().sub_(8.0)
            unpacked[name] = _cut(halves, GROUP).mul_(scale.float()[..., None]).flatten(-2)
        elif scale is not None:
            unpacked[name] = value.float().mul_(scale.float()[..., None])
        else:
            unpacked[name] = value.float() if value.is_floating_point() else value
    return unpacked


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
