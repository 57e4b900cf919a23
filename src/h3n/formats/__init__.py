"""Text to sentences and back: one module per format, gathered in `FORMATS`.

A format is read by a generator that needs memory for one sentence, and written from any iterable of sentences.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, fields
from pathlib import Path

from h3n.errors import FormatError, MismatchError, TreeError, UnknownName, UsageError
from h3n.files import COMPRESSED, STANDARD, Source, check_readable, name_of, opened_to_write
from h3n.formats import brackets, conllu, conllx, jsonl, spmrl
from h3n.formats.characters import check_lengths, fault_of
from h3n.formats.lines import newline_of
from h3n.formats.options import READING, WRITING, Layout, Reading, Writing
from h3n.formats.pairs import pair
from h3n.trees import TRACE, Leaf, Sentence, leaves

__all__ = [
    "FORMATS",
    "Format",
    "Layout",
    "Reading",
    "Source",
    "Writing",
    "format_to_read",
    "guess_format",
    "newline_of",
    "pair",
    "read",
    "read_both",
    "write",
]


@dataclass(frozen=True, slots=True)
class Format:
    """A file format. ``extensions`` are the file endings it is known by; ``written`` is a sentence as it stands in a
    file; ``loses`` names what of a sentence the format cannot show."""

    name: str
    extensions: tuple[str, ...]
    read: Callable[[Source, Reading], Iterator[Sentence]]
    written: Callable[[Sentence, Writing], str]
    loses: Callable[[Sentence], list[str]]


def _all_but(*kept: str) -> Callable[[Sentence], list[str]]:
    names = [field.name for field in fields(Sentence) if field.name not in {*kept, "words", "place"}]
    return lambda sentence: [name for name in names if getattr(sentence, name)]


def _lost_in_brackets(*kept: str) -> Callable[[Sentence], list[str]]:
    """Return what names the columns that are lost; tags are kept where they are those of the tree."""
    lost = _all_but("tags", "tree", *kept)
    return lambda sentence: lost(sentence) + (["tags"] if _has_other_tags(sentence) else [])


def _has_other_tags(sentence: Sentence) -> bool:
    if sentence.tags is None or sentence.tree is None:
        return sentence.tags is not None
    return any(leaf.tag != tag for leaf, tag in zip(_words_of(sentence), sentence.tags, strict=False))


def _words_of(sentence: Sentence) -> list[Leaf]:
    return [leaf for leaf in leaves(sentence.tree) if leaf.tag != TRACE] if sentence.tree is not None else []


_BRACKETS = (".brackets", ".gld", ".mrg", ".psd", ".ptb", ".tree", ".trees", ".tst")
_ROWS = ("tags", "upos", "lemmas", "features", "dependencies", "misc")
_UNIVERSAL = (*_ROWS, "comments", "enhanced", "inserts")
_lost_in_rows = _all_but(*_ROWS)

FORMATS: dict[str, Format] = {
    "brackets": Format("brackets", _BRACKETS, brackets.read, brackets.written, _lost_in_brackets()),
    "spmrl": Format("spmrl", (".spmrl",), spmrl.read, spmrl.written, _lost_in_brackets("lemmas", "features")),
    "conllu": Format("conllu", (".conllu",), conllu.read, conllu.written, _all_but(*_UNIVERSAL)),
    "conllx": Format(
        "conllx",
        (".conllx", ".conll"),
        conllx.read,
        conllx.written,
        lambda sentence: _lost_in_rows(sentence) + conllx.lost_misc(sentence),
    ),
    "jsonl": Format("jsonl", (".jsonl", ".json"), jsonl.read, jsonl.written, lambda _: []),
}


def read(source: Source, *, format: str | None = None, options: Reading = READING) -> Iterator[Sentence]:  # noqa: A002
    """Yield the sentences of a path, of ``-`` (standard input) or of an open stream, compressed or not.

    Without a format the path's ending decides. The first problem is raised, unless the options have a handler.
    """
    return format_named(format or format_to_read(source)).read(source, options)


def read_both(
    source: str,
    format: str | None,  # noqa: A002
    *,
    dependencies: str | None,
    options: Reading,
    on_mismatch: Callable[[MismatchError], object] | None = None,
) -> Iterator[Sentence]:
    """Return the sentences of a file, with the dependencies of a second one if there is one."""
    sentences = read(source, format=format, options=options)
    if dependencies is None:
        return sentences
    if source == dependencies == STANDARD:
        raise UsageError("only one of the files can be standard input")
    name = "conllu" if dependencies == STANDARD else None
    arcs = read(dependencies, format=name, options=options)
    return pair(sentences, arcs, on_mismatch=on_mismatch)


def write(
    sentences: Iterable[Sentence],
    target: Source,
    *,
    format: str | None = None,  # noqa: A002
    options: Writing = WRITING,
) -> None:
    """Write the sentences to a path (compressed as its ending says), to ``-`` or to an open text stream.

    What is written can be read again. A sentence of which that is not true raises `TreeError` with its place.
    """
    chosen = format_named(format or guess_format(target))
    with opened_to_write(target) as stream:
        for number, sentence in enumerate(sentences, start=1):
            stream.write(_text(sentence, chosen, options, number))


def _text(sentence: Sentence, chosen: Format, options: Writing, number: int) -> str:
    try:
        check_lengths(sentence)
        if (fault := fault_of(sentence)) is not None:
            raise TreeError(f"{fault}, which no file can show")
        return chosen.written(sentence, options)
    except (TreeError, FormatError) as error:
        why = f"{error.found}; expected {error.expected}" if isinstance(error, FormatError) else str(error)
        raise TreeError(f"{sentence.place or f'sentence {number}'}: {why}") from None


def format_named(name: str) -> Format:
    """Return the format of this name."""
    if name not in FORMATS:
        raise UnknownName("format", name, FORMATS)
    return FORMATS[name]


def guess_format(source: Source) -> str:
    """Return the name of the format that the file's ending stands for; endings of compression do not count."""
    name = name_of(source)
    suffixes = [suffix for suffix in Path(name).suffixes if suffix not in COMPRESSED]
    for known in FORMATS.values():
        if suffixes and suffixes[-1].lower() in known.extensions:
            return known.name
    what = "standard input or output has" if source == STANDARD else f"{name}: the ending stands for"
    raise UsageError(f"{what} no known format; name one of: {', '.join(sorted(FORMATS))}")


def format_to_read(source: Source) -> str:
    """Return the name of the format that the ending of a file to be read stands for.

    That a file is missing is the better thing to say than that its ending is unknown.
    """
    try:
        return guess_format(source)
    except UsageError:
        check_readable(source)
        raise
