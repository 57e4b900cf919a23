"""`h3n stats`: what is in treebank files."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Annotated, Any

import typer

from h3n import formats
from h3n.cli.options import AsJson, KeepGoing, TreebankFormat
from h3n.cli.streams import printable
from h3n.cli.terminal import Findings, progress
from h3n.errors import UsageError
from h3n.formats import Layout, Reading, read_both
from h3n.workbench.statistics import Statistics


def stats(
    files: Annotated[list[str], typer.Argument(metavar="FILE...", help="Treebank files; - is standard input.")],
    format_name: TreebankFormat = None,
    dependencies: Annotated[
        str | None, typer.Option(metavar="FILE", help="Dependencies for the trees in the one FILE.")
    ] = None,
    functions: Annotated[
        bool, typer.Option("--functions", help="Count labels with their function tags: NP-SBJ apart from NP.")
    ] = False,
    limit: Annotated[int, typer.Option(min=0, help="How many labels, relations and tags to list; 0 is all.")] = 12,
    as_json: AsJson = False,
    layout: Annotated[
        Layout, typer.Option(help="Where bracketed trees end: on every line, by indentation, or anywhere.")
    ] = "auto",
    keep_going: KeepGoing = False,
) -> None:
    """Count what is in treebank files: sentences, words, lengths, labels, relations, tags, crossing arcs.

    Where sentences have both trees (JSON lines, or a file of trees with --dependencies) their agreement is measured:
    a sentence is consistent if its joint tree gives back every governor. Several files are counted together.

    \b
    Examples:
      h3n stats train.ptb dev.ptb
      h3n stats dev.ptb --dependencies dev.conllu
      h3n stats train.conllu.xz --json
    """
    if dependencies is not None and len(files) > 1:
        raise UsageError(f"--dependencies goes with one file of trees, not with {len(files)}")
    for file in files:
        formats.format_named(format_name or formats.format_to_read(file))  # a wrong name is said before the work starts
    counts = Statistics()
    findings = Findings()
    handler = findings if keep_going else None
    options = Reading(layout=layout, on_problem=handler)
    for file in files:
        read = read_both(file, format_name, dependencies=dependencies, options=options, on_mismatch=handler)
        for sentence in progress(read, label=file):
            counts.add(sentence, functions=functions)
    numbers = counts.numbers()
    typer.echo(json.dumps(numbers, ensure_ascii=False, indent=2) if as_json else "\n".join(_lines(numbers, limit)))
    findings.finish()


def _lines(numbers: dict[str, Any], limit: int) -> Iterator[str]:
    for name, value in numbers.items():
        if name == "length":
            yield f"{name:14} mean {value['mean']}, median {value['median']}, max {value['max']}"
        elif name in ("labels", "relations", "tags", "upos"):
            yield f"{name:14} {len(value)}: {_most(value, limit)}"
        elif isinstance(value, dict):
            yield f"{name:14} " + ", ".join(_counted(value))
        else:
            yield f"{name.replace('_', ' '):14} {value}"


def _counted(values: dict[str, Any]) -> Iterator[str]:
    """Yield every count with its share beside it."""
    for name, value in values.items():
        if not name.endswith("_percent"):
            share = values.get(f"{name}_percent")
            yield f"{name.replace('_', ' ')} {value}" + (f" ({share} %)" if share is not None else "")


def _most(counter: dict[str, int], limit: int) -> str:
    shown = [f"{printable(name) or '(none)'} {count}" for name, count in list(counter.items())[: limit or None]]
    rest = len(counter) - limit if limit else 0
    return ", ".join(shown) + (f", {rest} more" if rest > 0 else "")
