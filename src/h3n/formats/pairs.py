"""Files over the same sentences, each with part of what is known of them, read as one.

What counts as the same word stands in `h3n.formats.spelling`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import zip_longest

from h3n.errors import MismatchError
from h3n.formats.characters import COLUMNS
from h3n.formats.spelling import plain, respelled, same_words
from h3n.trees import Sentence

_KNOWN = (*COLUMNS, "tree", "dependencies", "comments", "inserts")


def pair(
    *sources: Iterable[Sentence], on_mismatch: Callable[[MismatchError], object] | None = None
) -> Iterator[Sentence]:
    """Yield every sentence with all that the sources know of it, as `merge` does.

    The words must be the same, or `MismatchError` says where they are not; with a handler such sentences are handed to
    it and left out. The sources must have equally many sentences.
    """
    files = [f"file {number}" for number in range(1, len(sources) + 1)]
    for number, rows in enumerate(zip_longest(*sources)):
        present = [row for row in rows if row is not None]
        problem = _mismatch(present) if len(present) == len(rows) else _ends(rows, files, number)
        if problem is None:
            yield merge(present)
        elif on_mismatch is None:
            raise MismatchError(problem)
        else:
            on_mismatch(MismatchError(problem))
        if len(present) < len(rows):
            return
        files = [row.place.file if row.place is not None else file for row, file in zip(present, files, strict=True)]


def merge(rows: Sequence[Sentence]) -> Sentence:
    """Return one sentence with all that several know of it; where two know the same, the one with dependencies counts.

    A sentence without words ("no parse") goes with any that has dependencies, and adds nothing to it.
    """
    base = _base(rows)
    rows = [base, *(row for row in rows if row.words)]
    known = {name: next((value for row in rows if (value := getattr(row, name))), None) for name in _KNOWN}
    sentence = replace(base, **{name: value for name, value in known.items() if value is not None})
    return sentence if sentence.tree is None else replace(sentence, tree=respelled(sentence.tree, base.words))


def _base(rows: Sequence[Sentence]) -> Sentence:
    """Return the sentence whose words count: one with dependencies, or else one that was not read off a tree."""
    arcs = (row for row in rows if row.dependencies is not None)
    others = (row for row in rows if row.tree is None and row.words)
    return next(arcs, None) or next(others, None) or rows[0]


def _mismatch(rows: Sequence[Sentence]) -> str | None:
    """Return in what the words of the sentences differ, or None."""
    base = _base(rows)
    before = True
    for row in rows:
        before &= row is not base
        no_parse = not row.words and base.dependencies is not None
        if not no_parse and not same_words(row.words, base.words):
            return describe(row, base) if before else describe(base, row)
    return None


def describe(left: Sentence, right: Sentence) -> str:
    """Return in which word two sentences differ first, with both places."""
    for number, (a, b) in enumerate(zip(left.words, right.words, strict=False), start=1):
        if plain(a) != plain(b):
            return f"{left.place}: word {number} is {a!r}, but {b!r} at {right.place}"
    return f"{left.place}: {len(left)} words, but {len(right)} at {right.place}"


def _ends(rows: Sequence[Sentence | None], files: Sequence[str], count: int) -> str:
    """Return which file ends first, and where another goes on."""
    ended = next(file for row, file in zip(rows, files, strict=True) if row is None)
    further = next(row for row in rows if row is not None)
    return f"{ended}: ends after {count} sentences, but another file goes on at {further.place}"
