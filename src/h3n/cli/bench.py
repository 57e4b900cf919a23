"""`h3n bench`: measure on this machine what the documentation claims of others."""

from __future__ import annotations

import gc
import json
import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer

from h3n.cli.options import AsJson, Model
from h3n.cli.terminal import bar
from h3n.errors import UsageError
from h3n.measure.bands import SAMPLE

bench = typer.Typer(add_completion=False, no_args_is_help=True, rich_markup_mode=None)
DATA = "H3N_DATA"
ONLY_WITH_BANDS = ("data", "sample", "limit", "plot")
ONLY_WITHOUT = ("file", "decoder", "threads", "sentences", "spacy", "profile")


@bench.callback()
def _group() -> None:
    """Measure speed on this machine.

    \b
    Examples:
      h3n bench speed
      h3n bench decode --lengths 20,40,80 --json
    """


def _check_options(given: typer.Context, *, bands: bool) -> None:
    """Raise if an option was given that would do nothing."""
    for name in ONLY_WITHOUT if bands else ONLY_WITH_BANDS:
        source = given.get_parameter_source(name)
        if source is not None and source.name == "COMMANDLINE":
            shown = "FILE" if name == "file" else f"--{name}"
            raise UsageError(f"{shown} does nothing with --bands" if bands else f"{shown} needs --bands")


def _run_bands(
    model: str,
    data: Path | None,
    *,
    precision: str,
    sample: int,
    limit: int,
    repeat: int,
    plot: Path | None,
    as_json: bool,
) -> None:
    """Measure the bands, print the table and draw the curves."""
    from h3n.measure.bands import describe_bands, measure_bands, plot_bands, read_bands
    from h3n.measure.plots import check_plot
    from h3n.measure.provenance import checksums, describe_code, describe_machine, public_name
    from h3n.models import WEIGHTS, locate
    from h3n.parser import load

    if plot is not None:
        check_plot(plot)
    bands = read_bands(data if data is not None else _default_data(), limit=limit)
    parser = load(model, threads=1, precision=precision)
    weights = checksums([str(locate(model).resolve() / WEIGHTS)])
    about: dict[str, Any] = {
        "model": public_name(model),
        "weights": next(iter(weights.values())),
        "sample": sample,
        "limit": limit,
        "code": describe_code(),
        "machine": describe_machine("cpu"),
    }
    with _interruptible(), _bar() as progress:
        measured = about | measure_bands(parser, bands, sample=sample, repeat=repeat, progress=progress)
    typer.echo(json.dumps(measured) if as_json else describe_bands(measured))
    if plot is not None:
        plot_bands(measured, plot)


def _default_data() -> Path:
    folder = os.environ.get(DATA)
    if not folder:
        raise UsageError(f"--bands needs sentences: --data FOLDER, or a folder with raw/ in it in ${DATA}")
    return Path(folder) / "raw"


@contextmanager
def _interruptible() -> Iterator[None]:
    """Let Ctrl-C end the process at once: Python would wait for the decoder, which may take half a minute."""
    before = signal.signal(signal.SIGINT, signal.SIG_DFL)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


@contextmanager
def _bar() -> Iterator[Callable[[str, float], None] | None]:
    """Yield what moves a bar on stderr, if that is a terminal."""
    if not sys.stderr.isatty():
        yield None
        return
    shape = "{desc} {percentage:3.0f}%|{bar}| {elapsed}, about {remaining} left"
    with bar(total=1.0, desc="starting", bar_format=shape) as shown:

        def progress(band: str, share: float) -> None:
            shown.set_description_str(f"{band} words", refresh=False)
            shown.update(share - shown.n)

        yield progress


@bench.command()
def speed(
    context: typer.Context,
    file: Annotated[Path | None, typer.Argument(metavar="[FILE]", help="A text; by default one of ours.")] = None,
    model: Model = "en",
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
    as_json: AsJson = False,
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
    _check_options(context, bands=bands)
    if bands:
        _run_bands(
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


@bench.command()
def decode(
    lengths: Annotated[
        str, typer.Option(help="Sentence lengths to measure, in words.", metavar="N,N,...")
    ] = "20,27,50,80,127,180,233,300",
    decoders: Annotated[
        str, typer.Option(help="Decoders to measure; hpsg_n5 is the published exact one.", metavar="NAME,...")
    ] = "cky,mst,eisner,h3n,hpsg,hpsg_n5",
    as_json: AsJson = False,
    plot: Annotated[
        Path | None, typer.Option(help="Draw the curves, log-log, into this file (.png, .svg, .pdf).")
    ] = None,
    peers: Annotated[
        bool, typer.Option("--peers", help="Measure torch_struct and supar beside ours, where installed.")
    ] = False,
    seconds: Annotated[float, typer.Option(min=0.0, help="Time to spend on each figure, at least.")] = 0.3,
    seed: Annotated[int, typer.Option(help="Of the random scores.")] = 0,
) -> None:
    """Measure the decoders alone, on random scores, one thread: milliseconds per sentence, growth, ratios."""
    from dataclasses import asdict

    from h3n.measure.decoders import describe_decoders, measure_decoders, plot_decoders
    from h3n.measure.plots import check_plot

    if plot is not None:
        check_plot(plot)
    names = [name.strip() for name in decoders.split(",") if name.strip()]
    times = measure_decoders(
        names, lengths=_numbers(lengths), seconds=seconds, seed=seed, peers=peers, bands=not as_json
    )
    if as_json:
        typer.echo(json.dumps({"rows": list(map(asdict, times.points)), "exponents": times.exponents}))
    else:
        typer.echo(describe_decoders(times))
    if plot is not None:
        plot_decoders(times, plot)


def _numbers(text: str) -> list[int]:
    try:
        numbers = sorted({int(part) for part in text.split(",")})
    except ValueError:
        raise UsageError(f"--lengths {text}: whole numbers with commas between them are accepted") from None
    if numbers[0] < 1:
        raise UsageError(f"--lengths {text}: {numbers[0]} words; 1 or more is accepted")
    return numbers
