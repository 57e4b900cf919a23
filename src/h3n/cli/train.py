"""`h3n train`: learn a parser from treebanks."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from h3n.cli.train_display import Display
from h3n.config import Config, load_config
from h3n.errors import H3nError, UnknownName, UsageError

PARTS = ("segmenter",)  # that can be learned alone


def _show_options(asked: bool) -> None:
    if asked:
        from h3n.config import describe_options

        typer.echo(describe_options(), nl=False)
        raise typer.Exit


def train(
    config: Annotated[Path, typer.Argument(help="A TOML file of options.", metavar="CONFIG.toml")],
    set_: Annotated[
        list[str] | None, typer.Option("--set", metavar="A.B=C", help="Change an option; may be given several times.")
    ] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with the run in the output folder.")] = False,
    accept_changes: Annotated[
        bool, typer.Option("--accept-changes", help="With --resume: go on with other data or options than before.")
    ] = False,
    only: Annotated[
        str | None, typer.Option("--only", metavar="segmenter", help="Learn this part alone, into the folder `model`.")
    ] = None,
    quiet: Annotated[bool, typer.Option("--quiet", help="Say nothing but errors.")] = False,
    _options: Annotated[
        bool,
        typer.Option("--options", help="Show every option and leave.", callback=_show_options, is_eager=True),
    ] = False,
) -> None:
    """Train a parser as CONFIG.toml says; the finished one is in the folder `model` of its output folder.

    A run that was stopped, by whatever, goes on with --resume. With several processes:
    torchrun --nproc-per-node 2 -m h3n train CONFIG.toml

    \b
    Examples:
      h3n train configs/example.toml
      h3n train my.toml --set training.epochs=20 --set output=runs/longer
      h3n train my.toml --resume
      h3n train my.toml --only segmenter
    """
    options = load_config(config, settings=set_ or [])
    if not options.data.train:
        raise UsageError(f"{config}: no data to learn from; expected [[data.train]] with files = [...]")
    if only not in (None, *PARTS):
        raise UnknownName("part", str(only), PARTS)
    from h3n import training
    from h3n.training.processes import processes

    if only is not None:
        show = Display(options, quiet=quiet)
        try:
            _learn_segmenter(options, show)
        finally:
            show.close()
        return
    with processes(device=options.training.device) as here:
        show = Display(options, quiet=quiet or not here.first)
        streamed = training.StreamedExamples(treebanks=options.data.train, data=options.data, watch=show.watch)
        examples = streamed if options.data.stream else list(streamed)
        dev = training.load_examples(options.data.dev, data=options.data, watch=show.watch)
        report = training.with_tensorboard(show, options) if here.first else show
        try:
            model = training.train(
                options, examples, dev, here=here, resume=resume, accept_changes=accept_changes, report=report
            )
        except KeyboardInterrupt:
            show.close()
            show.say(_what_is_saved(options))
            raise
        finally:
            show.close()
        if here.first:
            _finish(options, model, dev, show)


def _finish(options: Config, model: Any, dev: Any, show: Display) -> None:
    """Write what goes with the finished parser and say where it is."""
    from h3n.training.card import write_card
    from h3n.training.run_page import write_run_page

    run, command = Path(options.output), shlex.join(["h3n", *sys.argv[1:]])
    show.say(_curves(run))
    _learn_segmenter(options, show)
    write_card(run, model, command=command)
    show.say(f"a report is in {write_run_page(run, model, dev, command=command)}")
    show.say(f"the parser is in {run / 'model'}")


def _learn_segmenter(options: Config, show: Display) -> None:
    """Learn the segmenter that the options ask for, and write it beside the parser."""
    from h3n.engine.segmenter import write_segmenter
    from h3n.training import train_segmenter

    segmenter = train_segmenter(options, report=show)
    if segmenter is None:
        show.say("no segmenter: the treebanks do not tell how their sentences are written, or segmenter.kind is none")
        return
    folder = Path(options.output) / "model"
    folder.mkdir(parents=True, exist_ok=True)
    write_segmenter(segmenter, folder)
    show.say(f"the segmenter is in {folder}")


def _curves(run: Path) -> str:
    from h3n.training.curves import draw_curves

    try:
        return f"curves are in {draw_curves(run)}"
    except UsageError as error:
        return f"no curves: {error}"


def _what_is_saved(options: Config) -> str:
    """Return what an interrupted run leaves, and how to go on."""
    from h3n.training.checkpoint import last_checkpoint

    run = Path(options.output)
    try:
        checkpoint = last_checkpoint(run)
    except H3nError:
        checkpoint = None
    if checkpoint is None:
        return "interrupted before the first checkpoint: nothing is saved"
    best = f"; the best parser so far is in {run / 'best'}" if (run / "best").is_dir() else ""
    rest = [argument for argument in sys.argv[1:] if argument != "--resume"]
    return f"interrupted; saved up to {checkpoint.name}{best}; go on with: {shlex.join(['h3n', *rest, '--resume'])}"
