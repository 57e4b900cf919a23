"""How much a service takes on, and how it gathers batches."""

from __future__ import annotations

from dataclasses import dataclass, field, fields

from h3n.errors import UsageError


@dataclass(frozen=True, slots=True)
class Limits:
    """What one request may ask for, and how much may wait; beyond it the service answers 413, 422 or 429."""

    body: int = 4 << 20  # bytes
    texts: int = 2_000
    words: int = 50_000
    sentence_words: int = 1_000
    exact_words: int = 200  # of a sentence for `hpsg`, whose time grows with the fourth power
    constraints: int = 200
    queue_words: int = 200_000  # of all requests that wait
    seconds: float = 60.0  # for one request, waiting included


@dataclass(frozen=True, slots=True)
class Settings:
    """Options of a service. A batch waits for company at most ``window`` seconds."""

    limits: Limits = field(default_factory=Limits)
    window: float = 0.002
    batch_words: int = 4_000

    def __post_init__(self) -> None:
        if self.window < 0:
            raise UsageError(f"a window of {self.window:g} seconds; 0 or more is accepted")
        numbers = {f.name: getattr(self.limits, f.name) for f in fields(Limits)} | {"batch_words": self.batch_words}
        for name, number in numbers.items():
            if number <= 0:
                raise UsageError(f"{name} is {number:g}; more than 0 is accepted")
