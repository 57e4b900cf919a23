"""`h3n diff`: where two files of trees disagree, as a page."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

from h3n import formats
from h3n.cli.outputs import write_parts
from h3n.cli.terminal import progress, say
from h3n.errors import InputError, MismatchError, UsageError
from h3n.files import STANDARD, shown_name
from h3n.formats import Reading
from h3n.trees import Sentence
from h3n.workbench import diff_page, find_differences, judge


class Order(StrEnum):
    ERROR = "error"
    LENGTH = "length"
    FILE = "file"


def diff(
    first: Annotated[str, typer.Argument(metavar="A", help="A file of trees, or two with a comma: a.ptb,a.conllu")],
    second: Annotated[str, typer.Argument(metavar="B", help="Another one over the same sentences.")],
    output: Annotated[
        str, typer.Option("--output", "-o", metavar="FILE", help="Where the page goes; - is standard output.")
    ] = STANDARD,
    gold: Annotated[
        str | None, typer.Option(metavar="FILE", help="Gold trees: is the difference of A and B more than chance?")
    ] = None,
    order: Annotated[Order, typer.Option("--sort", help="How the sentences that differ are sorted.")] = Order.ERROR,
    top: Annotated[int, typer.Option("--top", "-n", min=0, help="How many of them are drawn.")] = 50,
    samples: Annotated[int, typer.Option(min=1, help="With --gold: samples of the bootstrap.")] = 10_000,
    seed: Annotated[int, typer.Option(min=0, help="With --gold: the seed of the samples.")] = 0,
) -> None:
    """Show where two files of trees over the same sentences disagree, as a page of HTML that needs nothing else.

    Tables with plots: labels and relations that are confused, agreement by distance, by sentence length and by genre
    (from the comments of the treebank); with --gold also the difference of the scores with its interval and McNemar's
    test. Then the trees of both files side by side, with what is different shaded. The exit code is 1 if they differ.

    \b
    Examples:
      h3n diff gold.conllu parsed.conllu -o diff.html
      h3n diff gold.ptb,gold.conllu parsed.jsonl --sort length -o diff.html
      h3n diff one.jsonl other.jsonl --gold gold.jsonl -o diff.html
    """
    sides = _read(first), _read(second)
    differences, tables = find_differences(*sides)
    if not differences:
        raise InputError(f"{first}: no sentence to compare")
    verdict = None
    if gold is not None:
        wanted = _read(gold)
        if len(wanted) != len(sides[0]):
            raise MismatchError(f"{gold} has {len(wanted)} sentences, {first} {len(sides[0])}")
        verdict = judge(wanted, *sides, samples=samples, seed=seed)
    page = diff_page(
        differences, tables, names=(shown_name(first), shown_name(second)), verdict=verdict, order=order.value, top=top
    )
    write_parts([page], output)
    different = sum(bool(one.size) for one in differences)
    say(f"{different} of {len(differences)} sentences differ")
    if different:
        raise typer.Exit(1)


def _read(name: str) -> list[Sentence]:
    files = name.split(",")
    if STANDARD in files:
        raise UsageError("h3n diff takes files; standard input is not accepted")
    sources = [formats.read(file, options=Reading(strip_traces=True)) for file in files]
    return list(progress(formats.pair(*sources) if len(sources) > 1 else sources[0], label=name))
