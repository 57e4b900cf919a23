"""`h3n bench speed --bands`: the paper's speed table, with a bar for the minutes it takes."""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import typer

from h3n.cli.progress import bar
from h3n.errors import UsageError

DATA = "H3N_DATA"
ONLY_WITH_BANDS = ("data", "sample", "limit", "plot")
ONLY_WITHOUT = ("file", "decoder", "threads", "sentences", "spacy", "profile")


def check_options(given: typer.Context, *, bands: bool) -> None:
    """Raise if an option was given that would do nothing."""
    for name in ONLY_WITHOUT if bands else ONLY_WITH_BANDS:
        source = given.get_parameter_source(name)
        if source is not None and source.name == "COMMANDLINE":
            shown = "FILE" if name == "file" else f"--{name}"
            raise UsageError(f"{shown} does nothing with --bands" if bands else f"{shown} needs --bands")


def run(
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
    from h3n.measure.bands import measure_bands, read_bands
    from h3n.measure.bands_plot import plot_bands
    from h3n.measure.bands_table import describe_bands
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
