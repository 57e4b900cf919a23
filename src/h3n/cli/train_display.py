"""What `h3n train` shows while it works: one line that moves on a terminal, a line per check everywhere."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Any

from h3n.config import Config

SHOWN = ("loss", "LF1", "UAS", "LAS", "heads", "tags", "lemmas", "features")
BAR = "{desc} {percentage:3.0f}% |{bar:12}| {n_fmt}/{total_fmt} {postfix}"


class Display:
    """Progress for people. Times are of a clock that never jumps."""

    def __init__(self, options: Config, *, quiet: bool) -> None:
        self.quiet = quiet
        self.options = options
        self.bar: Any = None
        self.words = 0
        self.updates = 0
        self.scores = ""
        self.checked = False
        self.started = time.perf_counter()

    def watch(self, sentences: Any, name: str) -> Any:
        """Return the sentences, watched by a bar while they are read."""
        from h3n.cli.progress import progress

        return sentences if self.quiet else progress(sentences, label=f"reading {Path(name).name}")

    def __call__(self, event: Any) -> None:
        from h3n.training import Check, Note, Update

        match event:
            case Update():
                self._update(event)
            case Check():
                named = [name for name in SHOWN[1:4] if name in event.row]
                self.checked = True
                self.scores = "".join(f", {name} {event.row[name]:.1f}" for name in named)
                self.say(line_of_check(event.row, best=event.best))
                self._draw()
            case Note():
                if not self.updates:  # what was read before counts for no time left
                    self.started = time.perf_counter()
                self.say(event.text)

    def _update(self, event: Any) -> None:
        self.words += event.words
        self.updates += 1
        if self.quiet or not sys.stderr.isatty():
            if not self.checked and event.done in early_moments(event.updates):
                self.say(self.line_of_update(event, time.perf_counter() - self.started))
            return
        if self.bar is None:
            from h3n.cli.progress import bar

            self.bar = bar(bar_format=BAR)
        self.bar.total, self.bar.n = event.updates, event.done
        self.bar.set_description_str(f"epoch {event.epoch + 1}/{self.options.training.epochs}", refresh=False)
        self.bar.set_postfix_str(self.postfix(event, time.perf_counter() - self.started), refresh=False)
        self.bar.update(0)

    def postfix(self, event: Any, seconds: float) -> str:
        """Return what stands behind the bar: time left, losses, last scores, speed."""
        parts = " ".join(f"{name} {value:.2f}" for name, value in event.terms.items() if value)
        left, speed = self._left(event, seconds), self.words / seconds
        return f"{left} left, loss {event.loss:.3f} ({parts}){self.scores}, {speed:,.0f} words/s"

    def line_of_update(self, event: Any, seconds: float) -> str:
        """Return how far it is to the first check, for those who do not see the bar."""
        where = f"epoch {event.epoch + 1}  update {event.done} of {event.updates}"
        speed = self.words / seconds
        return f"{where}  loss {event.loss:.3f}  {speed:,.0f} words/s  {self._left(event, seconds)} left"

    def _left(self, event: Any, seconds: float) -> str:
        return _minutes(seconds / self.updates * (event.total - event.step))

    def _draw(self) -> None:
        """Draw the curves anew; without matplotlib there are none until the end, where that is said."""
        from h3n.errors import H3nError
        from h3n.training.curves import draw_curves

        if not self.quiet:
            try:
                draw_curves(Path(self.options.output))
            except H3nError:
                return

    def say(self, line: str) -> None:
        """Write one line without disturbing the bar."""
        if self.quiet:
            return
        if self.bar is not None:
            self.bar.clear()
        sys.stderr.write(f"{line}\n")
        sys.stderr.flush()

    def close(self) -> None:
        if self.bar is not None:
            self.bar.close()


def early_moments(updates: int) -> frozenset[int]:
    """Return after how many of an epoch's updates there is a line before the first check; none in a short epoch."""
    return frozenset({updates // 20, updates // 4, updates // 2} if updates >= 20 else ())


def _minutes(seconds: float) -> str:
    minutes = round(seconds / 60)
    return f"{minutes // 60} h {minutes % 60} min" if minutes >= 60 else f"{minutes} min" if minutes else "1 min"


def line_of_check(row: dict[str, Any], *, best: bool) -> str:
    """Return a check as a line, and one more for each of several dev treebanks."""
    shown = "  ".join(f"{name} {row[name]:.{3 if name == 'loss' else 2}f}" for name in SHOWN if name in row)
    star = "  best so far" if best else ""
    each = "".join(
        f"\n  {name}: " + "  ".join(f"{score} {scores[score]:.2f}" for score in SHOWN if score in scores)
        for name, scores in row.get("treebanks", {}).items()
    )
    return f"epoch {row['epoch']}  update {row['step']}  {shown}  {row['seconds'] / 60:.1f} min{star}{each}"
