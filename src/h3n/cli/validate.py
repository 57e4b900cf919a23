"""`h3n validate`: every problem of treebank files."""

from __future__ import annotations

from typing import Annotated

import typer

from h3n import formats
from h3n.cli.progress import progress
from h3n.cli.terminal import printable
from h3n.errors import CorruptInput, TruncatedInput
from h3n.formats import Layout, Reading


def validate(
    files: Annotated[list[str], typer.Argument(metavar="FILE...", help="Treebank files; - is standard input.")],
    format_name: Annotated[
        str | None, typer.Option("--from", "-f", metavar="FORMAT", help="Format of the files; else by their endings.")
    ] = None,
    layout: Annotated[
        Layout, typer.Option(help="Where bracketed trees end: on every line, by indentation, or anywhere.")
    ] = "auto",
) -> None:
    """Report every problem of treebank files, one per line as file:line: what was found; expected what.

    Checked are encoding, brackets, columns, word numbers, ranges, heads, and that the heads form one tree. The exit
    code is 1 if there is a problem.

    \b
    Examples:
      h3n validate train.ptb dev.conllu.xz
      h3n parse text.txt | h3n validate - --format conllu
    """
    named = [(file, format_name or formats.format_to_read(file)) for file in files]
    problems = sentences = 0

    def report(problem: object) -> None:
        nonlocal problems
        problems += 1
        typer.echo(printable(str(problem)))

    for file, name in named:
        options = Reading(layout=layout, on_problem=report)
        try:
            for _ in progress(formats.read(file, format=name, options=options), label=file):
                sentences += 1
        except (TruncatedInput, CorruptInput) as error:
            report(error)
    checked = f"{_count(len(files), 'file')}, {_count(sentences, 'sound sentence')}"
    if problems:
        typer.echo(f"h3n: {_count(problems, 'problem')} in {checked}", err=True)
        raise typer.Exit(1)
    typer.echo(f"no problems in {checked}")


def _count(number: int, thing: str) -> str:
    return f"{number} {thing}{'' if number == 1 else 's'}"
