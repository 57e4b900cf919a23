"""The tokenizer of a saved model: its file checked part by part before the tokenizers library builds anything of it.

Only parts that are known here are accepted, since some can be made to run for ever or to blow a text up: regular
expressions are those of `PATTERNS` alone, and all normalizers together may make a text `MOST_GROWTH` times as long.
"""

from __future__ import annotations

import base64
import binascii
import math
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from h3n.config.building import show
from h3n.engine.architectures import Architecture
from h3n.engine.pieces import Tokenizer, tokenizer_errors
from h3n.errors import InputError
from h3n.files import read_json

TOKENIZER, OPTIONS = "tokenizer.json", "tokenizer_config.json"
LARGEST = {TOKENIZER: 1 << 27, OPTIONS: 1 << 24}  # bytes
NO_LIMIT = 100_000  # pieces: a longer input is a default of the library that made the file, not a real limit
MOST_GROWTH = 100.0  # times
MOST_PARTS = 16  # of a sequence
MOST_ADDED = 20_000  # pieces added to the vocabulary
MOST_MARKS = 16  # around a sentence
LONGEST_TEXT = 16  # characters that a part puts into a text
LONGEST_PIECE = 10_000  # characters
LONGEST_WORD = 200  # characters that WordPiece looks up: it takes the square of them
_SURROGATE = re.compile("[\ud800-\udfff]")
LONGEST_MAPPED = 64  # bytes that a table of characters puts in place of one; that of SentencePiece has 33
# Regular expressions of tokenizers in use. Others are refused: there are some that take for ever.
PATTERNS = {
    " {2,}",
    " +",
    "\\s+",
    "\\s{2,}",
    "[\\n\\r\\t]",
    "\\s{2,}|[\\n\\r\\t]",
    "[\\r\\n]",
    "[0-9]",
    "\\d",
    "\\p{N}",
    "'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)|\\s+",
}
PATTERNS |= {
    f"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{{L}}\\p{{N}}]?\\p{{L}}+|{digits}| ?[^\\s\\p{{L}}\\p{{N}}]+[\\r\\n]*|"
    f"\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+"
    for digits in ("\\p{N}", "\\p{N}{1,3}")
}

Table = Mapping[str, Any]


class _Fault(Exception):
    """What is wrong with a part of the file."""


def read_tokenizer(folder: Path, architecture: Architecture, *, windows: int = 0) -> Tokenizer:
    """Return the tokenizer in a folder, for an encoder; ``windows`` is the longest input asked for, 0 for no wish."""
    file = folder / TOKENIZER
    table = check_tokenizer(file)
    options = read_json(folder / OPTIONS, largest=LARGEST[OPTIONS])
    if not isinstance(options, dict):
        raise InputError(f"{folder / OPTIONS}: {show(options)} is not a table of options")
    longest = options.get("model_max_length")
    longest = NO_LIMIT if longest is None else longest
    if type(longest) not in (int, float) or not longest >= 8:
        raise InputError(f"{folder / OPTIONS}: model_max_length is {show(longest)}; accepted: 8 or more")
    limit = windows or int(min(architecture.longest, longest, NO_LIMIT))
    if limit > architecture.longest:
        raise InputError(
            f"{folder.parent}: encoder.windows is {windows}; the encoder reads {architecture.longest} pieces at most"
        )
    with tokenizer_errors(file):
        import tokenizers

        backend = tokenizers.Tokenizer.from_file(str(file))
    padding, unknown = (_number(backend, options, name, folder / OPTIONS) for name in ("pad_token", "unk_token"))
    try:
        found = Tokenizer(backend, padding=padding, unknown=unknown, limit=limit)
    except InputError as error:
        raise InputError(f"{file}: {str(error).removeprefix('the tokenizer: ')}") from None
    check_numbers(file, table, found, rows=architecture.vocab_size)
    before, inside, after = found.types
    kind, last = max(*before, inside, *after, 0), architecture.type_vocab_size - 1
    if kind > last > 0:  # types are read where there are several
        raise InputError(f"{file}: a piece is of type {kind}; the encoder has vectors for 0 to {last}")
    return found


def _number(backend: Any, options: Table, name: str, file: Path) -> int | None:
    piece = options.get(name)
    text = piece.get("content") if isinstance(piece, dict) else piece
    if text is not None and not isinstance(text, str):
        raise InputError(f"{file}: {name} is {show(piece)}; expected a piece of text")
    found: int | None = backend.token_to_id(text) if text is not None else None
    return found


