"""Results from files: those of a parser from JSON lines, and treebanks of every format."""

from __future__ import annotations

from collections.abc import Iterator

from h3n import formats
from h3n.errors import Place
from h3n.files import Source
from h3n.formats import jsonl
from h3n.parser.objects import parts_of
from h3n.parser.results import Result
from h3n.trees import Sentence


def read(
    source: Source,
    *,
    format: str | None = None,  # noqa: A002
    dependencies: Source | None = None,
) -> Iterator[Result]:
    """Return the results in a file that `h3n parse --to jsonl` or `Result.json` wrote, the same in every field.

    Of a treebank, in whatever format, the trees are those that were annotated, with confidence 1; ``dependencies`` is
    the file that has them for one of phrase structure. Results come one after the other, with memory for one.
    """
    name = format or formats.format_to_read(source)
    if name == "jsonl" and dependencies is None:
        return (_result(sentence, table) for table, sentence in jsonl.read_objects(source))
    sentences = formats.read(source, format=name)
    if dependencies is not None:
        sentences = formats.pair(sentences, formats.read(dependencies))
    return (_result(sentence, {}) for sentence in sentences)


def _result(sentence: Sentence, table: dict[str, object]) -> Result:
    return Result(**parts_of(sentence, table, sentence.place or Place("the sentence", 1)))
