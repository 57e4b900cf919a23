"""The rows of CoNLL-U and CoNLL-X as they are written."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import repeat

from h3n.errors import TreeError
from h3n.formats.rows import COLUMNS, EMPTY, USUAL, word_numbers
from h3n.trees import ROOT, Dependencies, Sentence


class _Heads(dict[int, str]):
    """A governor as it stands in column HEAD."""

    def __missing__(self, governor: int) -> str:
        return str(governor + 1)


_HEADS = _Heads((number, str(number + 1)) for number in range(ROOT, USUAL))


def tags_of(sentence: Sentence) -> Sequence[str] | None:
    """Return the tags with ``_`` for the words of a phrase tree that have none."""
    return [tag or EMPTY for tag in sentence.tags] if sentence.tags else None


def heads_of(dependencies: Dependencies | None) -> tuple[Iterable[str], Iterable[str]]:
    """Return columns HEAD and DEPREL."""
    if dependencies is None:
        return repeat(EMPTY), repeat(EMPTY)
    return [_HEADS[governor] for governor in dependencies.governors], dependencies.relations


def joined(columns: Sequence[Iterable[str]], words: Sequence[str]) -> list[str]:
    """Return the rows of these columns; an endless column ends with the words."""
    n = len(words)
    rows = list(map("\t".join, zip(word_numbers(n), words, *columns, strict=False)))
    text = "\n".join(rows)
    if text.count("\t") == n * (COLUMNS - 1) and text.count("\n") == max(n - 1, 0) and "\t\t" not in text:
        return rows
    for row, word in zip(rows, words, strict=True):
        if row.count("\t") != COLUMNS - 1 or "\n" in row or "\t\t" in row:
            raise TreeError(f"word {word!r} has a tab, a line end or nothing in one of its columns")
    return rows
