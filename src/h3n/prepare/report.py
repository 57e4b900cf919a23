"""What came of preparing a treebank: counts that add up, and a line for every sentence left out."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict, dataclass, field
from typing import Any

from h3n.convert import JoinCounts


@dataclass(frozen=True, slots=True)
class Dropped:
    """A sentence that was left out. ``problem``: it is damage, and not something the recipe leaves out."""

    where: str
    why: str
    problem: bool


@dataclass(slots=True)
class SplitReport:
    """What was met in one split.

    ``made`` sentences had one of the two trees made by h3n. ``moved`` words (in ``join``) have another governor in the
    joint tree than in the dependency tree. ``expected`` is the number of sentences in the literature.
    """

    sentences: int = 0
    words: int = 0
    expected: int | None = None
    projective: int = 0
    dependencies_made: int = 0
    phrases_made: int = 0
    lifted: int = 0
    tags_differ: int = 0
    words_with_blanks: int = 0
    join: JoinCounts = field(default_factory=JoinCounts)
    unknown_labels: Counter[str] = field(default_factory=Counter)
    dropped: list[Dropped] = field(default_factory=list)

    def to_json(self) -> dict[str, Any]:
        """Return the report as plain values, in a fixed order."""
        return {
            **{key: value for key, value in asdict(self).items() if key not in ("dropped", "unknown_labels")},
            "unknown_labels": dict(sorted(self.unknown_labels.items(), key=lambda item: (-item[1], item[0]))),
            "dropped": [asdict(dropped) for dropped in self.dropped],
        }

    def lines(self) -> list[str]:
        """Return the report as sentences for people."""
        told = [f"{self.sentences:,} sentences, {self.words:,} words"]
        if self.expected is not None and self.expected != self.sentences:
            told.append(f"the literature counts {self.expected:,} sentences here")
        if self.dependencies_made:
            told.append(f"dependencies made for {self.dependencies_made:,} sentences")
        if self.phrases_made:
            kept = 100 * (1 - self.lifted / self.words) if self.words else 100.0
            told.append(
                f"phrases made for {self.phrases_made:,} sentences; {self.lifted:,} parts lifted, "
                f"{kept:.2f} % of all governors can be read off the phrases"
            )
        told.extend(self._disagreements())
        told.extend(f"{count:,} left out: {why}" for why, count in self._reasons())
        return told

    def _disagreements(self) -> list[str]:
        told = []
        if self.join.moved and not self.phrases_made:
            told.append(
                f"the trees disagree in {self.join.sentences - self.join.consistent:,} sentences "
                f"({self.join.moved:,} governors, {self.join.several_heads:,} phrases with several heads)"
            )
        if self.tags_differ:
            told.append(f"{self.tags_differ:,} words have another tag in the other file")
        if self.words_with_blanks:
            told.append(f"{self.words_with_blanks:,} words hold a blank, in brackets a non-breaking space")
        if self.unknown_labels:
            names = ", ".join(label for label, _ in self.unknown_labels.most_common(5))
            told.append(f"{self.unknown_labels.total():,} phrases with labels the head rules do not know ({names})")
        return told

    def _reasons(self) -> list[tuple[str, int]]:
        """Return why sentences were left out; what is said of one sentence alone counts as damage."""
        return Counter("damage, see report.json" if d.problem else d.why for d in self.dropped).most_common()


@dataclass(frozen=True, slots=True)
class Report:
    """What was met in each split."""

    splits: dict[str, SplitReport]

    @property
    def problems(self) -> int:
        """The number of sentences lost to damage."""
        return sum(dropped.problem for split in self.splits.values() for dropped in split.dropped)

    def to_json(self) -> dict[str, Any]:
        """Return the report as plain values."""
        return {"problems": self.problems, "splits": {name: split.to_json() for name, split in self.splits.items()}}

    def lines(self) -> list[str]:
        """Return the report as text for people."""
        return [
            f"{name:<6}{line}" if n == 0 else f"{'':<6}{line}"
            for name, split in self.splits.items()
            for n, line in enumerate(split.lines())
        ]
