"""What several commands read alike: a file of trees, with the dependencies of a second file if there is one."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from h3n import formats
from h3n.errors import MismatchError, UsageError
from h3n.files import STANDARD
from h3n.formats import Reading
from h3n.trees import Sentence


def read_sentences(
    source: str,
    format_name: str | None,
    *,
    dependencies: str | None,
    options: Reading,
    on_mismatch: Callable[[MismatchError], object] | None = None,
) -> Iterator[Sentence]:
    """Return the sentences of a file, with the dependencies of a second one if there is one."""
    sentences = formats.read(source, format=format_name, options=options)
    if dependencies is None:
        return sentences
    if source == dependencies == STANDARD:
        raise UsageError("only one of the files can be standard input")
    name = "conllu" if dependencies == STANDARD else None
    arcs = formats.read(dependencies, format=name, options=options)
    return formats.pair(sentences, arcs, on_mismatch=on_mismatch)
