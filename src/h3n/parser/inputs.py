"""What may be parsed: texts, lists of words, sentences, and streams of them.

A string is always a text, wherever it stands, so that a list of strings is a list of texts. Words come in a list of
their own, one for each sentence, or by keyword.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import TypeAlias, TypeGuard

from h3n import text
from h3n.errors import UsageError
from h3n.trees import HALF_SURROGATE, MultiwordToken, Sentence

One: TypeAlias = str | Sequence[str] | Sentence
Parsable: TypeAlias = str | Sentence | Iterable[One]
Words: TypeAlias = Sequence[str] | Iterable[Sequence[str]]


def read(
    source: Parsable | None,
    words: Words | None = None,
    *,
    keep_arcs: bool = False,
    segmenter: text.Segmenter = text.ENGLISH,
) -> Iterator[tuple[int, Sentence]]:
    """Return the sentences of a source, each with the number of the input it belongs to, counted from 0.

    A string is running text; anything else that can be iterated over yields inputs: strings, which are texts, lists of
    words, which are sentences, and instances of `Sentence`. ``words`` are those of one sentence, or lists of them.
    What cannot be parsed is said at once where it is the source itself, and otherwise when it comes. Trees are taken
    off but for dependencies that are to be kept.
    """
    if (source is None) == (words is None):
        count = "nothing" if source is None else "both a text and words="
        raise UsageError(f"{count} to parse; accepted: {_ACCEPTED}, an iterable of these, or words=[...]")
    if words is not None:
        return _read_words(words)
    if isinstance(source, str | Sentence):
        return _all([source], keep_arcs=keep_arcs, segmenter=segmenter)
    if not isinstance(source, Iterable) or isinstance(source, bytes | bytearray):
        raise UsageError(f"cannot parse {_kind(source)}; accepted: {_ACCEPTED}, or an iterable of these")
    return _all(source, keep_arcs=keep_arcs, segmenter=segmenter)


_ACCEPTED = "a text, a list of lists of words, a Sentence"
_ONE = "a text, a list of words, a Sentence"


def _read_words(words: Words) -> Iterator[tuple[int, Sentence]]:
    if isinstance(words, str | bytes | bytearray) or not isinstance(words, Iterable):
        raise UsageError(f"words= is {_kind(words)}; accepted: a list of words, or a list of such lists")
    return _all([words] if _is_words(words) and words else words)


def _all(
    inputs: Iterable[object], *, keep_arcs: bool = False, segmenter: text.Segmenter = text.ENGLISH
) -> Iterator[tuple[int, Sentence]]:
    for number, one in enumerate(inputs):
        if isinstance(one, str):
            for sentence in segmenter.segment(one):
                yield number, sentence
        elif isinstance(one, Sentence):
            sentence = bare(_checked(one, number))
            yield number, replace(sentence, dependencies=one.dependencies) if keep_arcs else sentence
        elif _is_words(one):
            yield number, _checked(Sentence(words=tuple(one)), number)
        else:
            raise UsageError(f"input {number + 1} is {_kind(one)}; accepted: {_ONE}")


def bare(sentence: Sentence) -> Sentence:
    """Return the sentence without its trees: words, tags and spacing stay, and so do multiword ranges.

    Enhanced dependencies and the empty nodes they need, and soft labels, would not fit the new trees.
    """
    ranges = tuple(insert for insert in sentence.inserts if isinstance(insert, MultiwordToken))
    return replace(sentence, tree=None, dependencies=None, enhanced=None, inserts=ranges, soft_labels=None)


def _checked(sentence: Sentence, number: int) -> Sentence:
    """Return the sentence if its words are words."""
    where = sentence.place or f"input {number + 1}"
    for at, word in enumerate(sentence.words, start=1):
        if not word:
            raise UsageError(f"{where}: word {at} is empty; a word has at least one character")
        if not word.isascii() and HALF_SURROGATE.search(word):
            raise UsageError(f"{where}: word {at} ({word!r}) holds half a character; expected valid Unicode")
    return sentence


def _is_words(one: object) -> TypeGuard[Sequence[str]]:
    return isinstance(one, list | tuple) and all(isinstance(word, str) for word in one)


def _kind(one: object) -> str:
    name = type(one).__name__
    return "None" if one is None else f"{'an' if name[0] in 'aeiouAEIO' else 'a'} {name}"
