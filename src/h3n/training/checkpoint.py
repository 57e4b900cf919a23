"""Checkpoints: folders that appear whole or not at all.

A checkpoint is written under a temporary name, flushed to the disk and renamed; then the file ``last.json`` is replaced
by one that names it, and only then is the one before removed. At every moment ``last.json`` names a whole checkpoint.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch import Tensor, nn

from h3n.errors import InputError, TrainingError

POINTER = "last.json"
WEIGHTS, OPTIMISER, STATE = "model.safetensors", "optimiser.safetensors", "state.json"


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
    best_step: int = 0
    waited: int = 0  # checks since the best
    halvings: int = 0
    plateau: int = 0  # checks since the best or the last halving
    finished: bool = False


def write_folder(folder: Path, fill: Callable[[Path], None]) -> None:
    """Fill a folder so that it appears whole or not at all; a folder of that name is replaced."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    draft = folder.with_name(f".{folder.name}.draft")
    try:
        shutil.rmtree(draft, ignore_errors=True)
        draft.mkdir()
        fill(draft)
        _flush(draft)
        old = folder.with_name(f".{folder.name}.old")
        shutil.rmtree(old, ignore_errors=True)
        if folder.exists():
            folder.rename(old)
        draft.rename(folder)
        shutil.rmtree(old, ignore_errors=True)
    except (OSError, SafetensorError) as error:
        shutil.rmtree(draft, ignore_errors=True)
        raise TrainingError(f"{folder}: cannot be written: {error}") from None


def restore_folder(folder: Path) -> None:
    """Put back a folder that was moved aside when its replacement was interrupted."""
    old = folder.with_name(f".{folder.name}.old")
    if old.is_dir() and not folder.exists():
        old.rename(folder)


def write_file(path: Path, text: str) -> None:
    """Replace a file so that it is never seen half written."""
    draft = path.with_name(f".{path.name}.draft")
    try:
        with draft.open("w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        draft.replace(path)
    except OSError as error:
        draft.unlink(missing_ok=True)
        raise TrainingError(f"{path}: cannot be written: {error}") from None


def _flush(folder: Path) -> None:
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            with path.open("rb") as file:
                os.fsync(file.fileno())


def save_checkpoint(run: Path, network: nn.Module, optimiser: torch.optim.Optimizer, position: Position) -> Path:
    """Write a checkpoint, make it the last one and remove those before it."""
    made = run / f"checkpoint-{position.step:07d}"

    def fill(folder: Path) -> None:
        save_file({name: value.contiguous() for name, value in network.state_dict().items()}, folder / WEIGHTS)
        save_file(_optimiser_tensors(network, optimiser), folder / OPTIMISER)
        (folder / STATE).write_text(json.dumps(asdict(position)) + "\n", encoding="utf-8")

    write_folder(made, fill)
    write_file(run / POINTER, json.dumps({"checkpoint": made.name}) + "\n")
    for old in run.glob("checkpoint-*"):
        if old != made:
            shutil.rmtree(old, ignore_errors=True)
    return made


def last_checkpoint(run: Path) -> Path | None:
    """Return the folder of the run's last whole checkpoint, or None if there is none yet."""
    try:
        found = run / str(json.loads((run / POINTER).read_text(encoding="utf-8"))["checkpoint"])
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (OSError, ValueError, KeyError) as error:
        raise InputError(f"{run / POINTER}: does not name a checkpoint: {error}") from None
    return found


def load_checkpoint(folder: Path, network: nn.Module, optimiser: torch.optim.Optimizer) -> Position:
    """Fill network and optimiser from a checkpoint and return how far the run had come."""
    try:
        network.load_state_dict(load_file(folder / WEIGHTS))
        _fill_optimiser(network, optimiser, load_file(folder / OPTIMISER))
        state: dict[str, Any] = json.loads((folder / STATE).read_text(encoding="utf-8"))
        return Position(**state)
    except (OSError, SafetensorError, RuntimeError, ValueError, KeyError, TypeError) as error:
        first = str(error).strip().splitlines()[0]
        raise InputError(f"{folder}: the checkpoint does not fit or cannot be read: {first}") from None


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
