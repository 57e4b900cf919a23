"""The documents of a shard as sentences, one at a time, whatever they come in.

What is damaged is handed to a listener with its document and reason, and reading goes on after it. A storage that fails
is another matter: it raises, so that a run stops rather than take a broken network for broken documents.
"""

from __future__ import annotations

import contextlib
import io
import json
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, BinaryIO, TypeAlias, cast

from h3n import files, formats, text
from h3n.corpus import storage
from h3n.corpus.options import TABLES, Options
from h3n.corpus.pieces import Piece
from h3n.corpus.shards import Shard
from h3n.corpus.tables import arrow, read_rows
from h3n.errors import CorruptInput, FormatError, TruncatedInput
from h3n.formats.lines import LONGEST, read_pieces
from h3n.formats.options import Problems, Reading
from h3n.trees import Sentence

_NEW_DOCUMENT = re.compile(r"# *newdoc(?: +id *= *(?P<name>.*\S))? *")
_HALF = re.compile("[\ud800-\udfff]")
Line: TypeAlias = tuple[str, bytes]  # a line and what it is called: its file and the byte it begins at


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


def read_shard(shard: Shard, options: Options, listen: Listener) -> Iterator[Item]:
    """Yield the sentences of a shard that have words."""
    for piece in shard.pieces:
        items = (
            _tables(piece, options, listen) if piece.format in TABLES else READERS[piece.format](piece, options, listen)
        )
        try:
            yield from (item for item in items if item.sentence.words)
        except (TruncatedInput, CorruptInput) as error:
            listen(Problem(piece.name, None, f"{error}; what stands before that is parsed"))


def _text(piece: Piece, _: Options, listen: Listener) -> Iterator[Item]:
    with _unpacked(piece) as handle:
        yield from _numbered(piece.name, text.segment(read_pieces(handle, _problems(piece, listen))))


def _conllu(piece: Piece, _: Options, listen: Listener) -> Iterator[Item]:
    reading = Reading(on_problem=lambda error: listen(Problem(piece.name, None, str(error))))
    document, number = piece.name, 0
    with _unpacked(piece) as handle:
        for sentence in formats.read(handle, format="conllu", options=reading):
            opened = next(filter(None, map(_NEW_DOCUMENT.fullmatch, sentence.comments)), None)
            if opened is not None:
                document, number = opened["name"] or f"{piece.name}:{sentence.place.line if sentence.place else 0}", 0
            yield Item(document, number, sentence)
            number += 1


def _lines(piece: Piece, _: Options, listen: Listener) -> Iterator[Item]:
    for name, line in _decoded(piece, listen):
        yield from _numbered(name, text.lines(line))


def _words(piece: Piece, _: Options, listen: Listener) -> Iterator[Item]:
    for name, line in _decoded(piece, listen):
        yield from _numbered(name, text.words(line))


def _jsonl(piece: Piece, options: Options, listen: Listener) -> Iterator[Item]:
    for name, line in _decoded(piece, listen):
        if not line.strip():
            continue
        try:
            document, sentences = _object(name, line, options)
        except (ValueError, RecursionError, FormatError) as error:
            listen(Problem(name, None, f"not a JSON object with a text: {error}"))
        else:
            yield from _numbered(document, sentences)


def _object(name: str, line: str, options: Options) -> tuple[str, Iterable[Sentence]]:
    """Return the document's name and sentences: of a text, of a list of words, or a sentence in the form of h3n."""
    entry: Any = json.loads(line)
    if not isinstance(entry, dict):
        raise ValueError(f"found {line[:20]!r}")
    given = entry.get(options.id_column)
    document = name if given is None else _whole(str(given))
    written, words = entry.get(options.text_column), entry.get("words")
    if "version" in entry and words is not None:
        return document, list(formats.read(io.BytesIO(line.encode()), format="jsonl"))
    if isinstance(written, str):
        return document, text.segment(_whole(written))
    if isinstance(words, list) and words and all(isinstance(word, str) and word.strip() for word in words):
        return document, [Sentence(words=tuple(map(_whole, words)))]
    raise ValueError(f"neither {options.text_column!r} is a string nor 'words' a list of words (--text-column)")


def _whole(string: str) -> str:
    if _HALF.search(string):
        raise ValueError("half a surrogate pair, which is not a character")
    return string


def _tables(piece: Piece, options: Options, listen: Listener) -> Iterator[Item]:
    for number, name, written in read_rows(piece, options):
        document = name if name is not None else f"{piece.name}:{number}"
        if written is None:
            listen(Problem(document, None, f"row {number} of {piece.name} has no text, or not in UTF-8"))
        else:
            yield from _numbered(document, text.segment(written))


READERS: dict[str, Callable[[Piece, Options, Listener], Iterator[Item]]] = {
    "text": _text,
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
    """Yield the lines that are UTF-8 and not too long, without their ends."""
    for name, raw in _raw_lines(piece):
        if len(raw) > LONGEST:
            listen(Problem(name, None, f"a line of more than {LONGEST:,} bytes; expected shorter ones"))
            continue
        try:
            line = raw.decode().removesuffix("\n").removesuffix("\r")
        except UnicodeDecodeError as error:
            listen(Problem(name, None, f"byte {error.start + 1} of the line is not UTF-8; expected UTF-8 text"))
            continue
        if "\0" in line:
            listen(Problem(name, None, f"a NUL character at {line.index(chr(0)) + 1}; expected text"))
            continue
        yield name, line.removeprefix("\ufeff")


def _raw_lines(piece: Piece) -> Iterator[Line]:
    """Yield the lines that begin in the piece; of one that is too long as much as shows that."""
    packed = _is_packed(piece)
    start = 0 if packed else piece.start
    with _unpacked(piece, start=max(0, start - 1)) as handle:
        at = max(0, start - 1)
        if start:  # the line that the byte before belongs to began in the piece before
            at += _skip(handle)
        while packed or at < piece.end:
            with files.unpacking_errors(lambda: f"{piece.name}:{at}"):  # noqa: B023 - used at once
                raw = handle.readline(LONGEST + 1)
            if not raw:
                return
            yield f"{piece.name}:{at}", raw
            at += len(raw)
            if not raw.endswith(b"\n") and len(raw) > LONGEST:
                at += _skip(handle)


def _skip(handle: BinaryIO) -> int:
    """Read up to the end of the line and return how many bytes that were."""
    passed = 0
    while raw := handle.readline(LONGEST):
        passed += len(raw)
        if raw.endswith(b"\n"):
            break
    return passed


def _is_packed(piece: Piece) -> bool:
    return piece.name.lower().endswith((*files.COMPRESSED, ".zst"))


@contextlib.contextmanager
def _unpacked(piece: Piece, *, start: int = 0) -> Iterator[BinaryIO]:
    with storage.opened(piece.url, name=piece.name, start=start) as handle:
        if not _is_packed(piece):
            yield handle
        elif piece.name.lower().endswith(".zst"):
            yield cast(BinaryIO, io.BufferedReader(_Zstandard(handle, piece.name)))
        else:
            with files.opened(handle) as plain:
                yield plain


class _Zstandard(io.RawIOBase):
    """A file compressed with Zstandard, which pyarrow unpacks."""

    def __init__(self, handle: BinaryIO, name: str) -> None:
        self._stream = arrow().CompressedInputStream(handle, "zstd")
        self.name = name

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        part = self._stream.read(len(buffer))
        buffer[: len(part)] = part
        return len(part)
