"""CoNLL-U: ten columns, comments, multiword ranges, empty nodes. What is read is written back byte for byte.

Words count from 1 in the file and from 0 here. A column that is ``_`` throughout is None in the sentence, and so are
the dependencies where HEAD and DEPREL are.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import repeat
from typing import IO

from h3n.errors import EmptyField, Place
from h3n.formats.files import Source
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
)
from h3n.trees import Insert, Sentence

NO_WORDS = "# text ="


def read(source: Source, options: Reading = READING) -> Iterator[Sentence]:
    """Yield the sentences, with memory for one."""
    problems = Problems(options.on_problem)
    for block in read_blocks(source, problems, with_comments=True):
        if block.rows:
            sentence = _sentence(block, problems)
        else:
            problems.noticed(EmptyField(Place(block.file, block.line), "a sentence without words", "at least one word"))
            sentence = Sentence(words=(), comments=block.comments, place=Place(block.file, block.line))
        if sentence is not None:
            yield sentence


def _sentence(block: Block, problems: Problems) -> Sentence | None:
    columns = columns_of(block, problems)
    split = split_inserts(block, columns, problems) if columns is not None else None
    if split is None:
        return None
    (_, words, lemmas, upos, tags, features, heads, relations, enhanced, misc), inserts, rows = split
    dependencies = dependencies_of(block, heads, relations, rows, problems)
    if not problems.none_in(block.line, block.place(len(block.rows)).line):
        return None
    return Sentence(
        words=words,
        tags=column(tags),
        upos=column(upos),
        lemmas=column(lemmas),
        features=column(features),
        enhanced=column(enhanced),
        misc=column(misc),
        dependencies=dependencies,
        comments=block.comments,
        inserts=inserts,
        place=Place(block.file, block.line),
    )


def write(sentences: Iterable[Sentence], stream: IO[str], options: Writing = WRITING) -> None:
    """Write the sentences, each with an empty line after it.

    A sentence without words gets a comment, or else its empty line would say nothing to a reader.
    """
    for sentence in sentences:
        lines = [*(sentence.comments or (() if sentence.words else (NO_WORDS,))), *rows_of(sentence), "", ""]
        stream.write(options.newline.join(lines))


def rows_of(sentence: Sentence) -> list[str]:
    """Return the rows of words, ranges and empty nodes."""
    none = repeat(EMPTY)
    heads, relations = heads_of(sentence.dependencies)
    rest = (sentence.lemmas, sentence.upos, tags_of(sentence), sentence.features, heads, relations, sentence.enhanced)
    rows = joined([values or none for values in (*rest, sentence.misc)], sentence.words)
    return _with_inserts(rows, sentence.inserts) if sentence.inserts else rows


def _with_inserts(rows: list[str], inserts: tuple[Insert, ...]) -> list[str]:
    made: list[str] = []
    done = 0
    for insert in inserts:
        made += rows[done : insert.before]
        made.append(insert.row)
        done = insert.before
    return made + rows[done:]
