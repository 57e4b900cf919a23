"""`h3n bench`: measure on this machine what the documentation claims of others."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from h3n.cli.bench_speed import speed
from h3n.errors import UsageError

bench = typer.Typer(add_completion=False, no_args_is_help=True, rich_markup_mode=None)


bench.command()(speed)


@bench.callback()
def _group() -> None:
    """Measure speed on this machine.

    \b
    Examples:
      h3n bench speed
      h3n bench decode --lengths 20,40,80 --json
    """


@bench.command()
def decode(
    lengths: Annotated[
        str, typer.Option(help="Sentence lengths to measure, in words.", metavar="N,N,...")
    ] = "20,27,50,80,127,180,233,300",
    decoders: Annotated[
        str, typer.Option(help="Decoders to measure; hpsg_n5 is the published exact one.", metavar="NAME,...")
    ] = "cky,mst,eisner,h3n,hpsg,hpsg_n5",
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of tables.")] = False,
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

    from h3n.measure.decoders import measure_decoders
    from h3n.measure.decoders_table import describe_decoders, plot_decoders
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
