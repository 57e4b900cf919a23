"""Weights made small for storing, and large again for use.

With 16 bits every weight is rounded to half precision. With 8 bits, matrices are rounded to whole numbers from -127 to
127, each row with a scale of its own, stored beside it under the name `SCALE`; what is no matrix takes 16.
"""

from __future__ import annotations

import torch
from torch import Tensor

from h3n.errors import UsageError

SCALE = ".scale"
BITS = (8, 16, 32)
SMALLEST = 4096  # weights: smaller tensors are not worth a scale


def pack(state: dict[str, Tensor], bits: int) -> dict[str, Tensor]:
    """Return the weights in 8, 16 or 32 bits each; whole numbers stay as they are."""
    if bits not in BITS:
        raise UsageError(f"{bits} bits; accepted: {', '.join(map(str, BITS))}")
    stored: dict[str, Tensor] = {}
    for name, value in state.items():
        if not value.is_floating_point() or bits == 32:
            stored[name] = value
        elif bits == 8 and value.dim() > 1 and value.numel() >= SMALLEST:
            scale = (value.abs().amax(dim=-1, keepdim=True) / 127.0).clamp(min=1e-12)
            stored[name] = (value / scale).round().to(torch.int8)
            stored[name + SCALE] = scale.squeeze(-1)
        else:
            stored[name] = value.half()
    return {name: value.contiguous() for name, value in stored.items()}


def unpack(state: dict[str, Tensor]) -> dict[str, Tensor]:
    """Return the weights that `pack` made small, in 32 bits; they are taken out of ``state``, to save memory."""
    unpacked: dict[str, Tensor] = {}
    for name in [name for name in state if not (name.endswith(SCALE) and name.removesuffix(SCALE) in state)]:
        value, scale = state.pop(name), state.pop(name + SCALE, None)
        if scale is not None:
            unpacked[name] = value.float().mul_(scale.float()[..., None])
        else:
            unpacked[name] = value.float() if value.is_floating_point() else value
    return unpacked
