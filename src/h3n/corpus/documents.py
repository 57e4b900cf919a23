"""The documents of a shard as sentences, one at a time, whatever they come in.

What is damaged is handed to a listener with its document and reason, and reading goes on after it; so is a file that a
reader fails at in a way that nobody foresaw. A storage that fails is another matter: it raises, so that a run stops
rather than take a broken network for broken documents.
"""

from __future__ import annotations

import io
import json
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from h3n import formats, text
from h3n.corpus.options import TABLES, Options
from h3n.corpus.shards import Shard
from h3n.corpus.storage import Piece
from h3n.corpus.streams import read_lines, read_paragraphs, unpacked
from h3n.corpus.tables import read_rows
from h3n.errors import CorruptInput, FormatError, H3nError, Place, TruncatedInput, in_one_line
from h3n.files import up_to_error
from h3n.formats.lines import LONGEST, read_pieces
from h3n.formats.options import Problems, Reading
from h3n.trees import HALF_SURROGATE, Sentence

_NEW_DOCUMENT = re.compile(r"# *newdoc(?: +id *= *(?P<name>.*\S))? *")


@dataclass(frozen=True, slots=True)
class Item:
    """A sentence, the document it is in, and its number there, from 0."""

    document: str
    number: int
    sentence: Sentence


@dataclass(frozen=True, slots=True)
class Problem:
    """A document, or a sentence of it, that cannot be parsed, and why."""

    document: str
    sentence: int | None
    reason: str


Listener: TypeAlias = Callable[[Problem], object]


@dataclass(frozen=True, slots=True)
class ReadingOptions:
    """How input is read, who is told of problems, and what finds sentences in running text."""

    options: Options
    listen: Listener
    segmenter: text.Segmenter

    def segment(self, written: str | Iterable[str]) -> Iterator[Sentence]:
        """Yield the sentences of running text."""
        return self.segmenter.segment(written, newlines=self.options.newlines)


def read_shard(
    shard: Shard, options: Options, listen: Listener, *, segmenter: text.Segmenter = text.ENGLISH
) -> Iterator[Item]:
    """Yield the sentences of a shard that have words; ``segmenter`` finds those of text."""
    for piece in shard.pieces:
        reader = _tables if piece.format in TABLES else READERS[piece.format]
        items = reader(piece, ReadingOptions(options, listen, segmenter))
        try:
            yield from (item for item in items if item.sentence.words)
        except (TruncatedInput, CorruptInput) as error:
            listen(Problem(piece.name, None, f"{error}; what stands before that is parsed"))
        except (H3nError, OSError, MemoryError):
            raise
        except Exception as error:
            reason = f"{in_one_line(error)}, which nobody foresaw; what stands before that is parsed"
            listen(Problem(piece.name, None, reason))


def _text(piece: Piece, how: ReadingOptions) -> Iterator[Item]:
    with unpacked(piece) as handle, up_to_error(read_pieces(handle, _problems(piece, how.listen))) as pieces:
        yield from _numbered(piece.name, how.segment(pieces))


def _conllu(piece: Piece, how: ReadingOptions) -> Iterator[Item]:
    reading = Reading(on_problem=lambda error: how.listen(Problem(piece.name, None, str(error))))
    document, number = piece.name, 0
    with unpacked(piece) as handle:
        for sentence in formats.read(handle, format="conllu", options=reading):
            opened = next(filter(None, map(_NEW_DOCUMENT.fullmatch, sentence.comments)), None)
            if opened is not None:
                document, number = opened["name"] or f"{piece.name}:{sentence.place.line if sentence.place else 0}", 0
            yield Item(document, number, sentence)
            number += 1


def _paragraphs(piece: Piece, how: ReadingOptions) -> Iterator[Item]:
    for at, lines in read_paragraphs(piece):
        name = f"{piece.name}:{at}"
        try:
            written = _text_of(b"".join(raw for _, raw in lines), "paragraph").removeprefix("\ufeff")
        except ValueError as error:
            how.listen(Problem(name, None, str(error)))
        else:
            yield from _numbered(name, how.segment(written))


