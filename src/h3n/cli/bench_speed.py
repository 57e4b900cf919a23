"""`h3n bench speed`: how fast text becomes trees, where the time goes, and others on the same text."""

from __future__ import annotations

import gc
import json
from pathlib import Path
from typing import Annotated

import typer

from h3n.cli import bench_bands
from h3n.measure.bands import SAMPLE


def speed(
    context: typer.Context,
    file: Annotated[Path | None, typer.Argument(metavar="[FILE]", help="A text; by default one of ours.")] = None,
    model: Annotated[str, typer.Option("--model", "-m", metavar="NAME|DIR", help="As for h3n parse.")] = "en",
    decoder: Annotated[str, typer.Option(metavar="NAME", help="As for h3n parse.")] = "auto",
    precision: Annotated[str, typer.Option(help="As for h3n parse.")] = "auto",
    threads: Annotated[int, typer.Option(min=1, help="Batches parsed at the same time.")] = 2,
    sentences: Annotated[int, typer.Option(min=1, help="The text is repeated whole, to at least this many.")] = 500,
    repeat: Annotated[int, typer.Option(min=1, help="Runs, of which the fastest counts.")] = 3,
    spacy: Annotated[
        str | None, typer.Option(metavar="NAME|DIR", help="A spaCy pipeline to measure on the same text.")
    ] = None,
    profile: Annotated[
        bool, typer.Option("--profile", help="Also show the parts, from finding words to output, and their shares.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")] = False,
    bands: Annotated[
        bool, typer.Option("--bands", help="The paper's speed table instead: all decoders, three bands of length.")
    ] = False,
    data: Annotated[
        Path | None, typer.Option(metavar="FOLDER", help="With --bands: its sentences; by default $H3N_DATA/raw.")
    ] = None,
    sample: Annotated[
        int, typer.Option(min=0, help="With --bands: long sentences for the published decoder (0: all, takes hours).")
    ] = SAMPLE,
    limit: Annotated[int, typer.Option(min=0, help="With --bands: sentences of each band (0: all).")] = 0,
    plot: Annotated[
        Path | None, typer.Option(metavar="FILE", help="With --bands: draw the curves, log-log (.png, .svg, .pdf).")
    ] = None,
) -> None:
    """Measure parsing from plain text to both trees: sentences per second, with which instructions and precision."""
    bench_bands.check_options(context, bands=bands)
    if bands:
        bench_bands.run(
            model, data, precision=precision, sample=sample, limit=limit, repeat=repeat, plot=plot, as_json=as_json
        )
        return
    from h3n.measure.parsing import describe_parsing, measure_parsing, read_text, repeat_text, spacy_rates
    from h3n.parser import load

    text = repeat_text(read_text(file), sentences)
    parser = load(model, threads=threads, precision=precision)
    gc.freeze()  # as h3n parse does
    measured = {"model": model} | measure_parsing(parser, text, decoder=decoder, repeat=repeat, profile=profile)
    if spacy is not None:
        measured["spacy"] = spacy_rates(spacy, text, count=measured["sentences"], repeat=repeat)
    typer.echo(json.dumps(measured) if as_json else describe_parsing(measured))
