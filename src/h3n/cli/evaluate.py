"""`h3n evaluate`: scores of predicted trees against gold ones."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import replace
from enum import StrEnum
from typing import Annotated, Any

import typer

from h3n.cli.options import AsJson, TreebankFormat
from h3n.cli.terminal import progress, say
from h3n.errors import UsageError
from h3n.evaluate import BUILT_IN, Convention, Parameters, as_spmrl, load_parameters, usual_parameters, without_top
from h3n.formats import format_to_read
from h3n.measure.scores import Choices, ScoreReport, add_comparison, score_files


class Table(StrEnum):
    EVALB = "evalb"
    COMPACT = "compact"


class Metrics(StrEnum):
    ATTACHMENT = "attachment"
    CONLL18 = "conll18"


class Unparsed(StrEnum):
    SKIP = "skip"
    MISS = "miss"
    SPMRL = "spmrl"


class Punctuation(StrEnum):
    UNICODE = "unicode"
    TAG = "tag"
    RELATION = "relation"
    ALL = "all"


def evaluate(
    files: Annotated[
        list[str],
        typer.Argument(
            metavar="GOLD PRED | GOLD...",
            help="Files of gold and of predicted trees, - for standard input; with --model gold files alone.",
        ),
    ],
    model: Annotated[
        str | None,
        typer.Option("--model", "-m", metavar="NAME|DIR", help="Parse the gold files with this model and score that."),
    ] = None,
    decoders: Annotated[
        str | None, typer.Option(metavar="NAME,...", help="With --model: decoders, h3n/soft with a head score, or all.")
    ] = None,
    against: Annotated[
        str | None,
        typer.Option(metavar="OTHER", help="Compare with another prediction: differences with 95 % intervals."),
    ] = None,
    samples: Annotated[int, typer.Option(min=1, help="With --against: samples of the bootstrap.")] = 10_000,
    seed: Annotated[int, typer.Option(min=0, help="With --against: the seed of the samples.")] = 0,
    as_json: AsJson = False,
    format_name: TreebankFormat = None,
    limit: Annotated[int | None, typer.Option("--limit", "-K", min=1, help="Score only so many sentences.")] = None,
    parameters: Annotated[
        str,
        typer.Option("--parameters", "-p", metavar="NAME|FILE", help=f"One of {', '.join(BUILT_IN)}; or a file."),
    ] = "",
    spmrl: Annotated[bool, typer.Option("--spmrl", help="Score as EVALB_SPMRL does; so for the format spmrl.")] = False,
    unlabelled: Annotated[bool, typer.Option("--unlabelled", help="Compare brackets without their labels.")] = False,
    no_top: Annotated[
        bool, typer.Option("--no-top", help="Leave out brackets TOP, ROOT, S1, VROOT, no label.")
    ] = False,
    unparsed: Annotated[
        Unparsed, typer.Option(help="Sentences without a parse: left out, missed, or as EVALB_SPMRL -X counts them.")
    ] = Unparsed.SKIP,
    count_unparsed: Annotated[bool, typer.Option("-X", help="Same as --unparsed spmrl.")] = False,
    keep_going: Annotated[
        bool, typer.Option("--keep-going", help="Leave out sentences whose words differ, up to MAX_ERROR of them.")
    ] = False,
    report: Annotated[Table | None, typer.Option(help="Print EVALB's table, or EVALB_SPMRL's one line.")] = None,
    compact: Annotated[bool, typer.Option("-L", help="Same as --report compact.")] = False,
    leaf_ancestor: Annotated[bool, typer.Option("--leaf-ancestor", help="Add the leaf-ancestor score.")] = False,
    by_label: Annotated[bool, typer.Option("--by-label", help="Add brackets by label, arcs by relation.")] = False,
    by_length: Annotated[bool, typer.Option("--by-length", help="Add scores by sentence length.")] = False,
    punctuation: Annotated[
        Punctuation, typer.Option(help="How words are left out of the plain UAS and LAS.")
    ] = Punctuation.UNICODE,
    punctuation_tags: Annotated[
        str, typer.Option(metavar="'TAG ...'", help="The tags of punctuation, by default '' `` : , .")
    ] = "",
    ignore_subtypes: Annotated[
        bool, typer.Option("--ignore-subtypes", help="Compare relations up to their first colon.")
    ] = False,
    metrics: Annotated[
        Metrics, typer.Option(help="For dependencies; conll18 aligns words that were cut differently.")
    ] = Metrics.ATTACHMENT,
) -> None:
    """Score predicted trees against gold ones.

    Brackets are scored as EVALB does, dependencies by attachment, and files that carry both trees by both and by heads.
    Top brackets do not count and gold tags say what is punctuation, unless --parameters, --report or --spmrl asks for
    EVALB to the letter. A sentence whose words differ is an error that says where, unless a parameter file, --report or
    --keep-going asks for EVALB's way, which is to leave it out.

    \b
    Examples:
      h3n evaluate gold.ptb pred.ptb
      h3n evaluate gold.ptb pred.ptb --report evalb --parameters COLLINS.prm
      h3n evaluate gold.ptb pred.ptb --spmrl -X -L
      h3n evaluate gold.conllu pred.conllu --json
      h3n evaluate gold.conllu raw.conllu --metrics conll18
      h3n evaluate gold.ptb pred.ptb --against other.ptb
      h3n evaluate --model en gum/dev.ptb gum/dev.conllu ewt/dev.conllu --decoders all
    """
    if model is not None:
        from h3n.measure.model_scores import score_model

        chosen_decoders = decoders.split(",") if decoders else []
        _print(score_model(model, files, decoders=chosen_decoders, limit=limit), as_json=as_json)
        return
    if decoders is not None:
        raise UsageError("--decoders is for --model")
    if len(files) != 2:
        raise UsageError(f"expected two files, GOLD and PRED, or --model with gold files; {len(files)} given")
    gold, predicted = files
    if gold == predicted == "-":
        raise UsageError("only one of GOLD and PRED can be standard input")
    if against is not None and ("-" in (*files, against) or metrics is Metrics.CONLL18 or report or compact):
        raise UsageError("--against takes files alone, and neither --metrics conll18 nor --report")
    formats = (format_name or format_to_read(gold), format_name or format_to_read(predicted))
    spmrl = spmrl or formats == ("spmrl", "spmrl")
    style = "compact" if compact else report and report.value
    as_evalb = bool(style or parameters or spmrl)
    chosen = _parameters(parameters, as_evalb=as_evalb, spmrl=spmrl, unlabelled=unlabelled, no_top=no_top)
    choices = Choices(
        convention=Convention(
            parameters=replace(chosen, unparsed="spmrl" if count_unparsed else unparsed.value),
            punctuation=punctuation.value,
            punctuation_tags=frozenset(punctuation_tags.split()),
            subtypes=not ignore_subtypes,
        ),
        strict=not (keep_going or style == "evalb" or parameters not in {"", *BUILT_IN}),
        table=None if as_json else style,
        limit=limit,
        leaf_ancestor=leaf_ancestor,
        by_label=by_label,
        by_length=by_length,
        conll18=metrics is Metrics.CONLL18,
    )
    result = score_files(gold, predicted, names=formats, choices=choices, watch=_watched)
    if against is not None:
        add_comparison(
            result, (gold, predicted, against), format_name=format_name, choices=choices, samples=samples, seed=seed
        )
    _print(result, as_json=as_json)


def _watched(sentences: Iterable[Any], label: str) -> Iterable[Any]:
    return progress(sentences, label=label)


def _print(result: ScoreReport, *, as_json: bool) -> None:
    for problem in result.problems:
        say(problem)
    if as_json:
        typer.echo(json.dumps(result.numbers, indent=2, ensure_ascii=False))
    else:
        typer.echo("\n".join(result.lines))


def _parameters(name: str, *, as_evalb: bool, spmrl: bool, unlabelled: bool, no_top: bool) -> Parameters:
    if not as_evalb:
        usual = usual_parameters()
        return replace(usual, labelled=usual.labelled and not unlabelled)
    chosen = load_parameters(name or ("spmrl" if spmrl else "collins"))
    if spmrl:
        chosen = as_spmrl(chosen)
    if no_top:
        chosen = without_top(chosen)
    return replace(chosen, labelled=chosen.labelled and not unlabelled)