def _lines(piece: Piece, how: ReadingOptions) -> Iterator[Item]:
    for name, line in _decoded(piece, how.listen):
        yield from _numbered(name, how.segmenter.lines(line))


def _words(piece: Piece, how: ReadingOptions) -> Iterator[Item]:
    for name, line in _decoded(piece, how.listen):
        yield from _numbered(name, text.words(line))


def _jsonl(piece: Piece, how: ReadingOptions) -> Iterator[Item]:
    for name, line in _decoded(piece, how.listen):
        if not line.strip():
            continue
        try:
            document, sentences = _object(name, line, how)
        except (ValueError, RecursionError, FormatError) as error:
            how.listen(Problem(name, None, f"not a JSON object with a text: {error}"))
        else:
            yield from _numbered(document, sentences)


def _object(name: str, line: str, how: ReadingOptions) -> tuple[str, Iterable[Sentence]]:
    """Return the document's name and sentences: of a text, of a list of words, or a sentence in the form of h3n."""
    entry: Any = json.loads(line)
    if not isinstance(entry, dict):
        raise ValueError(f"found {line[:20]!r}")
    given = entry.get(how.options.id_column)
    document = name if given is None else _whole(str(given))
    written, words = entry.get(how.options.text_column), entry.get("words")
    if "version" in entry and words is not None:
        sentences = formats.read(io.BytesIO(line.encode()), format="jsonl")
        return document, [replace(sentence, place=Place(name, 1)) for sentence in sentences]
    if isinstance(written, str):
        return document, how.segment(_whole(written))
    if isinstance(words, list) and words and all(isinstance(word, str) and word.strip() for word in words):
        return document, [Sentence(words=tuple(map(_whole, words)))]
    raise ValueError(f"neither {how.options.text_column!r} is a string nor 'words' a list of words (--text-column)")


def _whole(string: str) -> str:
    if HALF_SURROGATE.search(string):
        raise ValueError("half a surrogate pair, which is not a character")
    return string


def _tables(piece: Piece, how: ReadingOptions) -> Iterator[Item]:
    for number, name, written in read_rows(piece, how.options):
        document = name if name is not None else f"{piece.name}:{number}"
        if written is None:
            how.listen(Problem(document, None, f"row {number} of {piece.name} has no text, or not in UTF-8"))
        else:
            yield from _numbered(document, how.segment(written))


READERS: dict[str, Callable[[Piece, ReadingOptions], Iterator[Item]]] = {
    "text": _text,
    "paragraphs": _paragraphs,
    "lines": _lines,
    "words": _words,
    "conllu": _conllu,
    "jsonl": _jsonl,
}


def _numbered(document: str, sentences: Iterable[Sentence]) -> Iterator[Item]:
    for number, sentence in enumerate(sentences):
        yield Item(document, number, sentence)


def _problems(piece: Piece, listen: Listener) -> Problems:
    return Problems(lambda error: listen(Problem(piece.name, None, str(error))))


def _decoded(piece: Piece, listen: Listener) -> Iterator[tuple[str, str]]:
    """Yield the lines that are text and not too long, without their ends, with their names."""
    for at, raw in read_lines(piece):
        name = f"{piece.name}:{at}"
        try:
            yield name, _text_of(raw, "line").removesuffix("\n").removesuffix("\r").removeprefix("\ufeff")
        except ValueError as error:
            listen(Problem(name, None, str(error)))


def _text_of(raw: bytes, what: str) -> str:
    if len(raw) > LONGEST:
        raise ValueError(f"a {what} of more than {LONGEST:,} bytes; expected shorter ones")
    try:
        written = raw.decode()
    except UnicodeDecodeError as error:
        raise ValueError(f"byte {error.start + 1} of the {what} is not UTF-8; expected UTF-8 text") from None
    if "\0" in written:
        raise ValueError(f"a NUL character at {written.index(chr(0)) + 1}; expected text")
    return written
