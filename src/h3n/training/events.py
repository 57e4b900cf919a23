"""What a run reports while it goes on, and to whom: any function, and TensorBoard."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from h3n.config import Config
from h3n.errors import MissingExtra


@dataclass(frozen=True, slots=True, kw_only=True)
class Update:
    """One update is done."""

    step: int
    total: int
    epoch: int
    done: int = 0  # updates of this epoch
    updates: int = 0  # in this epoch
    loss: float
    words: int
    terms: dict[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """Dev was evaluated."""

    row: dict[str, Any]
    best: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Note:
    """Something worth a line."""

    text: str


Event = Update | Check | Note
Listener = Callable[[Event], None]


def with_tensorboard(report: Listener, config: Config) -> Listener:
    """Return a listener that also writes into the folder ``tensorboard`` of the run, if the options say so."""
    if not config.training.tensorboard:
        return report
    try:
        from torch.utils.tensorboard import SummaryWriter
    except ImportError:
        raise MissingExtra("curves for TensorBoard", "tensorboard") from None
    writer = SummaryWriter(str(Path(config.output) / "tensorboard"))

    def both(event: Event) -> None:
        report(event)
        figures = getattr(event, "terms", None) or {
            name: value for name, value in getattr(event, "row", {}).items() if isinstance(value, float)
        }
        step = getattr(event, "step", None) or getattr(event, "row", {}).get("step")
        for name, value in figures.items():
            writer.add_scalar(name, value, step)
        if not isinstance(event, Update):
            writer.flush()  # a check is rare, and somebody may be watching

    return both
