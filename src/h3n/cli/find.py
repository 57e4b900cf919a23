"""`h3n find`: phrases and words of treebank files by a pattern over both trees."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

import typer

from h3n import text
from h3n.cli.hits import Hit, Shown, show_hits
from h3n.convert.rules.finding import columns_of, compiled, fitting, link
from h3n.convert.rules.matching import Match
from h3n.errors import UsageError
from h3n.files import STANDARD
from h3n.formats import Reading, read_both
from h3n.trees import Sentence


def find(
    pattern: Annotated[str, typer.Argument(metavar="PATTERN", help="As in scheme files, and @ for dependencies.")],
    files: Annotated[list[str], typer.Argument(metavar="FILE...", help="Treebank files; - is standard input.")],
    from_format: Annotated[
        str | None, typer.Option("--from", "-f", metavar="FORMAT", help="Format of the files; else by their endings.")
    ] = None,
    dependencies: Annotated[
        str | None, typer.Option(metavar="FILE", help="Dependencies for the trees in FILE, sentence by sentence.")
    ] = None,
    strip_functions: Annotated[
        bool, typer.Option("--strip-functions", help="Leave out function tags and indices: NP-SBJ-1 is an NP.")
    ] = False,
    kind: Annotated[Shown | None, typer.Option("--to", "-t", help="Else by the output's ending, or table.")] = None,
    output: Annotated[str, typer.Option("--output", "-o", metavar="FILE", help="Where to.")] = STANDARD,
    limit: Annotated[int, typer.Option(min=0, help="How many to show; 0: all.")] = 100,
) -> None:
    """Find phrases and words of treebank files, or of parses, by a pattern over both trees; exit code 1 if none fit.

    A pattern is a node and its conditions: NP < PP is an NP with a PP child, NP @ nsubj one whose head word is an
    nsubj, NP @lemma dog one whose head word has that lemma, NN* @feature Number=Plur a plural. What starts with @ needs
    dependencies beside the phrases: JSON lines, or --dependencies. docs/corpus.md and docs/conversion.md explain the
    rest. A table has file, sentence (its sent_id, or its number), label, words and text, with tabs between.

    \b
    Examples:
      h3n find 'NP < PP' trees.ptb
      h3n find 'NP @ nsubj < PP' dev.ptb --dependencies dev.conllu
      h3n find 'VERB @lemma give @< (* @ iobj)' dev.conllu --limit 0 -o given.jsonl
      h3n find 'SBAR < (WHNP @ nsubj)' parsed.jsonl -o page.html
    """
    if dependencies is not None and len(files) > 1:
        raise UsageError(f"--dependencies is for one file, and {len(files)} are given; expected one FILE")
    fits = compiled(pattern)
    options = Reading(strip_traces=True, strip_functions=strip_functions)
    hits = (
        hit
        for file in files
        for number, sentence in enumerate(
            read_both(file, from_format, dependencies=dependencies, options=options), start=1
        )
        for hit in _hits(file, number, sentence, fits)
    )
    show_hits(hits, pattern, output, kind=kind, limit=limit)


def _hits(file: str, number: int, sentence: Sentence, fits: Match) -> Iterator[Hit]:
    for node in fitting(link(columns_of(sentence)), fits):
        yield Hit(
            place={"file": file, "sentence": sentence.sent_id or number},
            text=text.written(sentence),
            label=node.label,
            start=node.start,
            end=node.end,
            words=" ".join(sentence.words[node.start : node.end]),
            key=id(sentence),
            drawable=lambda: sentence,
        )
