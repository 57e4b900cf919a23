"""What two files of trees over the same sentences disagree in: sentence by sentence, and counted in tables.

The first side is the one that shares are of: of its labels, its relations, its arcs.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from html import escape

from h3n.draw import WithConfidence, svg
from h3n.draw.plots import bar_plot, interval_plot
from h3n.errors import MismatchError
from h3n.evaluate import (
    ClassCounts,
    Convention,
    Interval,
    SentenceCounts,
    band_name,
    check_words,
    compare_parsers,
    count_sentence,
    length_band,
    mcnemar,
    pair,
)
from h3n.trees import ROOT, Dependencies, Sentence, Span, spans_of, strip_tree
from h3n.workbench.genres import genres

BARE = "(no phrase)"  # the label of a stretch that is a phrase on the other side only
DISTANCES = (1, 2, 3, 5, 10, 20)


@dataclass(frozen=True, slots=True)
class Difference:
    """One sentence on both sides. ``spans`` and ``arcs`` are what each side has alone."""

    number: int
    sides: tuple[Sentence, Sentence]
    spans: tuple[frozenset[Span], frozenset[Span]]
    arcs: frozenset[int]
    genre: str

    @property
    def size(self) -> int:
        """How much is different: words with another governor or relation, and phrases that one side has alone."""
        return len(self.arcs) + len(self.spans[0]) + len(self.spans[1])

    def drawable(self, side: int) -> WithConfidence:
        """Return one side's trees to draw, with what is different marked as if it were not sure."""
        sentence = self.sides[side]
        marked = {(span.start, span.end): 0.0 for span in self.spans[side]}
        arcs = [0.0 if word in self.arcs else 1.0 for word in range(len(sentence))] if sentence.dependencies else []
        return WithConfidence(sentence, spans=marked, arcs=arcs)


@dataclass(slots=True)
class Tables:
    """Counts over all sentences. In a confusion the first name is the first side's."""

    labels: Counter[tuple[str, str]] = field(default_factory=Counter)
    relations: Counter[tuple[str, str]] = field(default_factory=Counter)
    by_distance: dict[str, ClassCounts] = field(default_factory=dict)
    by_length: dict[str, ClassCounts] = field(default_factory=dict)
    by_genre: dict[str, ClassCounts] = field(default_factory=dict)
    phrases_by_length: dict[str, ClassCounts] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Verdict:
    """Two parsers against gold: intervals of their differences, and McNemar's test on words with governor and relation
    right, of which ``only`` counts those that one side alone has right."""

    intervals: dict[str, Interval]
    only: tuple[int, int]
    p: float


def find_differences(first: Iterable[Sentence], second: Iterable[Sentence]) -> tuple[list[Difference], Tables]:
    """Return what is different in each sentence, in the order of the files, and the tables over all of them."""
    pairs = list(pair(first, second))
    tables = Tables()
    differences = []
    for number, ((one, other), genre) in enumerate(zip(pairs, genres(one for one, _ in pairs), strict=True), start=1):
        check_words(one, other, number)
        difference = _difference(number, one, other, genre)
        _count(tables, difference)
        differences.append(difference)
    return differences, tables


def _difference(number: int, one: Sentence, other: Sentence, genre: str) -> Difference:
    left, right = _spans(one), _spans(other)
    both = left is not None and right is not None
    alone = (frozenset(left or ()) - frozenset(right or ()), frozenset(right or ()) - frozenset(left or ()))
    arcs: frozenset[int] = frozenset()
    if one.dependencies is not None and other.dependencies is not None:
        left_arcs, right_arcs = one.dependencies, other.dependencies
        arcs = frozenset(word for word in range(len(one)) if _arc(left_arcs, word) != _arc(right_arcs, word))
    elif not both:
        where = one.place or f"sentence {number}"
        raise MismatchError(f"{where}: the two files have no kind of tree in common")
    return Difference(number, (one, other), alone if both else (frozenset(), frozenset()), arcs, genre)


def _spans(sentence: Sentence) -> tuple[Span, ...] | None:
    tree = strip_tree(sentence.tree) if sentence.tree is not None else None
    return None if tree is None else spans_of(tree)


def _arc(arcs: Dependencies, word: int) -> tuple[int, str]:
    return arcs.governors[word], arcs.relations[word]


def _count(tables: Tables, difference: Difference) -> None:
    one, other = difference.sides
    band = band_name(length_band(len(one)))
    if one.dependencies is not None and other.dependencies is not None:
        same = len(one) - len(difference.arcs)
        _add(tables.by_length, band, len(one), same)
        _add(tables.by_genre, difference.genre, len(one), same)
        for word in range(len(one)):
            governor, relation = _arc(one.dependencies, word)
            _add(tables.by_distance, _distance(word, governor), 1, governor == other.dependencies.governors[word])
            tables.relations[relation, other.dependencies.relations[word]] += 1
    left, right = _spans(one), _spans(other)
    if left is not None and right is not None:
        _add(tables.phrases_by_length, band, len(left), len(left) - len(difference.spans[0]))
        labels = {(span.start, span.end): span.label for span in right}
        tables.labels.update((span.label, labels.pop((span.start, span.end), BARE)) for span in left)
        tables.labels.update((BARE, label) for label in labels.values())


