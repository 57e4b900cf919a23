"""Dependencies by head rules beside those of the real converters: agreement, and trees per second.

Agreement counts all words, punctuation included.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from h3n import formats
from h3n.convert.rules import load_scheme, to_dependencies
from h3n.measure.timing import least
from h3n.trees import Constituent, Dependencies, Sentence, strip_tree


@dataclass(frozen=True, slots=True)
class Reference:
    """Trees and the output of a real converter on them, or a part of both. Bars are percent of all words."""

    scheme: str
    trees: str
    output: str
    least_governors: float = 0.0
    least_relations: float = 0.0
    functions: bool = False
    start: int = 0
    end: int | None = None


@dataclass(frozen=True, slots=True)
class Agreement:
    """Percent of the words whose governor, and whose governor and relation, are the reference's."""

    reference: Reference
    trees: int
    words: int
    governors: float
    relations: float
    rate: float  # trees per second
    confusions: list[tuple[str, int]]  # such as ``nsubj > obj``, most frequent first

    @property
    def is_enough(self) -> bool:
        """Whether both bars are met."""
        bars = self.reference.least_governors, self.reference.least_relations
        return self.governors >= bars[0] and self.relations >= bars[1]


def trees_of(sentences: Iterable[Sentence], *, functions: bool = False) -> list[Constituent]:
    """Return the trees without traces, and without function tags unless asked for."""
    trees = [strip_tree(s.tree, functions=not functions) for s in sentences if s.tree is not None]
    return [tree for tree in trees if tree is not None]


def trees_per_second(trees: Sequence[Constituent], scheme: str, *, repeat: int) -> float:
    """Return the best rate of several runs, in processor time of conversion alone."""
    rules = load_scheme(scheme)
    seconds = least(lambda: [to_dependencies(tree, rules) for tree in trees], repeat=repeat)
    return len(trees) / max(seconds, 1e-9)


def count_agreement(trees: Sequence[Constituent], gold: Sequence[Dependencies], scheme: str) -> Counter[str]:
    """Return counts of words, right governors, right relations; and of each confusion ``gold > ours``."""
    rules = load_scheme(scheme)
    counts: Counter[str] = Counter()
    for tree, expected in zip(trees, gold, strict=True):
        ours = to_dependencies(tree, rules)
        for word, governor in enumerate(expected.governors):
            counts["words"] += 1
            if ours.governors[word] != governor:
                counts[f"governor of {expected.relations[word]}"] += 1
                continue
            counts["governors"] += 1
            if ours.relations[word] == expected.relations[word]:
                counts["relations"] += 1
            else:
                counts[f"{expected.relations[word]} > {ours.relations[word]}"] += 1
    return counts


def measure_agreement(folder: Path, reference: Reference, *, repeat: int) -> Agreement:
    """Convert the trees of a reference and compare."""
    part = slice(reference.start, reference.end)
    trees = trees_of(formats.read(folder / reference.trees), functions=reference.functions)[part]
    gold = [s.dependencies for s in formats.read(folder / reference.output) if s.dependencies is not None]
    counts = count_agreement(trees, gold[part], reference.scheme)
    words = counts.pop("words")
    governors, relations = (100 * counts.pop(key) / words for key in ("governors", "relations"))
    rate = trees_per_second(trees, reference.scheme, repeat=repeat)
    return Agreement(reference, len(trees), words, governors, relations, rate, counts.most_common())
