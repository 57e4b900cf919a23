"""AdamW with a learning rate of its own for a pretrained encoder, and no decay on biases and norms."""

from __future__ import annotations

import torch
from torch import nn

from h3n.config import Optimiser
from h3n.model.network import Network


def make_optimiser(network: Network, options: Optimiser) -> torch.optim.AdamW:
    """Return the optimiser; ``set_rates`` has to be called before each step."""
    pretrained = set(network.encoder.pretrained())
    groups: dict[tuple[bool, bool], list[nn.Parameter]] = {}
    for parameter in network.parameters():
        if parameter.requires_grad:
            groups.setdefault((parameter in pretrained, parameter.ndim > 1), []).append(parameter)
    return torch.optim.AdamW(
        [
            {
                "params": parameters,
                "full_rate": options.encoder_rate if encoder else options.rate,
                "weight_decay": options.decay if matrix else 0.0,
            }
            for (encoder, matrix), parameters in groups.items()
        ],
        lr=options.rate,
        betas=options.betas,
        eps=options.epsilon,
        fused=True,  # one pass over the weights instead of ten; most of them are word pieces' vectors
    )


def set_rates(optimiser: torch.optim.Optimizer, factor: float) -> None:
    """Set every group's learning rate to a share of its full one."""
    for group in optimiser.param_groups:
        group["lr"] = group["full_rate"] * factor