def check_numbers(file: Path, table: Table, tokenizer: Tokenizer, *, rows: int) -> None:
    """Raise if there is a piece for which the encoder has no vector: it has so many."""
    largest = {
        "its vocabulary": _largest(table["model"]),
        "added_tokens": max(tokenizer.backend.get_added_tokens_decoder(), default=0),
        "its marks": max([*tokenizer.before, *tokenizer.after], default=0),
        "pad_token": tokenizer.padding,
        "unk_token": tokenizer.unknown,
    }
    for where, number in largest.items():
        if number >= rows:
            raise InputError(f"{file}: {where} has the number {number}; the encoder has vectors for 0 to {rows - 1}")


def _largest(model: Table) -> int:
    vocabulary = model["vocab"]
    return len(vocabulary) - 1 if isinstance(vocabulary, list) else max(vocabulary.values(), default=0)


def check_tokenizer(file: Path) -> Table:
    """Return the table in a tokenizer's file; one line of what is wrong with it otherwise."""
    table = read_json(file, largest=LARGEST[TOKENIZER])
    try:
        if not isinstance(table, dict):
            raise _Fault(f"{show(table)} is not a table")
        _check_added(table.get("added_tokens"))
        _check_part(table.get("model"), MODELS, "model", empty=False)
        growth = _check_part(table.get("normalizer"), NORMALIZERS, "normalizer")
        growth *= _check_part(table.get("pre_tokenizer"), PRE_TOKENIZERS, "pre_tokenizer")
        if growth > MOST_GROWTH:
            raise _Fault(f"its parts can make a text {growth:.0f} times as long; accepted: {MOST_GROWTH:.0f} times")
        _check_part(table.get("post_processor"), POST_PROCESSORS, "post_processor")
        _check_named(table.get("decoder"), DECODERS, "decoder")
    except _Fault as fault:
        raise InputError(f"{file}: {fault}") from None
    return table


def _check_added(added: Any) -> None:
    for at, piece in enumerate(_list(added if added is not None else [], "added_tokens", MOST_ADDED)):
        where = f"added_tokens[{at}]"
        if not isinstance(piece, dict):
            raise _Fault(f"{where} is {show(piece)}; expected a table")
        _text(piece, "content", where, longest=LONGEST_PIECE, empty=False)
        _whole(piece, "id", where, 0, 10_000_000)
        for name in ("single_word", "lstrip", "rstrip", "normalized", "special"):
            _switch(piece, name, where)


Check = Callable[[Table, str], float]  # of a part and where it stands: how many times as long it can make a text


def _check_part(part: Any, known: Mapping[str, Check], where: str, *, empty: bool = True, depth: int = 0) -> float:
    if part is None and empty:
        return 1.0
    if part is None:
        raise _Fault(f"{where} is missing; expected a table with a type")
    name = _check_named(part, known, where)
    if name != "Sequence":
        return known[name](part, where)
    parts = _list(part.get(MEMBERS[where.partition("[")[0]]), where, MOST_PARTS)
    if depth >= 3:
        raise _Fault(f"{where}: sequences inside each other, more than 3 deep")
    return math.prod(
        _check_part(one, known, f"{where}[{at}]", empty=False, depth=depth + 1) for at, one in enumerate(parts)
    )


MEMBERS = {"normalizer": "normalizers", "pre_tokenizer": "pretokenizers", "post_processor": "processors"}


def _check_named(part: Any, known: Mapping[str, Any], where: str) -> str:
    if part is None:
        return ""
    if not isinstance(part, dict):
        raise _Fault(f"{where} is {show(part)}; expected a table with a type")
    name = part.get("type")
    if not isinstance(name, str) or name not in known:
        raise _Fault(f"{where}: type {show(name)} is not known; accepted: {', '.join(known)}")
    return name


def _list(given: Any, where: str, most: int) -> Sequence[Any]:
    if not isinstance(given, list) or len(given) > most:
        found = f"a list of {len(given)}" if isinstance(given, list) else show(given)
        raise _Fault(f"{where} is {found}; expected a list of {most} at most")
    return given


def _whole(part: Table, name: str, where: str, low: int, high: int, *, usual: int | None = None) -> int:
    given = part.get(name, usual)
    if type(given) is not int or not low <= given <= high:
        raise _Fault(f"{where}.{name} is {show(given)}; accepted: whole numbers from {low} to {high}")
    return given


