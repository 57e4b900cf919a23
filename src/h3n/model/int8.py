"""Linear layers in 8-bit whole numbers, for faster parsing on a processor.

Weights are rounded once, each output with a scale of its own; inputs on the way, each word or piece with a scale of its
own, so that a sentence's result does not depend on the others of its batch.
"""

from __future__ import annotations

import warnings

import torch
from torch import Tensor, nn

from h3n.errors import UsageError

ENGINE = "fbgemm"  # the other one may pick instructions that virtual machines promise and do not have
SMALLEST = 64  # inputs and outputs: smaller layers take no time worth saving


class Int8Linear(nn.Module):
    """A linear layer for inference alone."""

    def __init__(self, linear: nn.Linear) -> None:
        super().__init__()
        self.packed = _packed(linear.weight.detach().float())
        self.bias = linear.bias

    def forward(self, x: Tensor) -> Tensor:
        scale = x.abs().amax(dim=-1, keepdim=True).clamp_(min=1e-9)
        # Reduced to 7 bits: with 8, processors that lack one instruction overflow in the middle of a sum.
        made: Tensor = torch.ops.quantized.linear_dynamic(x / scale, self.packed, reduce_range=True)
        made.mul_(scale)
        return made if self.bias is None else made.add_(self.bias)


def _packed(weight: Tensor) -> object:
    scales = (weight.abs().amax(dim=1) / 127.0).clamp_(min=1e-12).double()
    zeros = torch.zeros(len(weight), dtype=torch.int64)
    before = torch.backends.quantized.engine
    torch.backends.quantized.engine = ENGINE
    try:
        with warnings.catch_warnings():
            # torch wants rid of these tensors one day; until then nothing else in it is as fast and runs everywhere.
            warnings.filterwarnings("ignore", message=".*quantize_per_channel", category=UserWarning)
            rounded = torch.quantize_per_channel(weight, scales, zeros, axis=0, dtype=torch.qint8)
            packed: object = torch.ops.quantized.linear_prepack(rounded, None)
    finally:
        torch.backends.quantized.engine = before
    return packed


def use_int8(network: nn.Module) -> None:
    """Replace the linear layers of a network by 8-bit ones, in place; it can neither be trained nor saved any more."""
    if ENGINE not in torch.backends.quantized.supported_engines:
        raise UsageError("8-bit layers do not run on this processor or with this version of torch; accepted: float32")
    for module in list(network.modules()):
        for name, child in list(module.named_children()):
            if type(child) is nn.Linear and min(child.weight.shape) >= SMALLEST:
                setattr(module, name, Int8Linear(child))
