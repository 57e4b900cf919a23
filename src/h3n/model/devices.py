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


def choose_device(name: str) -> str:
    """Return the name of a device; ``auto`` is a graphics card where there is one."""
    if name == "auto":
        return "cuda" if torch.cuda.is_available() else "mps" if torch.backends.mps.is_available() else "cpu"
    return check_device(name)


def use_one_thread() -> None:
    """Let torch compute on one thread, everywhere in this process."""
    torch.set_num_threads(1)