def _switch(part: Table, name: str, where: str) -> None:
    if not isinstance(part.get(name, False), bool | None):
        raise _Fault(f"{where}.{name} is {show(part[name])}; expected true or false")


def _text(part: Table, name: str, where: str, *, longest: int = LONGEST_TEXT, empty: bool = True) -> str:
    given = part.get(name)
    if given is None and empty:
        return ""
    if not isinstance(given, str) or len(given) > longest or not (given or empty):
        raise _Fault(f"{where}.{name} is {show(given)}; expected a text of {longest} characters at most")
    return given


def _switches(*names: str, growth: float = 1.0) -> Check:
    def check(part: Table, where: str) -> float:
        for name in names:
            _switch(part, name, where)
        return growth

    return check


def _replaced(part: Table, where: str) -> float:
    shortest = _pattern(part, where)
    return max(1.0, len(_text(part, "content", where)) / shortest)


def _pattern(part: Table, where: str) -> int:
    """Return how many characters a pattern finds at least."""
    pattern = part.get("pattern")
    if not isinstance(pattern, dict) or len(pattern) != 1 or next(iter(pattern)) not in ("String", "Regex"):
        raise _Fault(f"{where}.pattern is {show(pattern)}; expected a table with String or Regex")
    if "String" in pattern:
        return len(_text(pattern, "String", f"{where}.pattern", longest=LONGEST_PIECE, empty=False))
    if not isinstance(pattern["Regex"], str) or pattern["Regex"] not in PATTERNS:
        raise _Fault(f"{where}.pattern: the regular expression {show(pattern['Regex'])} is not one that is known here")
    return 1


def _prepended(part: Table, where: str) -> float:
    return 1.0 + len(_text(part, "prepend", where))


def _mapped(part: Table, where: str) -> float:
    """Check a table of characters: its trie is within it, and what it puts in their place is short."""
    given = part.get("precompiled_charsmap")
    if given is None or given == "":
        raise _Fault(f"{where}.precompiled_charsmap is {show(given)}; expected a table of characters")
    try:
        content = base64.b64decode(given, validate=True)
    except (binascii.Error, ValueError, TypeError):
        raise _Fault(f"{where}.precompiled_charsmap is not base64") from None
    size = int.from_bytes(content[:4], "little")
    if len(content) < 8 or size % 4 or not 4 <= size <= len(content) - 4:
        raise _Fault(f"{where}.precompiled_charsmap: a trie of {size} bytes in a table of {len(content)}")
    texts = content[4 + size :]
    try:
        texts.decode("utf-8")
    except UnicodeDecodeError:
        raise _Fault(f"{where}.precompiled_charsmap: its texts are not UTF-8") from None
    if not texts.endswith(b"\0"):
        raise _Fault(f"{where}.precompiled_charsmap: its texts break off")
    _check_trie(np.frombuffer(content[4 : 4 + size], dtype="<u4").astype(np.int64), len(texts), where)
    longest = max(map(len, texts.split(b"\0")))
    if longest > LONGEST_MAPPED:
        raise _Fault(f"{where}.precompiled_charsmap: a text of {longest} bytes; accepted: {LONGEST_MAPPED} at most")
    return float(max(longest, 1))


def _check_trie(units: Any, texts: int, where: str) -> None:
    """Raise if a text could lead out of a double-array trie, or out of the texts: the library would panic there."""
    offsets = (units >> 10) << ((units & 512) >> 6)
    labels, seen, places = np.arange(1, 256), np.zeros(len(units), dtype=np.bool_), offsets[:1]
    while places.size:
        inside = (places | 255).max() < len(units)
        if inside:
            seen[places] = True
            at = (places[:, None] ^ labels)[(units[places[:, None] ^ labels] & 0x800000FF) == labels]
            places = at ^ offsets[at]
            inside = not places.size or places.max() < len(units)
        if inside:
            values = units[places[(units[at] & 256) > 0]] & 0x7FFFFFFF
            inside = not values.size or values.max() < texts
        if not inside:
            raise _Fault(f"{where}.precompiled_charsmap: its trie leads out of the table")
        places = np.unique(places[~seen[places]])


def _split(part: Table, where: str) -> float:
    _pattern(part, where)
    _switch(part, "invert", where)
    return 1.0


def _fixed(part: Table, where: str) -> float:
    _whole(part, "length", where, 1, LONGEST_PIECE)
    return 1.0


def _delimiter(part: Table, where: str) -> float:
    _text(part, "delimiter", where, longest=1, empty=False)
    return 1.0


