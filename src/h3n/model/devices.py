"""What a network can be computed on."""

from __future__ import annotations

import torch

from h3n.errors import UsageError


def check_device(name: str) -> str:
    """Return the name of a device of torch's if something can be put there."""
    if name.partition(":")[0] == "meta":  # torch's, for shapes without contents
        raise UsageError(f"device {name!r} cannot compute; accepted: auto, cpu, cuda, cuda:1, mps")
    try:
        torch.empty(0, device=name)
    except (RuntimeError, AssertionError, NotImplementedError) as error:
        said = str(error).strip().splitlines()[0].removesuffix(".")
        why = "" if said.startswith("Expected one of") else f": {said}"  # then torch lists hardware that few have
        raise UsageError(f"device {name!r} cannot be used{why}; accepted: auto, cpu, cuda, cuda:1, mps") from None
    return name
