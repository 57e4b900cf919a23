"""A run's figures for TensorBoard, besides whatever else reports on it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from h3n.config import Config
from h3n.errors import UsageError

if TYPE_CHECKING:
    from h3n.training.loop import Event, Report


def with_tensorboard(report: Report, config: Config) -> Report:
    """Return a report that also writes TensorBoard files into the run's folder, if the options say so."""
    if not config.training.tensorboard:
        return report
    try:
        from torch.utils.tensorboard import SummaryWriter
    except ImportError:
        raise UsageError("training.tensorboard needs the package tensorboard: pip install tensorboard") from None
    writer = SummaryWriter(config.output)

    def both(event: Event) -> None:
        report(event)
        figures = getattr(event, "terms", None) or {
            name: value for name, value in getattr(event, "row", {}).items() if isinstance(value, float)
        }
        step = getattr(event, "step", None) or getattr(event, "row", {}).get("step")
        for name, value in figures.items():
            writer.add_scalar(name, value, step)

    return both