def _add(table: dict[str, ClassCounts], name: str, words: int, right: int) -> None:
    table[name] = table.get(name, ClassCounts()) + ClassCounts(words, right)


def _distance(word: int, governor: int) -> str:
    if governor == ROOT:
        return "root"
    away = abs(word - governor)
    low = max((bound for bound in DISTANCES if bound <= away), default=1)
    later = [bound for bound in DISTANCES if bound > low]
    return str(low) if later and later[0] == low + 1 else f"{low}-{later[0] - 1}" if later else f"{low}+"


def judge(
    gold: Sequence[Sentence], first: Sequence[Sentence], second: Sequence[Sentence], *, samples: int, seed: int
) -> Verdict:
    """Return whether two parsers differ by more than chance, measured by gold sentences."""
    counts: list[list[SentenceCounts]] = [[], []]
    only = [0, 0]
    for number, (wanted, (one, other)) in enumerate(zip(gold, pair(first, second), strict=True), start=1):
        for side, found in zip(counts, (one, other), strict=True):
            check_words(wanted, found, number)
            side.append(count_sentence(wanted, found, convention=Convention()))
        if wanted.dependencies is not None and one.dependencies is not None and other.dependencies is not None:
            for word in range(len(wanted)):
                target = _arc(wanted.dependencies, word)
                right = [_arc(arcs, word) == target for arcs in (one.dependencies, other.dependencies)]
                only[0] += right[0] and not right[1]
                only[1] += right[1] and not right[0]
    intervals = compare_parsers(*counts, samples=samples, seed=seed)
    return Verdict(intervals, (only[0], only[1]), mcnemar(*only))


SHOWN_CONFUSIONS = 25
FIT = 900  # pixels of one picture

_STYLE = """
body { margin: 2rem; font: 16px/1.5 system-ui, sans-serif; color: #111827; background: #ffffff; }
h1 { font-size: 1.4rem; } h2 { font-size: 1.15rem; margin-top: 2.5rem; } h3 { font-size: 1rem; }
table { border-collapse: collapse; margin: .5rem 0 1rem; }
th, td { padding: .15rem .7rem; text-align: right; border-bottom: 1px solid #e5e7eb; }
td.name, th.name { text-align: left; }
section.sentence { border-top: 1px solid #d1d5db; padding-top: .7rem; margin-top: 1.5rem; }
.sides { display: flex; flex-wrap: wrap; gap: 1.5rem; }
.sides figure { margin: 0; overflow-x: auto; max-width: 100%; }
.parts { display: flex; flex-wrap: wrap; gap: 2rem; align-items: flex-start; }
figcaption, .note { color: #4b5563; }
""".strip()


def diff_page(
    differences: Sequence[Difference],
    tables: Tables,
    *,
    names: tuple[str, str],
    verdict: Verdict | None = None,
    order: str = "error",
    top: int = 50,
) -> str:
    """Return the page. ``order`` sorts the sentences that differ: by ``error`` (most first), ``length`` (shortest
    first) or ``file``; ``top`` of them are drawn."""
    return "\n".join(_lines(differences, tables, names, verdict, order, top)) + "\n"


def _lines(
    differences: Sequence[Difference],
    tables: Tables,
    names: tuple[str, str],
    verdict: Verdict | None,
    order: str,
    top: int,
) -> Iterator[str]:
    title = escape(f"{names[0]} and {names[1]}")
    yield f'<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<title>{title}</title>'
    yield f'<meta name="viewport" content="width=device-width, initial-scale=1">\n<style>\n{_STYLE}\n</style>\n</head>'
    yield f"<body>\n<h1>{title}</h1>"
    different = [one for one in differences if one.size]
    sides = f"A is {escape(names[0])}, B {escape(names[1])}."
    yield f"<p>{len(different):,} of {len(differences):,} sentences differ. {sides}</p>"
    if verdict is not None:
        yield from _verdict(verdict)
    yield from _confusions("Labels of phrases", tables.labels)
    yield from _confusions("Relations", tables.relations)
    yield from _shares("Same governor, by the distance to A's governor", tables.by_distance, "words", _by_number)
    yield from _shares("Same governor and relation, by length of sentence", tables.by_length, "words", _by_number)
    yield from _shares("Same phrases, by length of sentence", tables.phrases_by_length, "phrases", _by_number)
    yield from _shares("Same governor and relation, by genre", tables.by_genre, "words", _by_share)
    chosen = sorted(different, key=ORDERS[order])[:top]
    if chosen:
        yield f"<h2>Sentences ({len(chosen)} of {len(different)}, by {escape(order)})</h2>"
        yield '<p class="note">What the other side does not have is shaded.</p>'
    for difference in chosen:
        yield from _sentence(difference)
    yield "</body>\n</html>"


