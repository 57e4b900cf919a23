"""What is in a treebank: sentences, words, lengths, labels, relations, tags, crossing arcs, agreement of both trees."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from dataclasses import dataclass, field
from itertools import accumulate
from typing import Any

from h3n.convert import JoinCounts, join
from h3n.trees import TRACE, Constituent, Leaf, Node, Sentence, bare_label, crossing_arcs, strip_tree


@dataclass(slots=True)
class Statistics:
    """Counts over sentences."""

    lengths: Counter[int] = field(default_factory=Counter)
    labels: Counter[str] = field(default_factory=Counter)
    tags: Counter[str] = field(default_factory=Counter)
    upos: Counter[str] = field(default_factory=Counter)
    relations: Counter[str] = field(default_factory=Counter)
    traces: int = 0
    trees: int = 0
    deepest: int = 0
    dependencies: int = 0
    crossed: int = 0
    crossing_arcs: int = 0
    arcs: int = 0
    agreement: JoinCounts = field(default_factory=JoinCounts)

    def add(self, sentence: Sentence, *, functions: bool) -> None:
        """Count one sentence."""
        self.lengths[len(sentence)] += 1
        self.tags.update(sentence.tags or ())
        self.upos.update(sentence.upos or ())
        if sentence.tree is not None and sentence.words:
            self._add_tree(sentence.tree, functions=functions)
        if sentence.dependencies is not None:
            self._add_arcs(sentence)
        if sentence.tree is not None and sentence.dependencies is not None:
            bare = strip_tree(sentence.tree, functions=False)
            if bare is not None:
                self.agreement += join(bare, sentence.dependencies).counts

    def _add_tree(self, tree: Constituent, *, functions: bool) -> None:
        self.trees += 1
        stack: list[tuple[Node, int]] = [(tree, 1)]
        while stack:
            node, depth = stack.pop()
            if isinstance(node, Leaf):
                self.traces += node.tag == TRACE
            else:
                self.labels[node.label if functions else bare_label(node.label)] += 1
                self.deepest = max(self.deepest, depth)
                stack.extend((child, depth + 1) for child in node.children)

    def _add_arcs(self, sentence: Sentence) -> None:
        assert sentence.dependencies is not None
        crossing = crossing_arcs(sentence.dependencies.governors)
        self.dependencies += 1
        self.crossed += crossing > 0
        self.crossing_arcs += crossing
        self.arcs += len(sentence)
        self.relations.update(sentence.dependencies.relations)

    def numbers(self) -> dict[str, Any]:
        """Return everything by name, in the order to show; parts of nothing are left out."""
        sentences = self.lengths.total()
        words = sum(length * count for length, count in self.lengths.items())
        summary: dict[str, Any] = {"sentences": sentences, "words": words}
        if sentences:
            summary["length"] = {
                "mean": round(words / sentences, 2),
                "median": _median(self.lengths),
                "max": max(self.lengths),
                "distribution": {str(length): self.lengths[length] for length in sorted(self.lengths)},
            }
            summary["without_words"] = self.lengths[0]
        if self.trees:
            summary["phrases"] = {
                "trees": self.trees,
                "constituents": self.labels.total(),
                "deepest": self.deepest,
                "traces": self.traces,
            }
        if self.dependencies:
            summary["dependencies"] = {
                "trees": self.dependencies,
                "non_projective": self.crossed,
                "non_projective_percent": _percent(self.crossed, self.dependencies),
                "non_projective_arcs": self.crossing_arcs,
                "non_projective_arcs_percent": _percent(self.crossing_arcs, self.arcs),
            }
        if self.agreement.sentences:
            summary["agreement"] = _agreement(self.agreement)
        for name in ("labels", "relations", "tags", "upos"):
            if counter := getattr(self, name):
                summary[name] = dict(counter.most_common())
        return summary


def _percent(part: int, whole: int) -> float:
    return round(100 * part / whole, 2) if whole else 0.0


def _agreement(counts: JoinCounts) -> dict[str, Any]:
    return {
        "sentences": counts.sentences,
        "consistent": counts.consistent,
        "consistent_percent": _percent(counts.consistent, counts.sentences),
        "spans": counts.spans,
        "spans_with_several_heads": counts.several_heads,
        "spans_with_several_heads_percent": _percent(counts.several_heads, counts.spans),
        "helper_spans": counts.helpers,
        "broken_groups": counts.broken_groups,
        "moved_words": counts.moved,
        "moved_words_percent": _percent(counts.moved, counts.words),
    }


def _median(counts: Counter[int]) -> int:
    """Return the lower median of what was counted, without a list of it."""
    lengths = sorted(counts)
    up_to = list(accumulate(map(counts.__getitem__, lengths)))
    return lengths[bisect_left(up_to, (counts.total() + 1) // 2)]
