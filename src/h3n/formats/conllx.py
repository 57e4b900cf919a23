"""CoNLL-X: ten columns, no multiword ranges.

Comments before the words, which the format does not know but many treebanks have, are read and not written.
CPOSTAG and POSTAG are the sentence's ``upos`` and ``tags``. PHEAD and PDEPREL have no place of their own in a
sentence: they are kept in ``misc`` as ``PHead=3|PDeprel=obj`` and written back from there, so that they survive a way
through CoNLL-U. Inside a value of ``misc``, where ``|`` separates, it is written ``%7C``, and ``%`` is ``%25``.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import repeat

from h3n.files import Source
from h3n.formats.conllu import Values, lines_of, read_sentences
from h3n.formats.options import READING, WRITING, Reading, Writing
from h3n.formats.rows import (
    EMPTY,
    column,
    heads_of,
    joined,
    tags_of,
)
from h3n.trees import Sentence

_HEAD, _RELATION = "PHead", "PDeprel"


def read(source: Source, options: Reading = READING) -> Iterator[Sentence]:
    """Yield the sentences, with memory for one."""
    return read_sentences(source, options, _last, inserts=False)


def _last(heads: Values, relations: Values) -> dict[str, Values | None]:
    return {"misc": column(tuple(map(_misc, heads, relations)))}


def _misc(head: str, relation: str) -> str:
    pairs = [f"{key}={_quoted(value)}" for key, value in ((_HEAD, head), (_RELATION, relation)) if value != EMPTY]
    return "|".join(pairs) or EMPTY


def _quoted(value: str) -> str:
    return value.replace("%", "%25").replace("|", "%7C")


def _unquoted(value: str) -> str:
    return value.replace("%7C", "|").replace("%25", "%")


def _value(misc: str, key: str) -> str:
    found = (pair.removeprefix(key + "=") for pair in misc.split("|") if pair.startswith(key + "="))
    return _unquoted(next(found, EMPTY)) or EMPTY


def lost_misc(sentence: Sentence) -> list[str]:
    """Return ``["misc"]`` if there is more in that column than these two."""
    if sentence.misc is None or all(_misc(_value(m, _HEAD), _value(m, _RELATION)) == m for m in sentence.misc):
        return []
    return ["misc"]


def written(sentence: Sentence, options: Writing = WRITING) -> str:
    """Return the lines of a sentence with the empty line after it.

    Programs that read CoNLL-X take a comment for a damaged row. One that has no words would not be seen without.
    """
    return lines_of(replace(sentence, comments=()), _rows(sentence), options)


def _rows(sentence: Sentence) -> list[str]:
    none = repeat(EMPTY)
    misc = sentence.misc
    projective = [[_value(m, key) for m in misc] if misc else none for key in (_HEAD, _RELATION)]
    rest = (sentence.lemmas, sentence.upos, tags_of(sentence), sentence.features, *heads_of(sentence.dependencies))
    return joined([values or none for values in (*rest, *projective)], sentence.words)
