"""Short runs to compare: their options, their weights, and a configuration file for the command."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file

from h3n.config import Config, table_of
from h3n.training.data import Example

Part = Callable[..., list[Example]]
Options = Callable[..., Config]
SHORT = ("training.epochs=2", "training.checks=1", "training.save_every=3", "training.tune=false")


def weights(folder: Path) -> dict[str, torch.Tensor]:
    """Return the tensors of a saved model or a checkpoint by name."""
    return load_file(folder / "model.safetensors")


def assert_same_weights(one: Path, other: Path) -> None:
    """Fail unless two saved models are equal bit by bit."""
    left, right = weights(one), weights(other)
    assert left.keys() == right.keys()
    assert all(torch.equal(left[name], right[name]) for name in left)


def write_config(path: Path, config: Config, *, train_limit: int, dev_limit: int) -> None:
    """Write options as a TOML file that reads the example treebank."""
    folder = Path(__file__).parents[2] / "examples" / "treebank"
    lines: list[str] = [f"output = {json.dumps(config.output)}"]

    def table(name: str, values: dict[str, Any]) -> None:
        plain = {key: value for key, value in values.items() if not isinstance(value, dict)}
        lines.append(f"[{name}]")
        lines.extend(f"{key} = {json.dumps(value)}" for key, value in plain.items())
        for key, value in values.items():
            if isinstance(value, dict):
                table(f"{name}.{key}", value)

    for name, values in table_of(config).items():
        if isinstance(values, dict) and name != "data":
            table(name, values)
    for part, limit in (("train", train_limit), ("dev", dev_limit)):
        files = [str(folder / f"{part}.ptb"), str(folder / f"{part}.conllu")]
        lines.append(f"[[data.{part}]]\nfiles = {json.dumps(files)}\nlimit = {limit}")
    path.write_text("\n".join(lines) + "\n")
