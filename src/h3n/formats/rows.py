"""What CoNLL-U and CoNLL-X share: blocks of rows, and everything that can be wrong with them.

The same checks serve reading, where the first problem is raised, and validation, where all are collected: they run in
layers (columns, word numbers, heads, the tree), and a layer that finds damage ends the work on that sentence.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import repeat
from typing import TypeAlias

from h3n.errors import (
    BadHead,
    BadRange,
    BadWordNumber,
    CyclicHeads,
    EmptyField,
    FormatError,
    MisplacedLine,
    Place,
    RootCount,
    TreeError,
    WrongColumnCount,
)
from h3n.files import Source, name_of
from h3n.formats.lines import read_lines
from h3n.formats.options import Problems
from h3n.trees import ROOT, Dependencies, EmptyWord, Insert, MultiwordToken, Sentence

EMPTY = "_"
COLUMNS = 10
Columns: TypeAlias = tuple[tuple[str, ...], ...]


_DIGITS = 16  # no sentence is that long, and Python refuses to make a number of some thousand digits


class _Governors(dict[str, int]):
    """Column HEAD as a number from 0 (the root is -1); anything but a plain number is a KeyError."""

    def __missing__(self, text: str) -> int:
        if text.isascii() and text.isdigit() and text[0] != "0" and len(text) < _DIGITS:
            return int(text) - 1
        raise KeyError(text)


USUAL = 512  # words; longer sentences take the general way
_NUMBERS = tuple(map(str, range(1, USUAL + 1)))
_GOVERNORS = _Governors((str(number + 1), number) for number in range(ROOT, USUAL))


def word_numbers(n: int) -> tuple[str, ...]:
    """Return the numbers of n words."""
    return _NUMBERS[:n] if n <= USUAL else tuple(map(str, range(1, n + 1)))


@dataclass(frozen=True, slots=True)
class Block:
    """The lines of one sentence; ``line`` is the number of the first."""

    file: str
    line: int
    comments: tuple[str, ...]
    rows: list[str]

    def place(self, row: int = 0) -> Place:
        """Return where a row stands."""
        return Place(self.file, self.line + len(self.comments) + row)


def read_blocks(source: Source, problems: Problems) -> Iterator[Block]:
    """Yield the blocks between empty lines; damaged text is left out."""
    file = name_of(source)
    lines: list[str] = []
    number = 0
    for number, line in enumerate(read_lines(source, problems), start=1):
        if line:
            lines.append(line)
        elif lines:
            if problems.none_in(number - len(lines), number):
                yield _block(file, number - len(lines), lines)
            lines = []
        else:
            found, expected = "an empty line too many", "one empty line after every sentence"
            problems.noticed(MisplacedLine(Place(file, number), found, expected))
    if lines:
        found = "no empty line after the last sentence"
        problems.noticed(MisplacedLine(Place(file, number), found, "one empty line after every sentence"))
        if problems.none_in(number - len(lines) + 1, number):
            yield _block(file, number - len(lines) + 1, lines)


def _block(file: str, line: int, lines: list[str]) -> Block:
    first = 0
    while first < len(lines) and lines[first][0] == "#":
        first += 1
    return Block(file, line, tuple(lines[:first]), lines[first:] if first else lines)


def columns_of(block: Block, problems: Problems) -> Columns | None:
    """Return the ten columns of all rows, or None after reporting what is wrong with them."""
    table = [row.split("\t") for row in block.rows]
    if any(len(fields) != COLUMNS for fields in table):
        for row, fields in enumerate(table):
            if len(fields) != COLUMNS:
                problems.found(_wrong_columns(block.rows[row], len(fields), block.place(row)))
        return None
    columns = tuple(zip(*table, strict=True))
    if any("" in column for column in columns):
        for row, fields in enumerate(table):
            if "" in fields:
                found = f"column {fields.index('') + 1} is empty"
                problems.found(EmptyField(block.place(row), found, "'_' where there is no value"))
        return None
    return columns


def _wrong_columns(row: str, count: int, place: Place) -> FormatError:
    if row[0] == "#":
        return MisplacedLine(place, "a comment inside a sentence", "comments before the first word")
    return WrongColumnCount(place, f"{count} columns", f"{COLUMNS}, separated by tabs")


def split_inserts(
    block: Block, columns: Columns, problems: Problems, *, allowed: bool = True
) -> tuple[Columns, tuple[Insert, ...], Sequence[int]] | None:
    """Return the columns of words alone, the rows that are not words, and the row number of every word.

    None after reporting numbers that are out of order; with ``allowed`` off every row must be a word.
    """
    numbers = columns[0]
    n = len(numbers)
    if numbers == word_numbers(n):
        return columns, (), range(n)
    words = [row for row, number in enumerate(numbers) if "-" not in number and "." not in number]
    inserts: list[Insert] = []
    sound, done, covered, empties = True, 0, 0, 0
    for row, number in enumerate(numbers):
        error: FormatError | None = None
        if allowed and "-" in number:
            covered, error = _check_range(number, done, covered, len(words), block.place(row))
        elif allowed and "." in number:
            empties += 1
            error = _check_empty(number, done, empties, block.place(row))
        else:
            done, empties = done + 1, 0
            if number != str(done):
                error = BadWordNumber(block.place(row), f"word number {number!r}", f"number {done}")
                given = _governor(number)  # count on from what is there, so that one slip is one problem
                done = done - 1 if given is None else given + 1
        if error is not None:
            sound = False
            problems.found(error)
        elif "-" in number or "." in number:
            inserts.append(_insert(number, done, empties, [column[row] for column in columns[1:]]))
    if not sound:
        return None
    return tuple(tuple([column[row] for row in words]) for column in columns), tuple(inserts), words


def _insert(number: str, done: int, empties: int, columns: Sequence[str]) -> Insert:
    """Return the row of a sound number as what it stands for."""
    form, *middle, misc = columns
    if "-" in number:
        return MultiwordToken(done, int(number.partition("-")[2]), form, misc, tuple(middle))
    return EmptyWord(done, empties, form, misc, tuple(middle))


def number_of(insert: Insert) -> str:
    """Return the number of a multiword token (``2-3``) or an empty word (``2.1``)."""
    if isinstance(insert, MultiwordToken):
        return f"{insert.start + 1}-{insert.end}"
    return f"{insert.before}.{insert.number}"


def row_of(insert: Insert) -> str:
    """Return the row of a multiword token or an empty word."""
    return "\t".join([number_of(insert), insert.form, *insert.columns, insert.misc])


def inserts_of(rows: Sequence[tuple[int, str]], n: int, place: Place) -> tuple[Insert, ...]:
    """Return what rows stand for that are not words, each given with the number of words before it, of n in all."""
    words = ["\t".join([str(number), *[EMPTY] * (COLUMNS - 1)]) for number in range(1, n + 1)]
    block = Block(place.file, place.line, (), _merged(words, rows))
    problems = Problems(None)
    columns = columns_of(block, problems)
    split = split_inserts(block, columns, problems) if columns is not None else None
    if split is None or [(insert.before, row_of(insert)) for insert in split[1]] != list(rows):
        raise BadRange(place, "rows out of their places", "multiword ranges and empty nodes where their numbers say")
    return split[1]


def with_inserts(rows: list[str], inserts: Sequence[Insert], place: Place) -> list[str]:
    """Return the rows of words with the others where they belong; raise what is wrong with those."""
    added = [(insert.before, row_of(insert)) for insert in inserts]
    if not _are_usual(inserts, added, len(rows)):
        inserts_of(added, len(rows), place)
    return _merged(rows, added)


def _are_usual(inserts: Sequence[Insert], rows: Sequence[tuple[int, str]], n: int) -> bool:
    """Return whether all are multiword tokens in their places: no need to look closer."""
    covered = 0
    for insert, (_, row) in zip(inserts, rows, strict=True):
        if isinstance(insert, EmptyWord) or not covered <= insert.start < insert.end <= n:
            return False
        if row.count("\t") != COLUMNS - 1 or "\n" in row or "\t\t" in row or row[-1] == "\t":
            return False
        covered = insert.end
    return True


def _merged(rows: list[str], added: Iterable[tuple[int, str]]) -> list[str]:
    merged: list[str] = []
    done = 0
    for before, row in added:
        merged += rows[done:before]
        merged.append(row)
        done = before
    return merged + rows[done:]


def _check_range(number: str, done: int, covered: int, n: int, place: Place) -> tuple[int, FormatError | None]:
    """Return the last word covered by a range so far, and what is wrong with this one."""
    first, last = (_governor(part) for part in number.split("-", 1))
    if first is None or last is None or first != done or not first <= last < n or first < covered:
        expected = f"a range of words that starts at {done + 1} and ends by {n}, and does not overlap another"
        return covered, BadRange(place, f"multiword range {number!r}", expected)
    return last + 1, None


def _check_empty(number: str, done: int, count: int, place: Place) -> FormatError | None:
    if number != f"{done}.{count}":
        return BadRange(place, f"empty node {number!r}", f"{done}.{count}")
    return None


def _governor(text: str) -> int | None:
    try:
        return _GOVERNORS[text]
    except KeyError:
        return None


def dependencies_of(
    block: Block, heads: tuple[str, ...], relations: tuple[str, ...], rows: Sequence[int], problems: Problems
) -> Dependencies | None:
    """Return the dependencies, or None: if both columns are ``_`` throughout, or after reporting what is wrong."""
    n = len(heads)
    if heads.count(EMPTY) == n == relations.count(EMPTY):
        return None
    try:
        governors = tuple(map(_GOVERNORS.__getitem__, heads))
    except KeyError:
        for word, head in enumerate(heads):
            if _governor(head) is None:
                found = f"head {head!r} of word {word + 1}"
                problems.found(BadHead(block.place(rows[word]), found, f"a number from 0 to {n}"))
        return None
    sound = check_governors(governors, lambda word: block.place(rows[word]), problems)
    return Dependencies(governors, relations) if sound else None


def check_governors(governors: tuple[int, ...], place: Callable[[int], Place], problems: Problems) -> bool:
    """Return whether these are the governors of a tree, after reporting all that is wrong with them."""
    n = len(governors)
    if n and not -1 <= min(governors) <= max(governors) < n:
        for word, governor in enumerate(governors):
            if not -1 <= governor < n:
                found = f"head {governor + 1} of word {word + 1}"
                problems.found(BadHead(place(word), found, f"a number from 0 to {n}"))
        return False
    sound = True
    if n and governors.count(ROOT) != 1:
        sound = False
        roots = [word for word, governor in enumerate(governors) if governor == ROOT]
        found = f"{len(roots)} root words ({', '.join(str(w + 1) for w in roots)})" if roots else "no root word"
        problems.found(RootCount(place(roots[1] if roots else 0), found, "one word with head 0"))
    for cycle in _cycles(governors):
        sound = False
        found = f"words {', '.join(str(w + 1) for w in cycle)} govern each other in a circle"
        if len(cycle) == 1:
            found = f"word {cycle[0] + 1} governs itself"
        problems.found(CyclicHeads(place(cycle[0]), found, "heads that lead to the root word"))
    return sound


def _cycles(governors: tuple[int, ...]) -> Iterator[list[int]]:
    """Yield the words of every cycle in ascending order. O(n)."""
    visited = [ROOT] * len(governors)  # otherwise the first word of the walk that came by
    for start in range(len(governors)):
        word = start
        while word != ROOT and visited[word] == ROOT:
            visited[word] = start
            word = governors[word]
        if word != ROOT and visited[word] == start:
            cycle = [word]
            while (word := governors[word]) != cycle[0]:
                cycle.append(word)
            yield sorted(cycle)


def column(values: tuple[str, ...]) -> tuple[str, ...] | None:
    """Return the column, or None if it is empty throughout."""
    return None if values.count(EMPTY) == len(values) else values


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
