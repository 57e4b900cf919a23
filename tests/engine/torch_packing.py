"""The packing of weights written with torch: another program for the same bytes."""

from __future__ import annotations

import torch
from torch import Tensor

from h3n.engine.storage import GROUP, SCALE, SMALLEST, TRIED

LEAST = 2.0**-24


def _sum(groups: Tensor) -> Tensor:
    """Return sums in the order that ours has: torch's own depends on the processor."""
    lanes = groups.unflatten(-1, (-1, 8))
    total = lanes[..., 0, :]
    for at in range(1, lanes.shape[-2]):
        total = total + lanes[..., at, :]
    first, *others = total.unbind(-1)
    for other in others:
        first = first + other
    return first[..., None]


def pack(state: dict[str, Tensor], bits: int) -> dict[str, Tensor]:
    stored: dict[str, Tensor] = {}
    for name, value in state.items():
        stored |= _packed(name, value, bits)
    return stored


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
            error = _sum((groups - _whole(groups, scale) * scale).square())
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
    total = _sum(rounded.square())
    return torch.where(total > 0, _sum(groups * rounded) / total.clamp(min=1), scale)


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
