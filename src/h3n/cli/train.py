"""`h3n train`: learn a parser from treebanks."""

from __future__ import annotations

import os
import shlex
import sys
import time
from pathlib import Path
from typing import Annotated, Any

import typer

from h3n.config import Config, load_config
from h3n.errors import H3nError, UnknownName, UsageError

PARTS = ("segmenter",)  # that can be learned alone

SHOWN = ("loss", "LF1", "UAS", "LAS", "heads", "tags", "lemmas", "features")
BAR = "{desc} {percentage:3.0f}% |{bar:12}| {n_fmt}/{total_fmt} {postfix}"


class Display:
    """Progress for people. Times are of a clock that never jumps."""

    def __init__(self, options: Config, *, quiet: bool) -> None:
        self.quiet = quiet
        self.options = options
        self.bar: Any = None
        self.words = 0
        self.updates = 0
        self.scores = ""
        self.checked = False
        self.started = time.perf_counter()

    def watch(self, sentences: Any, name: str) -> Any:
        """Return the sentences, watched by a bar while they are read."""
        from h3n.cli.terminal import progress

        return sentences if self.quiet else progress(sentences, label=f"reading {Path(name).name}")

    def __call__(self, event: Any) -> None:
        from h3n.training import Check, Note, Update

        match event:
            case Update():
                self._update(event)
            case Check():
                named = [name for name in SHOWN[1:4] if name in event.row]
                self.checked = True
                self.scores = "".join(f", {name} {event.row[name]:.1f}" for name in named)
                self.say(line_of_check(event.row, best=event.best))
                self._draw()
            case Note():
                if not self.updates:  # what was read before counts for no time left
                    self.started = time.perf_counter()
                self.say(event.text)

    def _update(self, event: Any) -> None:
        self.words += event.words
        self.updates += 1
        if self.quiet or not sys.stderr.isatty():
            if not self.checked and event.done in early_moments(event.updates):
                self.say(self.line_of_update(event, time.perf_counter() - self.started))
            return
        if self.bar is None:
            from h3n.cli.terminal import bar

            self.bar = bar(bar_format=BAR)
        self.bar.total, self.bar.n = event.updates, event.done
        self.bar.set_description_str(f"epoch {event.epoch + 1}/{self.options.training.epochs}", refresh=False)
        self.bar.set_postfix_str(self.postfix(event, time.perf_counter() - self.started), refresh=False)
        self.bar.update(0)

    def postfix(self, event: Any, seconds: float) -> str:
        """Return what stands behind the bar: time left, losses, last scores, speed."""
        parts = " ".join(f"{name} {value:.2f}" for name, value in event.terms.items() if value)
        left, speed = self._left(event, seconds), self.words / seconds
        return f"{left} left, loss {event.loss:.3f} ({parts}){self.scores}, {speed:,.0f} words/s"

    def line_of_update(self, event: Any, seconds: float) -> str:
        """Return how far it is to the first check, for those who do not see the bar."""
        where = f"epoch {event.epoch + 1}  update {event.done} of {event.updates}"
        speed = self.words / seconds
        return f"{where}  loss {event.loss:.3f}  {speed:,.0f} words/s  {self._left(event, seconds)} left"

    def _left(self, event: Any, seconds: float) -> str:
        return _minutes(seconds / self.updates * (event.total - event.step))

    def _draw(self) -> None:
        """Draw the curves anew; without matplotlib there are none until the end, where that is said."""
        from h3n.errors import H3nError
        from h3n.training.record import draw_curves

        if not self.quiet:
            try:
                draw_curves(Path(self.options.output))
            except H3nError:
                return

    def say(self, line: str) -> None:
        """Write one line without disturbing the bar."""
        if self.quiet:
            return
        if self.bar is not None:
            self.bar.clear()
        sys.stderr.write(f"{line}\n")
        sys.stderr.flush()

    def close(self) -> None:
        if self.bar is not None:
            self.bar.close()


def early_moments(updates: int) -> frozenset[int]:
    """Return after how many of an epoch's updates there is a line before the first check; none in a short epoch."""
    return frozenset({updates // 20, updates // 4, updates // 2} if updates >= 20 else ())


def _minutes(seconds: float) -> str:
    minutes = round(seconds / 60)
    return f"{minutes // 60} h {minutes % 60} min" if minutes >= 60 else f"{minutes} min" if minutes else "1 min"


def line_of_check(row: dict[str, Any], *, best: bool) -> str:
    """Return a check as a line, and one more for each of several dev treebanks."""
    shown = "  ".join(f"{name} {row[name]:.{3 if name == 'loss' else 2}f}" for name in SHOWN if name in row)
    star = "  best so far" if best else ""
    each = "".join(
        f"\n  {name}: " + "  ".join(f"{score} {scores[score]:.2f}" for score in SHOWN if score in scores)
        for name, scores in row.get("treebanks", {}).items()
    )
    return f"epoch {row['epoch']}  update {row['step']}  {shown}  {row['seconds'] / 60:.1f} min{star}{each}"


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
    # For each shape of a batch oneDNN keeps what its recurrent layers compute with, as a rule for 1,024 of them: 2 GB.
    os.environ.setdefault("ONEDNN_PRIMITIVE_CACHE_CAPACITY", "64")
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
            if options.words.only:
                training.train_words(options, examples, dev, report=report)
                show.say(f"the parser is in {Path(options.output) / 'model'}")
                return
            training.train(
                options,
                examples,
                dev,
                here=here,
                resume=resume,
                accept_changes=accept_changes,
                report=report,
                command=shlex.join(["h3n", *sys.argv[1:]]),
            )
        except KeyboardInterrupt:
            show.close()
            show.say(_what_is_saved(options))
            raise
        finally:
            show.close()


def _learn_segmenter(options: Config, show: Display) -> None:
    """Learn the segmenter that the options ask for, and make it that of the model in the run's folder."""
    from h3n.engine.segmenter import name_segmenter
    from h3n.training import train_segmenter

    segmenter = train_segmenter(options, report=show)
    folder = Path(options.output) / "model"
    folder.mkdir(parents=True, exist_ok=True)
    name_segmenter(segmenter, folder)
    show.say(f"the segmenter ({segmenter.name}) is in {folder}")


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