def _metaspace(part: Table, where: str) -> float:
    _text(part, "replacement", where, longest=1, empty=False)
    _switch(part, "add_prefix_space", where)
    return 2.0


def _vocabulary(part: Table, where: str) -> Mapping[str, int]:
    vocabulary = part.get("vocab")
    if not isinstance(vocabulary, dict) or not vocabulary:
        raise _Fault(f"{where}.vocab is {show(vocabulary)}; expected a table of pieces and their numbers")
    numbers = vocabulary.values()
    if set(map(type, numbers)) != {int} or min(numbers) < 0 or max(numbers) >= 2**31:
        raise _Fault(f"{where}.vocab has a number that is no whole number from 0 to {2**31 - 1}")
    if len(set(numbers)) < len(vocabulary):
        raise _Fault(f"{where}.vocab has two pieces with one number")
    _check_pieces(vocabulary, where)
    return vocabulary


def _check_pieces(pieces: Collection[str], where: str) -> None:
    longest = max(map(len, pieces), default=0)
    if longest > LONGEST_PIECE:
        raise _Fault(f"{where}.vocab: a piece of {longest} characters; accepted: {LONGEST_PIECE} at most")


def _unknown(part: Table, where: str, vocabulary: Mapping[str, int]) -> None:
    text = _text(part, "unk_token", where, longest=LONGEST_PIECE)
    if text and text not in vocabulary:
        raise _Fault(f"{where}.unk_token {show(text)} is not in its vocabulary")


def _wordpiece(part: Table, where: str) -> float:
    _unknown(part, where, _vocabulary(part, where))
    _text(part, "continuing_subword_prefix", where)
    _whole(part, "max_input_chars_per_word", where, 1, LONGEST_WORD, usual=100)
    return 1.0


def _wordlevel(part: Table, where: str) -> float:
    _unknown(part, where, _vocabulary(part, where))
    return 1.0


def _bpe(part: Table, where: str) -> float:
    vocabulary = _vocabulary(part, where)
    _unknown(part, where, vocabulary)
    if part.get("dropout"):
        raise _Fault(f"{where}.dropout is {show(part['dropout'])}; accepted: none, so that a word is always read alike")
    prefix = _text(part, "continuing_subword_prefix", where)
    _text(part, "end_of_word_suffix", where)
    for name in ("fuse_unk", "byte_fallback", "ignore_merges"):
        _switch(part, name, where)
    for pair in _list(part.get("merges"), f"{where}.merges", 10_000_000):
        left, *others = pair.split(" ") if isinstance(pair, str) else pair if isinstance(pair, list) else [None]
        if len(others) != 1 or not isinstance(left, str) or not isinstance(others[0], str):
            raise _Fault(f"{where}.merges has {show(pair)}; expected two pieces")
        joined = left + others[0].removeprefix(prefix)
        if left not in vocabulary or others[0] not in vocabulary or joined not in vocabulary:
            raise _Fault(f"{where}.merges has {show(pair)}, which is not in its vocabulary")
    return 1.0


def _unigram(part: Table, where: str) -> float:
    vocabulary = _list(part.get("vocab"), f"{where}.vocab", 10_000_000)
    for entry in vocabulary:
        if not isinstance(entry, list) or len(entry) != 2 or not isinstance(entry[0], str):
            raise _Fault(f"{where}.vocab has {show(entry)}; expected a piece and its score")
        if type(entry[1]) not in (int, float) or not abs(entry[1]) < 1e30:
            raise _Fault(f"{where}.vocab has {show(entry)}; expected a score that is a number")
    _check_pieces([entry[0] for entry in vocabulary], where)
    if not vocabulary:
        raise _Fault(f"{where}.vocab is empty; expected a list of pieces and their scores")
    _whole(part, "unk_id", where, 0, len(vocabulary) - 1)
    _switch(part, "byte_fallback", where)
    return 1.0


def _mark(where: str, mark: Any) -> None:
    if not isinstance(mark, list) or len(mark) != 2 or not isinstance(mark[0], str):
        raise _Fault(f"{where} is {show(mark)}; expected a piece and its number")
    if type(mark[1]) is not int or not 0 <= mark[1] < 2**31:
        raise _Fault(f"{where} is {show(mark)}; expected a piece and its number")


