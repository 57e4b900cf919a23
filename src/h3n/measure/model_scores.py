"""Scores of a model on gold treebanks, each apart, by one or more decoders, as `h3n evaluate --model` prints them."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from h3n.config import Treebank
from h3n.errors import UsageError
from h3n.formats import format_to_read
from h3n.measure.scores import ScoreReport

if TYPE_CHECKING:
    from h3n.training.comparison import Outcome

COLUMNS = ("LP", "LR", "LF1", "UAS", "LAS", "XPOS", "UPOS", "right_heads")
KINDS = {"brackets": {"phrases"}, "spmrl": {"phrases"}, "jsonl": {"phrases", "dependencies"}}


def score_model(model: str, files: Sequence[str], *, decoders: Sequence[str], limit: int | None) -> ScoreReport:
    """Return the scores of a model on the treebanks that these files make up."""
    treebanks = [Treebank(files=group, limit=limit or 0) for group in group_files(files)]
    from h3n.parser import load
    from h3n.training import load_examples
    from h3n.training.comparison import compare_ways, ways_of
    from h3n.training.data import treebank_names

    loaded = load(model, precision="float32", max_words=sys.maxsize, max_pieces=sys.maxsize)
    config = loaded.engine.config
    ways = ways_of(loaded, decoders)
    printed = ScoreReport(numbers={"model": model, "tags": _tags_note(config.encoder.tags), "treebanks": {}})
    for treebank, name in zip(treebanks, treebank_names(treebanks), strict=True):
        examples = load_examples([treebank], data=config.data)
        if not examples:
            raise UsageError(f"{treebank.files[0]}: no sentence to score")
        _add_treebank(printed, name, treebank.files, compare_ways(loaded, examples, ways))
    printed.lines += ["", f"tags: {printed.numbers['tags']}"]
    return printed


def _tags_note(reads_tags: bool) -> str:
    return "given to the model, which reads them" if reads_tags else "the model's own"


def group_files(files: Sequence[str]) -> list[tuple[str, ...]]:
    """Return the files of each treebank: files in a row that have different kinds of trees belong
    together, and a kind that is there already begins the next treebank."""
    groups: list[list[str]] = []
    kinds: set[str] = set()
    for file in files:
        if file == "-":
            raise UsageError("with --model a treebank is a file; standard input is not accepted")
        kind = KINDS.get(format_to_read(file), {"dependencies"})
        if not groups or kinds & kind:
            groups.append([])
            kinds = set()
        groups[-1].append(file)
        kinds |= kind
    return [tuple(group) for group in groups]


def _add_treebank(printed: ScoreReport, name: str, files: Sequence[str], outcomes: Sequence[Outcome]) -> None:
    rows = [_row(outcome) for outcome in outcomes]
    totals = [outcome.totals for outcome in outcomes if outcome.problem is None]
    sentences = totals[0].sentences if totals else 0
    printed.numbers["treebanks"][name] = {"files": list(files), "sentences": sentences, "rows": rows}
    columns = [column for column in COLUMNS if any(column in row for row in rows)]
    heading = f"{'decoder':10}{'head score':12}" + "".join(f"{column.replace('_', ' '):>12}" for column in columns)
    printed.lines += [""] * bool(printed.lines) + [f"{name}: {sentences} sentences", heading + f"{'seconds':>10}"]
    printed.lines += [_shown(row, columns) for row in rows]


def _row(outcome: Outcome) -> dict[str, Any]:
    way = outcome.way
    row: dict[str, Any] = {"decoder": way.decoder, "head_score": way.head_score or None}
    if outcome.problem is not None:
        return row | {"problem": outcome.problem}
    scores = {name: round(value, 4) for name, value in outcome.scores().items()}
    return row | scores | {"seconds": round(outcome.seconds, 2)}


def _shown(row: dict[str, Any], columns: Sequence[str]) -> str:
    start = f"{row['decoder']:10}{row['head_score'] or '':12}"
    if "problem" in row:
        return f"{start}  not run: {row['problem']}"
    figures = (f"{row[column]:12.2f}" if column in row else f"{'-':>12}" for column in columns)
    return start + "".join(figures) + f"{row['seconds']:10.2f}"
