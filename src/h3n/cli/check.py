"""`h3n check`: likely annotation errors of a treebank with both trees."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Annotated

import typer

from h3n.cli.options import TreebankFormat
from h3n.cli.terminal import progress, say
from h3n.errors import InputError
from h3n.files import STANDARD
from h3n.formats import Reading, read_both
from h3n.workbench import Finding, check_treebank


def check(
    file: Annotated[str, typer.Argument(metavar="FILE", help="A treebank; - is standard input.")],
    dependencies: Annotated[
        str | None, typer.Option(metavar="FILE", help="A file of dependencies for the trees in FILE, line by line.")
    ] = None,
    format_name: TreebankFormat = None,
    top: Annotated[
        int, typer.Option("--top", "-n", min=1, help="How many findings to list, the likeliest first.")
    ] = 100,
    least: Annotated[float, typer.Option("--least", help="The least suspicion that is listed.")] = 4.0,
    as_json: Annotated[bool, typer.Option("--json", help="Print a JSON object for each finding.")] = False,
) -> None:
    """List likely annotation errors of a treebank with both trees, the likeliest first.

    Each arc and phrase is judged by what stands in the same context elsewhere in the treebank, so that a small one says
    little. The number in front is the suspicion: the natural logarithm of how many times as likely the usual would be
    (4 is 50 times, 10 is 20,000 times). The exit code is 1 if something is listed.

    \b
    Examples:
      h3n check train.jsonl --top 400
      h3n check train.ptb --dependencies train.conllu --json
    """
    sentences = read_both(file, format_name, dependencies=dependencies, options=Reading(strip_traces=True))
    findings = check_treebank(progress(sentences, label="reading"))
    if not findings:
        raise InputError(f"{'standard input' if file == STANDARD else file}: no sentence to check")
    listed = [finding for finding in findings[:top] if finding.suspicion >= least]
    for finding in listed:
        typer.echo(_object(finding) if as_json else _line(finding))
    if not as_json:
        say(f"{len(listed)} of {len(findings)} arcs and phrases are listed")
    if listed:
        raise typer.Exit(1)


def _line(finding: Finding) -> str:
    name = finding.sent_id or finding.place or f"sentence {finding.sentence}"
    one = finding.end - finding.start == 1
    words = f"word {finding.end}" if one else f"words {finding.start + 1}-{finding.end}"
    return f"{finding.suspicion:6.2f}  {name}  {words}  {finding.what}  ({'; '.join(finding.reasons)})"


def _object(finding: Finding) -> str:
    place = None if finding.place is None else str(finding.place)
    return json.dumps(asdict(finding) | {"suspicion": round(finding.suspicion, 4), "place": place}, ensure_ascii=False)
