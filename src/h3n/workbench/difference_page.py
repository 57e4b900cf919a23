"""The page of `h3n diff`: tables with plots, and the trees of both files side by side; nothing is from outside."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from html import escape

from h3n.draw import svg
from h3n.evaluate import ClassCounts
from h3n.workbench.differences import Difference, Tables, Verdict
from h3n.workbench.plots import bar_plot, interval_plot

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
