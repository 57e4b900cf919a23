"""CoNLL-X: ten columns, no comments, no multiword ranges.

CPOSTAG and POSTAG are the sentence's ``upos`` and ``tags``. PHEAD and PDEPREL have no place of their own in a
sentence: they are kept in ``misc`` as ``PHead=3|PDeprel=obj`` and written back from there, so that they survive a way
through CoNLL-U.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import repeat
from typing import IO

from h3n.errors import Place, TreeError
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
from h3n.trees import Sentence

_HEAD, _RELATION = "PHead", "PDeprel"


def read(source: Source, options: Reading = READING) -> Iterator[Sentence]:
    """Yield the sentences, with memory for one."""
    problems = Problems(options.on_problem)
    for block in read_blocks(source, problems, with_comments=False):
        sentence = _sentence(block, problems)
        if sentence is not None:
            yield sentence


def _sentence(block: Block, problems: Problems) -> Sentence | None:
    columns = columns_of(block, problems)
    split = split_inserts(block, columns, problems, allowed=False) if columns is not None else None
    if split is None:
        return None
    (_, words, lemmas, upos, tags, features, heads, relations, *projective), _, rows = split
    dependencies = dependencies_of(block, heads, relations, rows, problems)
    if not problems.none_in(block.line, block.place(len(block.rows)).line):
        return None
    return Sentence(
        words=words,
        tags=column(tags),
        upos=column(upos),
        lemmas=column(lemmas),
        features=column(features),
        misc=column(tuple(map(_misc, *projective))),
        dependencies=dependencies,
        place=Place(block.file, block.line),
    )


def _misc(head: str, relation: str) -> str:
    pairs = [f"{key}={value}" for key, value in ((_HEAD, head), (_RELATION, relation)) if value != EMPTY]
    return "|".join(pairs) or EMPTY


def _value(misc: str, key: str) -> str:
    found = (pair.removeprefix(key + "=") for pair in misc.split("|") if pair.startswith(key + "="))
    return next(found, EMPTY)


def lost_misc(sentence: Sentence) -> list[str]:
    """Return ``["misc"]`` if there is more in that column than these two."""
    pairs = {pair.partition("=")[0] for misc in sentence.misc or () for pair in misc.split("|")}
    return ["misc"] if pairs - {_HEAD, _RELATION, EMPTY} else []


def write(sentences: Iterable[Sentence], stream: IO[str], options: Writing = WRITING) -> None:
    """Write the sentences, each with an empty line after it. CoNLL-X has no way to show one without words."""
    for sentence in sentences:
        if not sentence.words:
            where = f"{sentence.place}: " if sentence.place else ""
            raise TreeError(f"{where}a sentence without words cannot be written in CoNLL-X")
        stream.write(options.newline.join([*_rows(sentence), "", ""]))


def _rows(sentence: Sentence) -> list[str]:
    none = repeat(EMPTY)
    misc = sentence.misc
    projective = [[_value(m, key) for m in misc] if misc else none for key in (_HEAD, _RELATION)]
    rest = (sentence.lemmas, sentence.upos, tags_of(sentence), sentence.features, *heads_of(sentence.dependencies))
    return joined([values or none for values in (*rest, *projective)], sentence.words)
