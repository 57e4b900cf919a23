"""What may be parsed: texts, lists of words, sentences, and streams of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import TypeAlias, TypeGuard

from h3n import text
from h3n.errors import UsageError
from h3n.trees import Sentence

One: TypeAlias = str | Sequence[str] | Sentence
Parsable: TypeAlias = One | Iterable[One]


def read(source: Parsable) -> Iterator[tuple[int, Sentence]]:
    """Return the sentences of a source, each with the number of the input it belongs to, counted from 0.

    A string is running text; a list or tuple of strings is one sentence whose words they are; anything else that can
    be iterated over yields inputs, each of them one of these. What cannot be parsed is said at once where it is the
    source itself, and otherwise when it comes.
    """
    if isinstance(source, str | Sentence) or (_is_words(source) and source):
        return _all([source])
    if not isinstance(source, Iterable) or isinstance(source, bytes | bytearray):
        raise UsageError(f"cannot parse {_kind(source)}; accepted: {_ACCEPTED}, or an iterable of these")
    return _all(source)


_ACCEPTED = "a text, a list of words, a Sentence"


def _all(inputs: Iterable[object]) -> Iterator[tuple[int, Sentence]]:
    for number, one in enumerate(inputs):
        if isinstance(one, str):
            for sentence in text.segment(one):
                yield number, sentence
        elif isinstance(one, Sentence):
            yield number, bare(one)
        elif _is_words(one):
            yield number, _of_words(one, number)
        else:
            raise UsageError(f"input {number + 1} is {_kind(one)}; accepted: {_ACCEPTED}")


def bare(sentence: Sentence) -> Sentence:
    """Return the sentence without its trees: words, tags and spacing stay, and so do multiword ranges.

    Enhanced dependencies and the empty nodes they need would not fit the new trees.
    """
    ranges = tuple(insert for insert in sentence.inserts if "." not in insert.row.partition("\t")[0])
    return replace(sentence, tree=None, dependencies=None, enhanced=None, inserts=ranges)


def _of_words(words: Sequence[str], number: int) -> Sentence:
    if "" in words:
        raise UsageError(f"input {number + 1}: word {words.index('') + 1} is empty; a word has at least one character")
    return Sentence(words=tuple(words))


def _is_words(one: object) -> TypeGuard[Sequence[str]]:
    return isinstance(one, list | tuple) and all(isinstance(word, str) for word in one)


def _kind(one: object) -> str:
    return "None" if one is None else f"a {type(one).__name__}"
