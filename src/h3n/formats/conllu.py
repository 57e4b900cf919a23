"""CoNLL-U: ten columns, comments, multiword ranges, empty nodes. What is read is written back byte for byte.

Words count from 1 in the file and from 0 here. A column that is ``_`` throughout is None in the sentence, and so are
the dependencies where HEAD and DEPREL are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import repeat
from typing import Any, TypeAlias

from h3n.errors import EmptyField, Place
from h3n.files import Source
from h3n.formats.options import READING, WRITING, Problems, Reading, Writing
from h3n.formats.rows import (
    EMPTY,
    Block,
    column,
    columns_of,
    dependencies_of,
    heads_of,
    joined,
    read_blocks,
    split_inserts,
    tags_of,
    with_inserts,
)
from h3n.trees import Sentence

NO_WORDS = "# text ="
Values: TypeAlias = tuple[str, ...]
Last: TypeAlias = Callable[[Values, Values], dict[str, Any]]


def read(source: Source, options: Reading = READING) -> Iterator[Sentence]:
    """Yield the sentences, with memory for one."""
    return read_sentences(source, options, _last)


def _last(enhanced: Values, misc: Values) -> dict[str, Values | None]:
    return {"enhanced": column(enhanced), "misc": column(misc)}


def read_sentences(source: Source, options: Reading, last: Last, *, inserts: bool = True) -> Iterator[Sentence]:
    """Yield the sentences; ``last`` makes fields of the last two columns, in which CoNLL-U and CoNLL-X differ."""
    problems = Problems(options.on_problem)
    for block in read_blocks(source, problems):
        sentence = _sentence(block, problems, last, inserts) if block.rows else _without_words(block, problems)
        if sentence is not None:
            yield sentence


def _without_words(block: Block, problems: Problems) -> Sentence:
    """Return the sentence of comments alone; the comment that stands for "no words" is not kept."""
    place = Place(block.file, block.line)
    problems.noticed(EmptyField(place, "a sentence without words", "at least one word"))
    return Sentence(words=(), comments=() if block.comments == (NO_WORDS,) else block.comments, place=place)


def _sentence(block: Block, problems: Problems, last: Last, allowed: bool) -> Sentence | None:
    columns = columns_of(block, problems)
    split = split_inserts(block, columns, problems, allowed=allowed) if columns is not None else None
    if split is None:
        return None
    (_, words, lemmas, upos, tags, features, heads, relations, *rest), inserts, rows = split
    dependencies = dependencies_of(block, heads, relations, rows, problems)
    if not problems.none_in(block.line, block.place(len(block.rows)).line):
        return None
    return Sentence(
        words=words,
        tags=column(tags),
        upos=column(upos),
        lemmas=column(lemmas),
        features=column(features),
        **last(*rest),
        dependencies=dependencies,
        comments=block.comments,
        inserts=inserts,
        place=Place(block.file, block.line),
    )


def written(sentence: Sentence, options: Writing = WRITING) -> str:
    """Return the lines of a sentence with the empty line after it."""
    return lines_of(sentence, rows_of(sentence), options)


def lines_of(sentence: Sentence, rows: list[str], options: Writing) -> str:
    """Return comments and rows as text. Without either there is a comment, or else nobody would see a sentence."""
    comments = sentence.comments or (() if rows else (NO_WORDS,))
    return options.newline.join([*comments, *rows, "", ""])


def rows_of(sentence: Sentence) -> list[str]:
    """Return the rows of words, ranges and empty nodes."""
    none = repeat(EMPTY)
    heads, relations = heads_of(sentence.dependencies)
    rest = (sentence.lemmas, sentence.upos, tags_of(sentence), sentence.features, heads, relations, sentence.enhanced)
    rows = joined([values or none for values in (*rest, sentence.misc)], sentence.words)
    if not sentence.inserts:
        return rows
    return with_inserts(rows, sentence.inserts, sentence.place or Place("sentence", 1))
