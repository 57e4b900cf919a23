"""`h3n stats`: what is in treebank files."""

from __future__ import annotations

import json
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from typing import Annotated, Any

import typer

from h3n import formats
from h3n.cli.progress import progress
from h3n.cli.reading import read_sentences
from h3n.cli.streams import printable
from h3n.cli.terminal import Findings
from h3n.convert import JoinCounts, join
from h3n.errors import UsageError
from h3n.formats import Layout, Reading
from h3n.trees import ROOT, TRACE, Constituent, Leaf, Node, Sentence, bare_label, strip_tree


def stats(
    files: Annotated[list[str], typer.Argument(metavar="FILE...", help="Treebank files; - is standard input.")],
    format_name: Annotated[
        str | None, typer.Option("--from", "-f", metavar="FORMAT", help="Format of the files; else by their endings.")
    ] = None,
    dependencies: Annotated[
        str | None, typer.Option(metavar="FILE", help="Dependencies for the trees in the one FILE.")
    ] = None,
    functions: Annotated[
        bool, typer.Option("--functions", help="Count labels with their function tags: NP-SBJ apart from NP.")
    ] = False,
    limit: Annotated[int, typer.Option(min=0, help="How many labels, relations and tags to list; 0 is all.")] = 12,
    as_json: Annotated[bool, typer.Option("--json", help="Print everything as JSON.")] = False,
    layout: Annotated[
        Layout, typer.Option(help="Where bracketed trees end: on every line, by indentation, or anywhere.")
    ] = "auto",
    keep_going: Annotated[
        bool, typer.Option("--keep-going", help="Report damaged sentences, leave them out and exit with 1 at the end.")
    ] = False,
) -> None:
    """Count what is in treebank files: sentences, words, lengths, labels, relations, tags, crossing arcs.

    Where sentences have both trees (JSON lines, or a file of trees with --dependencies) their agreement is measured:
    a sentence is consistent if its joint tree gives back every governor. Several files are counted together.

    \b
    Examples:
      h3n stats train.ptb dev.ptb
      h3n stats dev.ptb --dependencies dev.conllu
      h3n stats train.conllu.xz --json
    """
    if dependencies is not None and len(files) > 1:
        raise UsageError(f"--dependencies goes with one file of trees, not with {len(files)}")
    for file in files:
        formats.format_named(format_name or formats.format_to_read(file))  # a wrong name is said before the work starts
    counts = Counts()
    findings = Findings()
    handler = findings if keep_going else None
    options = Reading(layout=layout, on_problem=handler)
    for file in files:
        read = read_sentences(file, format_name, dependencies=dependencies, options=options, on_mismatch=handler)
        for sentence in progress(read, label=file):
            counts.add(sentence, functions=functions)
    numbers = counts.numbers()
    typer.echo(json.dumps(numbers, ensure_ascii=False, indent=2) if as_json else "\n".join(_lines(numbers, limit)))
    findings.finish()


@dataclass(slots=True)
class Counts:
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


def crossing_arcs(governors: Sequence[int]) -> int:
    """Return the number of arcs over a word that the arc's head does not dominate; the root's own does not count."""
    first, last = _intervals(governors)
    count = 0
    for word, head in enumerate(governors):
        if head != ROOT:
            low, high = min(word, head), max(word, head)
            inside = first[low + 1 : high]
            count += any(not first[head] <= number <= last[head] for number in inside)
    return count


def _intervals(governors: Sequence[int]) -> tuple[list[int], list[int]]:
    """Return for every word its number in pre-order and the last number among its descendants."""
    children: list[list[int]] = [[] for _ in governors]
    for word, head in enumerate(governors):
        if head != ROOT:
            children[head].append(word)
    first = [0] * len(governors)
    order: list[int] = []
    stack = [word for word, head in enumerate(governors) if head == ROOT]
    while stack:
        word = stack.pop()
        first[word] = len(order)
        order.append(word)
        stack += children[word]
    last = first.copy()
    for word in reversed(order):
        if governors[word] != ROOT:
            last[governors[word]] = max(last[governors[word]], last[word])
    return first, last


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


def _lines(numbers: dict[str, Any], limit: int) -> Iterator[str]:
    for name, value in numbers.items():
        if name == "length":
            yield f"{name:14} mean {value['mean']}, median {value['median']}, max {value['max']}"
        elif name in ("labels", "relations", "tags", "upos"):
            yield f"{name:14} {len(value)}: {_most(value, limit)}"
        elif isinstance(value, dict):
            yield f"{name:14} " + ", ".join(_counted(value))
        else:
            yield f"{name.replace('_', ' '):14} {value}"


def _counted(values: dict[str, Any]) -> Iterator[str]:
    """Yield every count with its share beside it."""
    for name, value in values.items():
        if not name.endswith("_percent"):
            share = values.get(f"{name}_percent")
            yield f"{name.replace('_', ' ')} {value}" + (f" ({share} %)" if share is not None else "")


def _most(counter: dict[str, int], limit: int) -> str:
    shown = [f"{printable(name) or '(none)'} {count}" for name, count in list(counter.items())[: limit or None]]
    rest = len(counter) - limit if limit else 0
    return ", ".join(shown) + (f", {rest} more" if rest > 0 else "")


def _median(counts: Counter[int]) -> int:
    """Return the lower median of what was counted, without a list of it."""
    lengths = sorted(counts)
    up_to = list(accumulate(map(counts.__getitem__, lengths)))
    return lengths[bisect_left(up_to, (counts.total() + 1) // 2)]
