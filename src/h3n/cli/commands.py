"""All commands, one module each, gathered in `COMMANDS`.

A command module is imported only when its command runs or its help is asked for, so that `h3n --help` and
`h3n convert` never wait for numpy.
"""

from __future__ import annotations

import importlib
import signal
import sys
import warnings
from difflib import get_close_matches
from typing import Annotated, Any, NoReturn

import typer
from typer.core import TyperGroup

from h3n.cli.streams import silence_stdout
from h3n.cli.terminal import say
from h3n.errors import UsageError

# command -> (module, what `h3n --help` says of it). A module defines a function or a typer.Typer of the command's name.
COMMANDS: dict[str, tuple[str, str]] = {
    "bench": ("h3n.cli.bench", "Measure speed on this machine."),
    "check": ("h3n.cli.check", "List likely annotation errors of a treebank with both trees."),
    "convert": ("h3n.cli.convert", "Convert a treebank from one format into another."),
    "corpus": ("h3n.cli.corpus", "Parse many files into a folder, on one machine or many."),
    "diff": ("h3n.cli.diff", "Show where two files of trees disagree, as a page."),
    "draw": ("h3n.cli.draw", "Draw trees: in the terminal, as SVG, HTML or PNG."),
    "evaluate": ("h3n.cli.evaluate", "Score predicted trees against gold ones."),
    "experiments": ("h3n.cli.experiments", "Repeat the tables of the paper: train, measure, report."),
    "find": ("h3n.cli.find", "Find phrases and words of treebanks by a pattern over both trees."),
    "model": ("h3n.cli.model", "List, describe, export and share models."),
    "parse": ("h3n.cli.parse", "Parse text: phrases and dependencies as one tree."),
    "preannotate": ("h3n.cli.preannotate", "Annotate text and list what the parser is least sure of."),
    "prepare": ("h3n.cli.prepare", "Make a treebank ready: aligned splits with both trees."),
    "serve": ("h3n.cli.serve", "Start the page and the HTTP service."),
    "stats": ("h3n.cli.stats", "Count sentences, words, labels and crossing arcs."),
    "train": ("h3n.cli.train", "Learn a parser from treebanks."),
    "validate": ("h3n.cli.validate", "Report every problem of treebank files."),
}

# Newer typers bring a click of their own, older ones import click: either way this is its base of all usage errors.
_ClickError: type[Any] = typer.BadParameter.__mro__[2]


class _Lazy(TyperGroup):
    """A group that imports a command's module when somebody asks for the command."""

    def list_commands(self, ctx: Any) -> list[str]:  # noqa: ARG002
        return list(COMMANDS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:  # noqa: ARG002
        if cmd_name not in COMMANDS:
            return None
        module, summary = COMMANDS[cmd_name]
        defined = getattr(importlib.import_module(module), cmd_name)
        if not isinstance(defined, typer.Typer):
            single = typer.Typer(add_completion=False, rich_markup_mode=None)
            single.command(name=cmd_name)(defined)
            defined = single
        command: Any = typer.main.get_command(defined)
        command.short_help = summary
        return command

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        name = args[0]
        close = [] if name in COMMANDS or name.startswith("-") else get_close_matches(name, COMMANDS, n=1)
        if close:
            ctx.fail(f"No such command {name!r}. Did you mean {close[0]!r}?")
        return super().resolve_command(ctx, args)

    def invoke(self, ctx: Any) -> Any:
        try:
            result = super().invoke(ctx)
            sys.stdout.flush()  # what cannot be written is an error while there is somebody to say so
        except BrokenPipeError:
            # The reader went away (`h3n ... | head`): not our error, and typer would make one of it.
            silence_stdout()
            raise typer.Exit(0) from None
        return result

    def format_commands(self, ctx: Any, formatter: Any) -> None:  # noqa: ARG002
        with formatter.section("Commands"):
            formatter.write_dl([(name, summary) for name, (_, summary) in COMMANDS.items()])


app = typer.Typer(
    cls=_Lazy,
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)


def _show_version(asked: bool) -> None:
    if asked:
        from h3n import __version__

        typer.echo(f"h3n {__version__}")
        raise typer.Exit


@app.callback()
def h3n(
    _version: Annotated[
        bool, typer.Option("--version", help="Print the version and leave.", callback=_show_version, is_eager=True)
    ] = False,
) -> None:
    """Phrase structure and dependencies at once, as one head-driven tree.

    \b
    Examples:
      h3n parse --text "She is carefully making the cake."
      h3n parse book.txt -o book.conllu
      h3n draw dev.ptb --dependencies dev.conllu -s 3 -o tree.svg
      h3n evaluate gold.ptb predicted.ptb
      h3n train config.toml

    \b
    Files end in .ptb (brackets), .conllu, .conll, .jsonl, packed or not (.gz, .xz, .bz2, .zst); --from and --to say
    it otherwise, and - is standard input or output. h3n COMMAND --help shows what a command can do, with examples.

    \b
    Exit codes: 0 fine, 1 findings, 2 bad usage or bad input, said in one line, 130 after Ctrl-C.
    """


def run() -> int:
    """Run the command that the program was started with; return its exit code. Errors of usage are `UsageError`."""
    _leave_tidily()
    warnings.showwarning = lambda message, *_: say(str(message))
    try:
        code = app(prog_name="h3n", standalone_mode=False)
    except _ClickError as error:
        if type(error).__name__ == "NoArgsIsHelpError":  # its message is the whole help
            typer.echo(error.format_message(), err=True)
            return 2
        context = getattr(error, "ctx", None)
        command = context.command_path if context is not None else "h3n"
        message = error.format_message().rstrip(".")
        raise UsageError(f"{message}{'' if message.endswith('?') else ';'} see {command} --help") from None
    except typer.Abort as aborted:
        # To typer the end of a file is somebody who presses Ctrl-D at a question. There are none here: it is a fault.
        raise aborted.__cause__ if isinstance(aborted.__cause__, EOFError) else KeyboardInterrupt from None
    return code if isinstance(code, int) else 0


def _leave_tidily() -> None:
    """Let a request to end (TERM, HUP) unwind the program, so that nothing half written stays behind.

    A signal that somebody had ignored, as ``nohup`` does, stays ignored.
    """
    for name in ("SIGTERM", "SIGHUP"):
        number = getattr(signal, name, None)
        if number is not None and signal.getsignal(number) is signal.SIG_DFL:
            signal.signal(number, _leave)


def _leave(number: int, _: Any) -> NoReturn:
    raise SystemExit(128 + number)
