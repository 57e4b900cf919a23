"""`h3n preannotate`: a first annotation of text, and what to look at first."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated

import typer

from h3n import formats
from h3n.cli.options import Model, Retag, TextFormat
from h3n.cli.parse import open_input
from h3n.cli.terminal import progress
from h3n.errors import UsageError
from h3n.files import STANDARD, opened_to_write
from h3n.trees import Sentence

if TYPE_CHECKING:
    from h3n.workbench.preannotation import Doubt


def preannotate(
    file: Annotated[str, typer.Argument(metavar="TEXT", help="What to annotate; - is standard input.")],
    model: Model = "en",
    input_format: TextFormat = None,
    output: Annotated[
        str, typer.Option("--output", "-o", metavar="FILE", help="Where the CoNLL-U goes; - is standard output.")
    ] = STANDARD,
    brackets: Annotated[
        str | None, typer.Option(metavar="FILE", help="Write the phrases here too, and list those that are not sure.")
    ] = None,
    top: Annotated[int, typer.Option("--top", "-n", min=0, help="How many decisions to list.")] = 50,
    retag: Retag = False,
) -> None:
    """Annotate text with the parser, and list the decisions it is least sure of first.

    Every word of the CoNLL-U has Confidence=0.98 in its MISC column, and every sentence a comment with its least sure
    word. The list goes to standard output, or to standard error where the CoNLL-U goes there: confidence, sentence,
    word or words, text and decision between tabs.

    \b
    Examples:
      h3n preannotate news.txt -o news.conllu > look-here.tsv
      h3n preannotate tokens.conllu --retag -o draft.conllu --brackets draft.ptb --top 200
    """
    if output == brackets:
        raise UsageError(f"--output and --brackets are both {output}; name two files")
    source = open_input(file, None, input_format)
    from h3n.parser import load
    from h3n.workbench.preannotation import annotate, doubts_of, least_sure

    parser = load(model, threads=1)
    sentences = _named(source(parser.segmenter))
    doubts: list[Doubt] = []
    with ExitStack() as files:
        rows = files.enter_context(opened_to_write(output))
        trees = None if brackets is None else files.enter_context(opened_to_write(brackets))
        results = progress(parser.parse(sentences, retag=retag), label="annotating")
        for number, result in enumerate(results, start=1):
            formats.write([annotate(result)], rows, format="conllu")
            if trees is not None:
                trees.write(result.brackets() + "\n")
            # Only the least sure are ever shown, so that a long text does not fill the memory.
            doubts += doubts_of(result, number, phrases=trees is not None)
            if len(doubts) > 100 * (top + 100):
                doubts = least_sure(doubts, top=top)
    for doubt in least_sure(doubts, top=top):
        typer.echo(_line(doubt), err=output == STANDARD)


def _named(sentences: Iterator[Sentence]) -> Iterator[Sentence]:
    """Yield sentences with words, each with a name by which it can be found again."""
    for number, sentence in enumerate((one for one in sentences if len(one)), start=1):
        named = sentence.sent_id is not None
        yield sentence if named else replace(sentence, comments=(f"# sent_id = {number}", *sentence.comments))


def _line(doubt: Doubt) -> str:
    words = str(doubt.start + 1) if doubt.kind == "arc" else f"{doubt.start + 1}-{doubt.end}"
    where = doubt.sent_id or str(doubt.sentence)
    return "\t".join([f"{doubt.confidence:.4f}", where, words, doubt.text, doubt.decision])
