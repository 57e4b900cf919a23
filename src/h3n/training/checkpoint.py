"""Checkpoints: folders that appear whole or not at all.

A checkpoint is written under a temporary name, flushed to the disk and renamed; then the file ``last.json`` is replaced
by one that names it, and only then is the one before removed. At every moment ``last.json`` names a whole checkpoint.
"""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch import Tensor, nn

from h3n.errors import InputError, TrainingError, first_line
from h3n.files import restore_folder, written_file, written_folder

POINTER = "last.json"
WEIGHTS, OPTIMISER, STATE = "model.safetensors", "optimiser.safetensors", "state.json"
NAME = re.compile(r"checkpoint-\d+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Position:
    """How far a run has come. Floats survive JSON exactly, so nothing is lost in between."""

    epoch: int = 0
    update: int = 0  # done in this epoch
    step: int = 0  # done in all
    seconds: float = 0.0  # spent on updates
    cpu_seconds: float = 0.0  # of this process
    loss: float = 0.0  # summed since the last check
    losses: int = 0  # updates in that sum
    best: float = float("-inf")
    waited: int = 0  # checks since the best
    halvings: int = 0
    plateau: int = 0  # checks since the best or the last halving
    finished: bool = False


def write_folder(folder: Path, fill: Callable[[Path], None]) -> None:
    """Fill a folder so that it appears whole or not at all; a folder of that name is replaced."""
    try:
        with written_folder(folder) as draft:
            fill(draft)
    except (InputError, SafetensorError) as error:
        restore_folder(folder)
        said = first_line(error)
        why = said if isinstance(error, InputError) else f"{folder}: cannot be written: {said}"
        raise TrainingError(why) from None


def write_file(path: Path, contents: str | bytes) -> None:
    """Replace a file so that it is never seen half written."""
    try:
        with written_file(path) as file:
            file.write(contents if isinstance(contents, bytes) else contents.encode())
    except InputError as error:
        raise TrainingError(str(error)) from None


def save_checkpoint(run: Path, network: nn.Module, optimiser: torch.optim.Optimizer, position: Position) -> Path:
    """Write a checkpoint, make it the last one and remove those before it."""
    checkpoint = run / _name(position.step)

    def fill(folder: Path) -> None:
        save_file({name: value.contiguous() for name, value in network.state_dict().items()}, folder / WEIGHTS)
        save_file(_optimiser_tensors(network, optimiser), folder / OPTIMISER)
        (folder / STATE).write_text(json.dumps(asdict(position)) + "\n", encoding="utf-8")

    write_folder(checkpoint, fill)
    write_file(run / POINTER, json.dumps({"checkpoint": checkpoint.name}) + "\n")
    for old in run.glob("checkpoint-*"):
        if old != checkpoint:
            shutil.rmtree(old, ignore_errors=True)
    return checkpoint


def last_checkpoint(run: Path) -> Path | None:
    """Return the folder of the run's last whole checkpoint, or None if there is none yet."""
    pointer = run / POINTER
    try:
        name = json.loads(pointer.read_text(encoding="utf-8"))["checkpoint"]
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
        raise InputError(f"{pointer}: does not name a checkpoint: {error}") from None
    if not isinstance(name, str) or not NAME.fullmatch(name):
        raise InputError(f"{pointer}: {name!r} is not a checkpoint; expected a name such as checkpoint-0000200")
    return run / name


def load_checkpoint(folder: Path, network: nn.Module, optimiser: torch.optim.Optimizer) -> Position:
    """Fill network and optimiser from a checkpoint and return how far the run had come."""
    try:
        position = _position(json.loads((folder / STATE).read_text(encoding="utf-8")))
        if folder.name != _name(position.step):
            raise ValueError(f"{STATE} is of update {position.step}")
        network.load_state_dict(load_file(folder / WEIGHTS))
        _fill_optimiser(network, optimiser, load_file(folder / OPTIMISER))
    except (OSError, SafetensorError, RuntimeError, ValueError, KeyError, TypeError) as error:
        first = first_line(error)
        raise InputError(f"{folder}: the checkpoint does not fit or cannot be read: {first}") from None
    return position


def _position(table: Any) -> Position:
    """Return the position that a table holds; one that is not complete would start the run anew on old weights."""
    if not isinstance(table, dict):
        raise ValueError(f"{STATE} is not a table")
    for known in fields(Position):
        if known.name not in table:
            raise ValueError(f"{STATE} does not say {known.name!r}")
        if type(table[known.name]) is not type(known.default):
            raise ValueError(f"{STATE} has {table[known.name]!r} for {known.name!r}")
    return Position(**table)


def _name(step: int) -> str:
    return f"checkpoint-{step:07d}"


def _optimiser_tensors(network: nn.Module, optimiser: torch.optim.Optimizer) -> dict[str, Tensor]:
    names: dict[Tensor, str] = {parameter: name for name, parameter in network.named_parameters()}
    return {
        f"{names[parameter]}/{key}": value.contiguous()
        for parameter, state in optimiser.state.items()
        for key, value in state.items()
    }


def _fill_optimiser(network: nn.Module, optimiser: torch.optim.Optimizer, tensors: dict[str, Tensor]) -> None:
    parameters = dict(network.named_parameters())
    for key, value in tensors.items():
        name, _, part = key.rpartition("/")
        parameter = parameters[name]
        optimiser.state[parameter][part] = value if part == "step" else value.to(parameter.device)
