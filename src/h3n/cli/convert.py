"""`h3n convert`: one treebank format into another, one kind of tree into the other."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Annotated, Literal

import typer

from h3n import formats, text
from h3n.cli.options import KeepGoing, TreebankFormat, output_format
from h3n.cli.terminal import Findings, progress, say
from h3n.errors import UsageError
from h3n.files import STANDARD
from h3n.formats import Format, Layout, Reading, Writing, read_both
from h3n.formats.options import BLANK
from h3n.trees import Sentence

BLANKS = "blanks"


def convert(
    source: Annotated[str, typer.Argument(metavar="IN", help="What to read; - is standard input.")],
    target: Annotated[str, typer.Argument(metavar="OUT", help="What to write; - is standard output.")],
    from_format: TreebankFormat = None,
    to_format: Annotated[str | None, output_format(formats.FORMATS)] = None,
    dependencies: Annotated[
        str | None, typer.Option(metavar="FILE", help="Dependencies for the trees in IN, sentence by sentence.")
    ] = None,
    strip_traces: Annotated[bool, typer.Option("--strip-traces", help="Leave out traces (-NONE-).")] = False,
    strip_functions: Annotated[
        bool, typer.Option("--strip-functions", help="Leave out function tags and indices: NP-SBJ-1 becomes NP.")
    ] = False,
    top: Annotated[str | None, typer.Option(metavar="LABEL", help="Put this label on top of every tree.")] = None,
    indent: Annotated[bool, typer.Option("--indent", help="Spread a tree over several lines.")] = False,
    blank: Annotated[
        str, typer.Option(metavar="TEXT", help="What to write for a blank inside a word in brackets.")
    ] = BLANK,
    all_escapes: Annotated[
        bool, typer.Option("--all-escapes", help="Undo and make also -LCB-, -LSB- and \\/ in words.")
    ] = False,
    layout: Annotated[
        Layout, typer.Option(help="Where bracketed trees end: on every line, by indentation, or anywhere.")
    ] = "auto",
    scheme: Annotated[
        str | None,
        typer.Option(help="Make the other tree: sd, ud1, ud2, zh, generic:LANG, a file of rules; or phrases."),
    ] = None,
    labels: Annotated[
        Literal["names", "main", "full"],
        typer.Option(help="With --scheme phrases: names (NP, VP, S), or relations without or with their subtype."),
    ] = "names",
    keep_going: KeepGoing = False,
) -> None:
    """Convert a treebank from one format into another, or one kind of tree into the other.

    Formats: brackets, spmrl, conllu, conllx, jsonl. Input may be compressed; output is if OUT ends in .gz, .xz, .bz2
    or .zst. Within one format line ends stay as they are. What the new format cannot show is counted on standard error.

    With --scheme, dependencies are made from phrases by the rules of a scheme, or phrases from dependencies.

    \b
    Examples:
      h3n convert wsj.mrg wsj.ptb --strip-traces --strip-functions --top ROOT
      h3n convert dev.ptb dev.jsonl --dependencies dev.conllu
      h3n convert dev.jsonl dev.conllu
      xzcat big.conllu.xz | h3n convert - big.jsonl.gz --from conllu
      h3n convert wsj.mrg wsj.conllu --scheme sd --strip-functions
      h3n convert treebank.ptb both.jsonl --scheme ud2 --keep-going
      h3n convert ewt.conllu ewt.ptb --scheme phrases --labels full
    """
    if not blank or set(blank) & set(" \t\r\n()"):
        raise UsageError(f"--blank {blank!r}: expected a text without blanks and round brackets, such as {BLANK}")
    findings = Findings()
    handler = findings if keep_going else None
    reading = Reading(
        layout=layout,
        all_escapes=all_escapes,
        strip_traces=strip_traces,
        strip_functions=strip_functions,
        on_problem=handler,
    )
    chosen = formats.format_named(to_format or formats.guess_format(target))
    newline = formats.newline_of(source) if chosen.name == (from_format or formats.format_to_read(source)) else "\n"
    writing = Writing(indent=indent, all_escapes=all_escapes, top=top, blank=blank, newline=newline)
    sentences = read_both(source, from_format, dependencies=dependencies, options=reading, on_mismatch=handler)
    unknown: Counter[str] = Counter()
    if scheme is not None:
        from h3n.convert.schemes import converted, maker

        sentences = converted(sentences, maker(scheme, labels=labels, unknown=unknown), on_problem=handler)
        if chosen.name == "conllu":
            sentences = _named(sentences, source)
    lost: Counter[str] = Counter()
    watched = _watched(progress(sentences, label="converting"), chosen, lost)
    formats.write(watched, target, format=chosen.name, options=writing)
    if scheme is not None:
        del lost["tree"], lost["dependencies"]  # the other tree is what was asked for
    if blanks := lost.pop(BLANKS, 0):
        words = f"{blanks} word{'s hold' if blanks > 1 else ' holds'} a blank"
        say(f"{words}, which {chosen.name} cannot show: written {blank!r} (--blank)")
    if lost:
        what = ", ".join(f"{name} (in {count} sentence{'s' if count > 1 else ''})" for name, count in lost.items())
        say(f"{chosen.name} cannot show and leaves out: {what}")
    if unknown:
        what = ", ".join(f"{name} ({count})" for name, count in unknown.most_common())
        say(f"no head rule, the default was taken: {what}")
    findings.finish()


def _named(sentences: Iterable[Sentence], source: str) -> Iterator[Sentence]:
    """Yield the sentences with a name and their text, without which CoNLL-U is not valid."""
    file = "" if source == STANDARD else f"{Path(source).name.partition('.')[0]}-"
    for number, sentence in enumerate(sentences, start=1):
        yield text.named(sentence, f"{file}{number}")


def _watched(sentences: Iterable[Sentence], target: Format, lost: Counter[str]) -> Iterator[Sentence]:
    """Yield the sentences and count what the target leaves out of them."""
    for sentence in sentences:
        lost.update(target.loses(sentence))
        if target.name in ("brackets", "spmrl"):
            lost[BLANKS] += sum(" " in word for word in sentence.words)
        yield sentence
