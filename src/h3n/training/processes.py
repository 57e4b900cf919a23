"""Several processes that train one model, each on its share of every update's batches (started by ``torchrun``)."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass

import torch
from torch import Tensor, distributed, nn

from h3n.errors import TrainingError, UsageError, first_line
from h3n.model.devices import check_device

# Gradients travel in pieces of about this many numbers: few messages, little extra memory.
PIECE = 8_000_000


@dataclass(frozen=True, slots=True)
class Processes:
    """This process among ``count``; the first one alone writes and reports."""

    rank: int = 0
    count: int = 1
    local: int = 0

    @property
    def first(self) -> bool:
        return self.rank == 0


@contextmanager
def processes(*, device: str) -> Iterator[Processes]:
    """Yield this process's place, connected to the others if ``torchrun`` started several."""
    count = int(os.environ.get("WORLD_SIZE", "1"))
    if count == 1:
        yield Processes()
        return
    _check_restarts(os.environ)
    on_gpu = device != "cpu" and torch.cuda.is_available()
    distributed.init_process_group("nccl" if on_gpu else "gloo")
    try:
        yield Processes(distributed.get_rank(), count, int(os.environ.get("LOCAL_RANK", "0")))
    finally:
        distributed.destroy_process_group()


def _check_restarts(environment: Mapping[str, str]) -> None:
    """Refuse to start where a restart would wait for ever.

    ``torchrun`` lets workers meet at a server of the agent that was first in the first round. If another agent is first
    after a restart, it opens a server of its own, but the old first one sends its workers to the old server.
    """
    several_nodes = int(environment.get("GROUP_WORLD_SIZE", "1")) > 1
    restarts = int(environment.get("TORCHELASTIC_MAX_RESTARTS", "0")) > 0
    if several_nodes and restarts and environment.get("TORCHELASTIC_USE_AGENT_STORE") == "True":
        raise UsageError(
            "torchrun with --max-restarts on several nodes may hang after a restart; "
            "set TORCH_DISABLE_SHARE_RDZV_TCP_STORE=1 on each of them"
        )


def choose_device(name: str, here: Processes) -> torch.device:
    """Return the device to train on: on ``auto`` this process's GPU if there is one."""
    if name == "auto":
        name = "cuda" if torch.cuda.is_available() else "cpu"
    if name == "cuda" and here.count > 1:
        name = f"cuda:{here.local}"
    return torch.device(check_device(name))


def share_gradients(parameters: Iterable[nn.Parameter], here: Processes) -> None:
    """Add up the gradients of all processes. A sum, not a mean: each loss was divided by the whole update's size.

    Done here rather than by a wrapper around the network, since with treebanks of different kinds a process may have
    no gradient for a scorer that another has.
    """
    if here.count == 1:
        return
    piece: list[nn.Parameter] = []
    size = 0
    for parameter in parameters:
        if not parameter.requires_grad:
            continue
        piece.append(parameter)
        size += parameter.numel()
        if size >= PIECE:
            _share(piece)
            piece, size = [], 0
    if piece:
        _share(piece)


def _share(piece: list[nn.Parameter]) -> None:
    for parameter in piece:
        if parameter.grad is None:
            parameter.grad = torch.zeros_like(parameter)
    flat = torch.cat([gradient(parameter).flatten() for parameter in piece])
    with _others_there():
        distributed.all_reduce(flat)
    at = 0
    for parameter in piece:
        gradient(parameter).copy_(flat[at : at + parameter.numel()].view_as(parameter))
        at += parameter.numel()


def gradient(parameter: nn.Parameter) -> Tensor:
    """Return the gradient of a parameter that has one."""
    if parameter.grad is None:
        raise ValueError("the parameter has no gradient")
    return parameter.grad


def share_sums(values: Tensor, here: Processes) -> Tensor:
    """Return the sum of the values over all processes."""
    if here.count > 1:
        with _others_there():
            distributed.all_reduce(values)
    return values


def wait(here: Processes) -> None:
    """Return when all processes have come here."""
    if here.count > 1:
        with _others_there():
            distributed.barrier()


@contextmanager
def _others_there() -> Iterator[None]:
    """Say in one line that another process is gone; ``torchrun`` starts all of them again, if it was told to."""
    try:
        yield
    except RuntimeError as error:
        first = first_line(error)
        raise TrainingError(f"another process of this training is gone: {first}") from None
