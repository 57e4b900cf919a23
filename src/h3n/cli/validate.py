"""`h3n validate`: every problem of treebank files."""

from __future__ import annotations

from typing import Annotated

import typer

from h3n import formats
from h3n.cli.options import TreebankFormat
from h3n.cli.streams import printable
from h3n.cli.terminal import progress, say
from h3n.errors import CorruptInput, TruncatedInput
from h3n.formats import Layout, Reading
from h3n.treebanks.universal import Checks


def validate(
    files: Annotated[list[str], typer.Argument(metavar="FILE...", help="Treebank files; - is standard input.")],
    format_name: TreebankFormat = None,
    layout: Annotated[
        Layout, typer.Option(help="Where bracketed trees end: on every line, by indentation, or anywhere.")
    ] = "auto",
    ud: Annotated[
        bool, typer.Option("--ud", help="Check also what Universal Dependencies asks of tags, relations and comments.")
    ] = False,
) -> None:
    """Report every problem of treebank files, one per line as file:line: what was found; expected what.

    Checked are encoding, brackets, columns, word numbers, ranges, heads, and that the heads form one tree. With --ud
    also the tag set, features, universal relations, the root relation, sent_id and the text: what the validator of
    Universal Dependencies checks without data of a language. The exit code is 1 if there is a problem.

    \b
    Examples:
      h3n validate train.ptb dev.conllu.xz
      h3n validate ewt.conllu --ud
      h3n parse text.txt --to conllu | h3n validate - --from conllu
    """
    named = [(file, format_name or formats.format_to_read(file)) for file in files]
    problems = sentences = 0

    def report(problem: object) -> None:
        nonlocal problems
        problems += 1
        typer.echo(printable(str(problem)))

    universal = Checks(report)
    for file, name in named:
        options = Reading(layout=layout, on_problem=report)
        try:
            for sentence in progress(formats.read(file, format=name, options=options), label=file):
                sentences += 1
                if ud:
                    universal(sentence)
        except (TruncatedInput, CorruptInput) as error:
            report(error)
    checked = f"{_count(len(files), 'file')}, {_count(sentences, 'sound sentence')}"
    if problems:
        say(f"{_count(problems, 'problem')} in {checked}")
        raise typer.Exit(1)
    typer.echo(f"no problems in {checked}")


def _count(number: int, thing: str) -> str:
    return f"{number} {thing}{'' if number == 1 else 's'}"
