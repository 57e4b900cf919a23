"""What came of preparing a treebank: counts that add up, and a line for everything found."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict, dataclass, field
from typing import Any

from h3n.convert import JoinCounts

SHOWN = 5


@dataclass(frozen=True, slots=True)
class Finding:
    """Something worth telling: damage (``problem``), or a sentence left out because the recipe says so."""

    where: str
    why: str
    problem: bool


@dataclass(slots=True)
class SplitReport:
    """What was met in one split; ``expected`` is the number of sentences in the literature."""

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
    findings: list[Finding] = field(default_factory=list)

    def to_json(self) -> dict[str, Any]:
        """Return the report as plain values, in a fixed order."""
        return {
            **{key: value for key, value in asdict(self).items() if key not in ("findings", "unknown_labels")},
            "unknown_labels": dict(sorted(self.unknown_labels.items(), key=lambda item: (-item[1], item[0]))),
            "findings": [asdict(finding) for finding in self.findings],
        }

    def lines(self, *, all_findings: bool = False) -> list[str]:
        """Return the report as sentences for people, with all findings or the first of them."""
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
        told.extend(f"{count:,} x {why}" for why, count in self._reasons())
        findings = self.findings if all_findings else [finding for finding in self.findings if finding.problem]
        shown = findings if all_findings else findings[:SHOWN]
        told.extend(f"{finding.where}: {finding.why}" for finding in shown)
        if len(shown) < len(findings):
            told.append(f"and {len(findings) - len(shown):,} more in report.txt")
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
            told.append(f"{self.words_with_blanks:,} words hold a blank, in brackets _")
        if self.unknown_labels:
            names = ", ".join(label for label, _ in self.unknown_labels.most_common(5))
            told.append(f"{self.unknown_labels.total():,} phrases with labels the head rules do not know ({names})")
        return told

    def _reasons(self) -> list[tuple[str, int]]:
        """Return each kind of finding with its number."""
        return Counter("damage" if f.problem else f.why for f in self.findings).most_common()


@dataclass(frozen=True, slots=True)
class Report:
    """What was met in each split."""

    splits: dict[str, SplitReport]

    @property
    def problems(self) -> int:
        """How much damage was found: a sentence may have several problems."""
        return sum(finding.problem for split in self.splits.values() for finding in split.findings)

    def to_json(self) -> dict[str, Any]:
        """Return the report as plain values."""
        return {"problems": self.problems, "splits": {name: split.to_json() for name, split in self.splits.items()}}

    def lines(self, *, all_findings: bool = False) -> list[str]:
        """Return the report as text for people."""
        return [
            f"{name:<6}{line}" if n == 0 else f"{'':<6}{line}"
            for name, split in self.splits.items()
            for n, line in enumerate(split.lines(all_findings=all_findings))
        ]