def _framed(part: Table, where: str) -> float:
    for name in ("sep", "cls"):
        _mark(f"{where}.{name}", part.get(name))
    for name in ("trim_offsets", "add_prefix_space"):
        _switch(part, name, where)
    return 1.0


def _template(part: Table, where: str) -> float:
    """Check marks around a sentence, which stands there once."""
    marks = part.get("special_tokens")
    if not isinstance(marks, dict) or len(marks) > MOST_MARKS:
        raise _Fault(f"{where}.special_tokens is {show(marks)}; expected a table of {MOST_MARKS} marks at most")
    for name, mark in marks.items():
        here = f"{where}.special_tokens.{show(name)}"
        if not isinstance(mark, dict) or mark.get("id") != name:
            raise _Fault(f"{here} is {show(mark)}; expected a table with its own name as id")
        ids, pieces = (_list(mark.get(key), f"{here}.{key}", MOST_MARKS) for key in ("ids", "tokens"))
        if not ids or len(ids) != len(pieces):
            raise _Fault(f"{here}: {len(ids)} numbers for {len(pieces)} pieces; expected as many, at least one")
        for pair in zip(pieces, ids, strict=True):
            _mark(here, list(pair))
    for name, sentences in {"single": ("A",), "pair": ("A", "B")}.items():
        found = [one for one in _members(part, name, where, marks) if one]
        if sorted(found) != list(sentences):
            raise _Fault(f"{where}.{name} holds the sentences {show(found)}; expected {show(list(sentences))}")
    return 1.0


def _members(part: Table, name: str, where: str, marks: Table) -> Iterator[str]:
    """Yield the sentences of a template, and nothing for each of its marks."""
    for member in _list(part.get(name), f"{where}.{name}", MOST_MARKS):
        kind = next(iter(member)) if isinstance(member, dict) and len(member) == 1 else ""
        inside = member[kind] if kind in ("Sequence", "SpecialToken") else None
        if not isinstance(inside, dict) or not isinstance(inside.get("id"), str):
            raise _Fault(f"{where}.{name} has {show(member)}; expected a table with Sequence or SpecialToken")
        _whole(inside, "type_id", f"{where}.{name}", 0, 1000)
        if kind == "SpecialToken" and inside["id"] not in marks:
            raise _Fault(f"{where}.{name} has {show(inside['id'])}, which is not in its special_tokens")
        yield inside["id"] if kind == "Sequence" else ""


def _nested(part: Table, where: str) -> float:
    raise NotImplementedError  # `_check_part` looks into sequences


NORMALIZERS: dict[str, Check] = {
    "BertNormalizer": _switches("clean_text", "handle_chinese_chars", "strip_accents", "lowercase", growth=6.0),
    "NFC": _switches(growth=3.0),
    "NFD": _switches(growth=4.0),
    "NFKC": _switches(growth=18.0),
    "NFKD": _switches(growth=18.0),
    "Lowercase": _switches(growth=3.0),
    "Strip": _switches("strip_left", "strip_right"),
    "StripAccents": _switches(),
    "Nmt": _switches(),
    "ByteLevel": _switches(growth=4.0),
    "Replace": _replaced,
    "Prepend": _prepended,
    "Precompiled": _mapped,
    "Sequence": _nested,
}
PRE_TOKENIZERS: dict[str, Check] = {
    "BertPreTokenizer": _switches(),
    "ByteLevel": _switches("add_prefix_space", "trim_offsets", "use_regex", growth=5.0),
    "CharDelimiterSplit": _delimiter,
    "Digits": _switches("individual_digits"),
    "FixedLength": _fixed,
    "Metaspace": _metaspace,
    "Punctuation": _switches(),
    "Split": _split,
    "UnicodeScripts": _switches(),
    "Whitespace": _switches(),
    "WhitespaceSplit": _switches(),
    "Sequence": _nested,
}
MODELS: dict[str, Check] = {"WordPiece": _wordpiece, "WordLevel": _wordlevel, "BPE": _bpe, "Unigram": _unigram}
POST_PROCESSORS: dict[str, Check] = {
    "BertProcessing": _framed,
    "RobertaProcessing": _framed,
    "ByteLevel": _switches("add_prefix_space", "trim_offsets", "use_regex"),
    "TemplateProcessing": _template,
    "Sequence": _nested,
}
# Never used here: their names are enough.
DECODERS = dict.fromkeys(
    ("BPEDecoder", "ByteLevel", "WordPiece", "Metaspace", "CTC", "Sequence", "Replace", "Fuse", "Strip", "ByteFallback")
)
