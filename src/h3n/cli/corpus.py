"""`h3n corpus`: many files parsed into a folder of shards, on one machine or many."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from h3n.cli.hits import Hit, Shown, show_hits
from h3n.cli.options import (
    Decoder,
    Device,
    MaxPieces,
    MaxWords,
    Model,
    Newlines,
    Precision,
    Retag,
    Style,
    output_format,
)
from h3n.cli.terminal import say, show_state
from h3n.files import STANDARD
from h3n.outputs import OUTPUTS

if TYPE_CHECKING:
    from h3n.corpus import Hit as CorpusHit
    from h3n.corpus import Progress

SHARDS = ("parquet", *(name for name, output in OUTPUTS.items() if output.shard))
EVERY = 30.0  # seconds between lines where nobody watches

corpus = typer.Typer(no_args_is_help=True, rich_markup_mode=None, add_completion=False)
Folder = Annotated[str, typer.Argument(metavar="DIR", help="The folder of a run, or its URL.")]


class Engine(StrEnum):
    LOCAL = "local"
    RAY = "ray"


@corpus.callback()
def _corpus() -> None:
    """Parse many files into a folder of shards, and look into what came out.

    \b
    Examples:
      h3n corpus parse texts/ --out parsed
      h3n corpus status parsed
      h3n corpus find parsed 'NP @ nsubj < PP'
    """


@corpus.command()
def parse(
    inputs: Annotated[list[str], typer.Argument(metavar="INPUT...", help="Files, folders, patterns, URLs of these.")],
    out: Annotated[str, typer.Option("--out", "-o", metavar="DIR", help="The folder to write into, or its URL.")],
    model: Model = "en",
    engine: Annotated[Engine, typer.Option(help="local: this machine; ray: a cluster.")] = Engine.LOCAL,
    workers: Annotated[int | None, typer.Option(min=1, help="Processes; by default as many as processors.")] = None,
    address: Annotated[
        str | None,
        typer.Option(metavar="HOST:PORT", help="The cluster of --engine ray; else RAY_ADDRESS, or one here."),
    ] = None,
    input_format: Annotated[
        str | None,
        typer.Option(
            "--from",
            "-f",
            metavar="FORMAT",
            help="text, paragraphs, lines, words, conllu, jsonl, parquet, arrow; else by endings.",
        ),
    ] = None,
    to_format: Annotated[str, output_format(SHARDS, otherwise="of the shards")] = "parquet",
    newlines: Newlines = "paragraph",
    text_column: Annotated[
        str, typer.Option(metavar="NAME", help="Where tables and JSON lines have the text.")
    ] = "text",
    id_column: Annotated[
        str, typer.Option(metavar="NAME", help="Where they have the document's id, if at all.")
    ] = "id",
    decoder: Decoder = None,
    style: Style = None,
    retag: Retag = False,
    keep_arcs: Annotated[
        bool, typer.Option("--keep-arcs", help="Keep the dependencies of CoNLL-U or JSON lines; find phrases for them.")
    ] = False,
    min_confidence: Annotated[
        float, typer.Option(metavar="SHARE", help="Leave out sentences whose mean confidence is lower, from 0 to 1.")
    ] = 0.0,
    soft_labels: Annotated[
        bool,
        typer.Option("--soft-labels", help="Say what else was likely, for a model to learn from; with --to jsonl."),
    ] = False,
    precision: Precision = "auto",
    device: Device = "cpu",
    max_words: MaxWords = 2_000,
    max_pieces: MaxPieces = 1_000,
    shard_size: Annotated[
        str, typer.Option(metavar="SIZE", help="Input for one shard, such as 4M; 0: by the size of the input.")
    ] = "0",
) -> None:
    """Parse files into a folder of shards; started again after whatever stopped it, it goes on with what is missing.

    Input is running text, lines (a sentence on each), words (the same, words between blanks), CoNLL-U, JSON lines with
    a text or words, or tables (Parquet, Arrow) with a column of texts; plain or compressed (.gz, .xz, .bz2, .zst). The
    result does not depend on the number of workers, on the engine, or on how often the run was stopped. What cannot be
    parsed is in errors.jsonl, and the exit code is 1. Another model, options or input in the same folder are refused.

    \b
    Examples:
      h3n corpus parse texts/ --out parsed
      h3n corpus parse 'dumps/*.jsonl.gz' --out parsed --workers 8
      h3n corpus parse s3://bucket/texts --out s3://bucket/parsed --engine ray
      h3n corpus parse book.txt --out parsed --to conllu
      h3n corpus parse silver.jsonl --out taught --to jsonl --keep-arcs --soft-labels --min-confidence 0.9
    """
    from h3n.corpus import Options, parse_corpus
    from h3n.corpus.options import read_size

    options = Options(
        input_format=input_format,
        output_format=to_format,
        newlines=newlines,
        text_column=text_column,
        id_column=id_column,
        decoder=decoder,
        style=style,
        retag=retag,
        keep_arcs=keep_arcs,
        min_confidence=min_confidence,
        soft_labels=soft_labels,
        precision=precision,
        device=device,
        max_words=max_words,
        max_pieces=max_pieces,
        shard_size=read_size(shard_size),
    )
    report = _reporter()
    finished = parse_corpus(
        inputs,
        out,
        model=model,
        options=options,
        engine=engine.value,
        workers=workers,
        address=address,
        on_progress=report,
        on_note=say,
    )
    if sys.stderr.isatty():
        typer.echo("", err=True)
    counts = f"{_count(finished.sentences, 'sentence')} in {_count(finished.shards, 'shard')}"
    typer.echo(f"{counts}; {out}/summary.html shows them")
    if min_confidence:
        left_out = _count(finished.left_out, "sentence")
        typer.echo(f"left out for a mean confidence under {min_confidence:g}: {left_out}")
    if finished.errors:
        say(f"{_count(finished.errors, 'problem')}; {out}/errors.jsonl says which documents and why")
        raise typer.Exit(1)


def _count(number: int, thing: str) -> str:
    return f"{number:,} {thing}{'' if number == 1 else 's'}"


def _reporter() -> Callable[[Progress], None]:
    """Return what shows progress: one line that changes, or one now and then where nobody watches."""
    watched = sys.stderr.isatty()
    shown = [time.monotonic()]

    def report(progress: Progress) -> None:
        if watched:
            show_state(progress)
        elif time.monotonic() - shown[0] >= EVERY:
            shown[0] = time.monotonic()
            typer.echo(str(progress), err=True)

    return report


@corpus.command()
def status(folder: Folder) -> None:
    """Show how far the run of a folder is, from any shell that sees the folder; exit code 1 while shards are missing.

    \b
    Examples:
      h3n corpus status parsed
    """
    from h3n.corpus import status_of
    from h3n.corpus.storage import Folder as Stored
    from h3n.corpus.storage import absolute

    found = status_of(Stored(absolute(folder)))
    typer.echo(f"model {found.model}: {found.progress}")
    if found.last is not None:
        typer.echo(f"{found.sentences:,} sentences; the last shard was done {found.last:,.0f} seconds ago")
    if found.progress.done < found.progress.shards:
        raise typer.Exit(1)


@corpus.command()
def find(
    folder: Folder,
    pattern: Annotated[str, typer.Argument(metavar="PATTERN", help="As in scheme files, and @ for relations.")],
    kind: Annotated[Shown | None, typer.Option("--to", "-t", help="Else by the output's ending, or table.")] = None,
    output: Annotated[str, typer.Option("--output", "-o", metavar="FILE", help="Where to.")] = STANDARD,
    limit: Annotated[int, typer.Option(min=0, help="How many to show; 0: all.")] = 100,
) -> None:
    """Find phrases and words by a pattern over both trees; exit code 1 if there are none.

    A pattern is a node and its conditions: NP < PP is an NP with a PP child, NP @ nsubj one whose head word is an
    nsubj, @> leads to the word that governs the head, @< to its dependents, @lemma, @feature and @upos to what is known
    of it. docs/corpus.md and docs/conversion.md explain the rest. A table has document, sentence, label, words and
    text, with tabs between.

    \b
    Examples:
      h3n corpus find parsed 'NP @ nsubj < PP'
      h3n corpus find parsed 'VB*"give|gave|given" @< (* @ iobj)' --limit 0 -o given.jsonl
      h3n corpus find parsed 'SBAR < (WHNP @ nsubj)' --limit 20 -o page.html
    """
    from h3n import corpus as library

    hits = library.find(folder, pattern)
    if lacking := library.lacking(folder):
        say(f"{folder}: written by an older h3n, without the columns {', '.join(lacking)}")
    show_hits(map(_hit, hits), pattern, output, kind=kind, limit=limit)


def _hit(found: CorpusHit) -> Hit:
    return Hit(
        place={name: found.row[name] for name in ("document", "sentence")},
        text=found.row["text"],
        label=found.label,
        start=found.start,
        end=found.end,
        words=found.words,
        key=id(found.row),
        drawable=lambda: found.parsed.result.drawable,
    )
