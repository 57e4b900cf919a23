"""`h3n experiments`: the paper's tables by command."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Any

import typer

from h3n.errors import UsageError

experiments = typer.Typer(add_completion=False, no_args_is_help=True, rich_markup_mode=None)
Results = Annotated[Path, typer.Option(metavar="FOLDER", help="Where results are, as JSON.")]


@experiments.callback()
def _group() -> None:
    """Repeat the tables of the paper: train, measure, report.

    \b
    Examples:
      h3n experiments list
      h3n experiments run gum --miniature
      h3n experiments report
    """


@experiments.command("list")
def list_(results: Results = Path("results")) -> None:
    """Show every experiment: its runs, what they take, whether its data and results are there."""
    from h3n.experiments import experiment_names, load_experiment
    from h3n.experiments.kinds import kind_of, missing_files
    from h3n.experiments.results import own_experiments, read_results
    from h3n.measure.tables import text_table

    rows = [("name", "runs", "minutes", "data", "results", "title")]
    for experiment in [*map(load_experiment, experiment_names()), *own_experiments(results)]:
        minutes = kind_of(experiment).runs(experiment)
        stored = read_results(results, experiment.name)
        done = f"{len(stored['runs'])} of {len(minutes)}" if stored is not None else "-"
        data = "missing" if missing_files(experiment) else "there"
        shown = f"{sum(minutes):.0f}" if sum(minutes) else "-"
        rows.append((experiment.name, str(len(minutes)), shown, data, done, experiment.title))
    typer.echo(text_table(rows))


@experiments.command()
def run(
    name: Annotated[str, typer.Argument(help="One of `h3n experiments list`, or a file of your own (.toml).")],
    only: Annotated[str | None, typer.Option(metavar="RUN", help="Only this run or variant.")] = None,
    seed: Annotated[int | None, typer.Option(help="Only this seed.")] = None,
    miniature: Annotated[
        bool, typer.Option("--miniature", help="In seconds: generated sentences, a tiny network.")
    ] = False,
    output: Annotated[Path, typer.Option(metavar="FOLDER", help="Where runs go.")] = Path("runs"),
    results: Annotated[
        Path | None, typer.Option(metavar="FOLDER", help="Where results go; default: results.", show_default=False)
    ] = None,
    folder: Annotated[
        list[str] | None,
        typer.Option("--folder", metavar="RUN=FOLDER", help="A run that `h3n train` has trained; may be repeated."),
    ] = None,
    model: Annotated[
        str | None, typer.Option("--model", "-m", metavar="NAME|DIR", help="The parser whose speed is measured.")
    ] = None,
    quiet: Annotated[bool, typer.Option("--quiet", help="Say nothing but errors.")] = False,
) -> None:
    """Train and measure all that an experiment asks for; a run that was interrupted goes on.

    Results are written after every run; `h3n experiments report` makes a page of them. Runs can be spread over
    machines or processors with --only and --seed.
    """
    from h3n.experiments import load_experiment, run_experiment

    show = _Display(quiet=quiet)
    try:
        run_experiment(
            load_experiment(name),
            output=output,
            results=results,
            only=only,
            seed=seed,
            miniature=miniature,
            folders=dict(map(_folder, folder or [])),
            model=model,
            report=show,
            watch=show.watch,
        )
    finally:
        show.close()


def _folder(text: str) -> tuple[str, Path]:
    name, equals, path = text.partition("=")
    if not name or not equals or not path:
        raise UsageError(f"--folder {text}: expected RUN=FOLDER, such as joint=runs/mine")
    return name, Path(path)


class _Display:
    """Progress for people: that of `h3n train` for each run, one after the other."""

    def __init__(self, *, quiet: bool) -> None:
        self.quiet = quiet
        self.inner: Any = None

    def __call__(self, event: Any) -> None:
        from h3n.cli.train import Display
        from h3n.config import Config
        from h3n.experiments.running import Started

        if isinstance(event, Started):
            self.close()
            self.inner = Display(event.job.config, quiet=self.quiet)
            self.inner.say(f"run {event.number} of {event.count}: {event.job.name}")
            return
        if self.inner is None:
            self.inner = Display(Config(), quiet=self.quiet)
        self.inner(event)

    def watch(self, sentences: Iterable[Any], name: str) -> Iterable[Any]:
        return self.inner.watch(sentences, name) if self.inner is not None else sentences

    def close(self) -> None:
        if self.inner is not None:
            self.inner.close()


@experiments.command()
def report(
    results: Results = Path("results"),
    docs: Annotated[Path, typer.Option(metavar="FOLDER", help="Where the page and its plots go.")] = Path("docs"),
) -> None:
    """Make the page results.md, with tables and plots, from the results alone."""
    from h3n.experiments import write_page

    typer.echo(f"the page is {write_page(results, docs)}")
