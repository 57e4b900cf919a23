"""What a run reports while it goes on, and to whom."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any


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