# How the sentences are sorted -> the key.
ORDERS: dict[str, Callable[[Difference], tuple[int, int]]] = {
    "error": lambda one: (-one.size, one.number),
    "length": lambda one: (len(one.sides[0]), one.number),
    "file": lambda one: (one.number, 0),
}


def _sentence(difference: Difference) -> Iterator[str]:
    one = difference.sides[0]
    name = f"{difference.number}" + (f" ({one.sent_id})" if one.sent_id else "")
    what = f"{len(difference.arcs)} words and {len(difference.spans[0])} + {len(difference.spans[1])} phrases differ"
    yield f'<section class="sentence">\n<h3>{escape(name)}: {what}</h3>'
    yield '<div class="sides">'
    for side, letter in enumerate("AB"):
        picture = svg(difference.drawable(side), theme="light", fit=FIT)
        yield f"<figure><figcaption>{letter}</figcaption>{picture.rstrip()}</figure>"
    yield "</div>\n</section>"


def _verdict(verdict: Verdict) -> Iterator[str]:
    yield "<h2>A and B against gold</h2>"
    rows = [
        (
            name,
            f"{one.first:.2f}",
            f"{one.second:.2f}",
            f"{one.difference:+.2f}",
            f"[{one.low:+.2f}, {one.high:+.2f}]",
            f"{one.p:.4f}",
        )
        for name, one in verdict.intervals.items()
    ]
    yield '<div class="parts">'
    yield from _table(("score", "A", "B", "A - B", "95 % interval", "p"), rows)
    yield interval_plot({name: (one.low, one.difference, one.high) for name, one in verdict.intervals.items()})
    yield "</div>"
    first, second = verdict.only
    if first or second:
        yield (
            f"<p>Words with governor and relation right in A alone: {first:,}; in B alone: {second:,}. "
            f"McNemar's test: p = {verdict.p:.4g}.</p>"
        )


def _confusions(title: str, counts: Counter[tuple[str, str]]) -> Iterator[str]:
    if not counts:
        return
    totals = Counter[str]()
    for (first, _), count in counts.items():
        totals[first] += count
    worst = [(pair, count) for pair, count in counts.most_common() if pair[0] != pair[1]][:SHOWN_CONFUSIONS]
    same = sum(count for (first, second), count in counts.items() if first == second)
    yield f"<h2>{escape(title)}</h2>\n<p>{same:,} of {counts.total():,} are the same.</p>"
    if not worst:
        return
    rows = [(first, second, f"{count:,}", f"{100 * count / totals[first]:.1f} %") for (first, second), count in worst]
    yield '<div class="parts">'
    yield from _table(("in A", "in B", "times", "share of A's"), rows, names=2)
    yield bar_plot([(f"{first} / {second}", float(count), f"{count:,}") for (first, second), count in worst[:15]])
    yield "</div>"


def _shares(
    title: str,
    parts: Mapping[str, ClassCounts],
    unit: str,
    order: Callable[[tuple[str, ClassCounts]], tuple[float, str]],
) -> Iterator[str]:
    if not parts:
        return
    items = sorted(parts.items(), key=order)
    yield f'<h2>{escape(title)}</h2>\n<div class="parts">'
    yield from _table(("", unit, "same"), [(name, f"{one.words:,}", f"{one.accuracy:.2f} %") for name, one in items])
    yield bar_plot([(name, one.accuracy, f"{one.accuracy:.1f}") for name, one in items], whole=100.0)
    yield "</div>"


def _by_number(item: tuple[str, ClassCounts]) -> tuple[int, str]:
    digits = item[0].rstrip("+").partition("-")[0]
    return (int(digits) if digits.isdigit() else 0), item[0]


def _by_share(item: tuple[str, ClassCounts]) -> tuple[float, str]:
    return item[1].accuracy, item[0]


def _table(heads: Sequence[str], rows: Sequence[Sequence[str]], *, names: int = 1) -> Iterator[str]:
    """Yield a table whose first columns are names and whose others are numbers."""
    yield f"<table>{_row('th', heads, names)}"
    for row in rows:
        yield _row("td", row, names)
    yield "</table>"


def _row(kind: str, cells: Sequence[str], names: int) -> str:
    opened = [f'{kind} class="name"' if at < names else kind for at in range(len(cells))]
    return f"<tr>{''.join(f'<{tag}>{escape(cell)}</{kind}>' for tag, cell in zip(opened, cells, strict=True))}</tr>"
