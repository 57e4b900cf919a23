"""A run's figures for TensorBoard, besides whatever else reports on it."""

from __future__ import annotations

from pathlib import Path

from h3n.config import Config
from h3n.errors import MissingExtra
from h3n.training.events import Event, Listener, Update


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
