"""`h3n train`: learn a parser from treebanks."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Annotated, Any

import typer

from h3n.config import Config, load_config
from h3n.errors import UsageError

SHOWN = ("loss", "LF1", "UAS", "LAS", "heads", "tags")


def train(
    config: Annotated[Path, typer.Argument(help="A TOML file of options.", metavar="CONFIG.toml")],
    set_: Annotated[
        list[str] | None, typer.Option("--set", metavar="A.B=C", help="Change an option; may be given several times.")
    ] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with the run in the output folder.")] = False,
    accept_changes: Annotated[
        bool, typer.Option("--accept-changes", help="With --resume: go on with other data or options than before.")
    ] = False,
    quiet: Annotated[bool, typer.Option("--quiet", help="Say nothing but errors.")] = False,
) -> None:
    """Train a parser as CONFIG.toml says; the finished one is in the folder `model` of its output folder.

    A run that was stopped, by whatever, goes on with --resume. With several processes:
    torchrun --nproc-per-node 2 -m h3n train CONFIG.toml

    \b
    Examples:
      h3n train configs/example.toml
      h3n train my.toml --set training.epochs=20 --set output=runs/longer
      h3n train my.toml --resume
    """
    options = load_config(config, settings=set_ or [])
    if not options.data.train:
        raise UsageError(f"{config}: no data to learn from; expected [[data.train]] with files = [...]")
    from h3n import training
    from h3n.training.processes import processes

    with processes(device=options.training.device) as here:
        show = Display(options, quiet=quiet or not here.first)
        examples = training.load_examples(options.data.train, data=options.data, watch=show.watch)
        dev = training.load_examples(options.data.dev, data=options.data, watch=show.watch)
        report = training.with_tensorboard(show, options) if here.first else show
        try:
            training.train(
                options, examples, dev, here=here, resume=resume, accept_changes=accept_changes, report=report
            )
        finally:
            show.close()
        if here.first:
            show.say(_curves(Path(options.output)))
            show.say(f"the parser is in {Path(options.output) / 'model'}")


def _curves(run: Path) -> str:
    from h3n.training.curves import draw_curves

    try:
        return f"curves are in {draw_curves(run)}"
    except UsageError as error:
        return f"no curves: {error}"


class Display:
    """Progress for people: a bar on a terminal, a line per check everywhere."""

    def __init__(self, options: Config, *, quiet: bool) -> None:
        self.quiet = quiet
        self.options = options
        self.bar: Any = None
        self.words = 0
        self.started = time.perf_counter()

    def watch(self, sentences: Any, name: str) -> Any:
        """Return the sentences, watched by a bar while they are read."""
        from h3n.cli.progress import progress

        return sentences if self.quiet else progress(sentences, label=f"reading {Path(name).name}")

    def __call__(self, event: Any) -> None:
        from h3n.training import Check, Note, Update

        match event:
            case Update():
                self._update(event)
            case Check():
                self.say(_line(event.row, best=event.best))
            case Note():
                self.say(event.text)

    def _update(self, event: Any) -> None:
        self.words += event.words
        if self.quiet or not sys.stderr.isatty():
            return
        if self.bar is None:
            from tqdm import tqdm

            self.bar = tqdm(total=event.total, initial=event.step - 1, unit=" updates", dynamic_ncols=True, leave=False)
        rate = self.words / (time.perf_counter() - self.started)
        self.bar.update(1)
        self.bar.set_description(f"epoch {event.epoch + 1}/{self.options.training.epochs}")
        self.bar.set_postfix_str(f"loss {event.loss:.3f}, {rate:,.0f} words/s", refresh=False)

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


def _line(row: dict[str, Any], *, best: bool) -> str:
    shown = "  ".join(f"{name} {row[name]:.{3 if name == 'loss' else 2}f}" for name in SHOWN if name in row)
    star = "  best so far" if best else ""
    each = "".join(
        f"\n  {name}: " + "  ".join(f"{score} {scores[score]:.2f}" for score in SHOWN if score in scores)
        for name, scores in row.get("treebanks", {}).items()
    )
    return f"epoch {row['epoch']}  update {row['step']}  {shown}  {row['seconds'] / 60:.1f} min{star}{each}"
