"""The figures of an English model's card: `python -m benchmarks.english [MODEL] [--against MODEL]`.

With the environment variable H3N_DATA naming a folder of treebanks, prints dev scores by treebank, and for GUM by
genre: gold words, no gold tags, the model's own decoder and style; and again with the treebank's own style, if the
model has it. Then GUM and EWT from raw text: CoNLL-2018 LAS with our sentences and words, beside the same measure with
gold ones. With --against, the difference to another model in the same table, such as the one before its weights were
rounded.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from h3n import formats
from h3n.evaluate import score_conll18
from h3n.measure.accuracy import Gold, read_gold
from h3n.text.documents import documents
from h3n.training.evaluation import Parsed, bare, decode_examples
from h3n.workbench.genres import genres

if TYPE_CHECKING:
    from h3n.parser import Parser


Scores = dict[str, float]


@dataclass(frozen=True, slots=True)
class TreebankRow:
    """The scores on a part of the data."""

    name: str
    sentences: int
    scores: Scores


def measure_treebanks(
    parser: Parser,
    treebanks: Mapping[str, Sequence[str]],
    *,
    decoder: str | None = None,
    limit: int = 0,
    styles: Mapping[str, str] | None = None,
) -> list[TreebankRow]:
    """Return a row for each treebank and for each genre that its sentences name: gold words, no gold tags.

    ``styles`` names the style of a treebank's annotation: if the model has it, one more row says what it finds in it.
    """
    rows = []
    for name, files in treebanks.items():
        gold = read_gold(parser, files, name=name, limit=limit)
        parsed = _parsed(parser, gold, decoder=decoder)
        rows.append(TreebankRow(name, len(parsed), gold.compare(parsed)))
        parts: dict[str, list[int]] = defaultdict(list)
        for at, genre in zip(range(len(parsed)), genres(formats.read(files[-1])), strict=False):
            parts[genre].append(at)
        for genre, numbers in sorted(parts.items()) if len(parts) > 1 else ():
            part = replace(gold, examples=[gold.examples[at] for at in numbers])
            scores = part.compare([parsed[at] for at in numbers])
            rows.append(TreebankRow(f"  {genre}", len(numbers), scores))
        style = (styles or {}).get(name)
        if style in parser.engine.vocabulary.styles:
            told = _parsed(parser, gold, decoder=decoder, style=style)
            rows.append(TreebankRow(f"{name}, --style {style}", len(told), gold.compare(told)))
    return rows


def _parsed(parser: Parser, gold: Gold, *, decoder: str | None, style: str | None = None) -> list[Parsed]:
    sentences = [bare(example.sentence, tags=False) for example in gold.examples]
    scored = parser.engine.score(sentences, styles=[style] * len(sentences))
    return decode_examples(parser, scored, parser.options(decoder=decoder))


def measure_raw_text(parser: Parser, path: Path, *, limit: int = 0) -> Scores:
    """Return CoNLL-2018 F1 scores on the text of a treebank's documents, and ``LAS of gold words`` beside them."""
    gold, cut, given = [], [], []
    for document in documents(formats.read(path)):
        gold += document.gold
        cut += [result.sentence for result in parser.parse("\n\n".join(document.paragraphs))]
        given += [result.sentence for result in parser.parse(document.gold)]
        if limit and len(gold) >= limit:
            break
    scores = score_conll18(gold, cut)
    names = ("Sentences", "Words", "UPOS", "XPOS", "UAS", "LAS")
    return {name: scores[name].f1 for name in names} | {"LAS of gold words": score_conll18(gold, given)["LAS"].f1}


TREEBANKS = {
    "GUM": ("gum/dev.ptb.xz", "gum/dev.conllu.xz"),
    "EWT": ("ud/en_ewt-ud-dev.conllu.xz",),
    "MASC": ("masc/dev.clean.ptb",),
    "GENIA": ("genia/dev.ptb.xz",),
    "CRAFT": ("craft/dev.clean.ptb.xz",),
}
STYLES = {"EWT": "ewt", "MASC": "masc", "CRAFT": "craft"}
SHOWN = {"UAS": "UAS", "LAS": "LAS", "LP": "LP", "LR": "LR", "LF1": "LF1", "tags": "XPOS", "upos": "UPOS"}
RAW = {"GUM": "gum/dev.conllu.xz", "EWT": "ud/en_ewt-ud-dev.conllu.xz"}  # treebanks that keep their raw text


def main(argv: list[str] | None = None) -> int:
    """Print the tables; return 0."""
    import h3n

    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("model", nargs="?", default="en")
    options.add_argument("--against", help="another model, whose differences are printed")
    options.add_argument("--decoder", help="another decoder than the model's own")
    options.add_argument("--precision", default="float32", help="float32 or int8")
    options.add_argument("--data", type=Path, default=os.environ.get("H3N_DATA"), help="folder of treebanks")
    options.add_argument("--limit", type=int, default=0, help="only the first sentences of each treebank")
    options.add_argument("--json", action="store_true")
    given = options.parse_args(argv)
    if given.data is None:
        print("not measured: name a folder of treebanks with --data or in H3N_DATA")
        return 0
    folder = Path(given.data)
    treebanks = {name: [str(folder / file) for file in files] for name, files in TREEBANKS.items()}
    model = h3n.load(given.model, precision=given.precision)
    rows = measure_treebanks(model, treebanks, decoder=given.decoder, limit=given.limit, styles=STYLES)
    text = {name: measure_raw_text(model, folder / file, limit=given.limit) for name, file in RAW.items()}
    if given.json:
        print(json.dumps({"rows": {row.name.strip(): row.scores for row in rows}, "text": text}, indent=1))
        return 0
    show(rows)
    if given.against is not None:
        print(f"\nless {given.against}:")
        rival = h3n.load(given.against)
        found = measure_treebanks(rival, treebanks, decoder=given.decoder, limit=given.limit, styles=STYLES)
        other = {row.name: row.scores for row in found}
        both = (row for row in rows if row.name in other)
        show([TreebankRow(row.name, row.sentences, less(row.scores, other[row.name])) for row in both])
    print("\nfrom raw text, F1 as in the CoNLL 2018 shared task")
    for name, scores in text.items():
        print(f"{name:<6}" + "  ".join(f"{metric} {value:.2f}" for metric, value in scores.items()))
    return 0


def less(mine: Scores, other: Scores) -> Scores:
    """Return the differences of scores that both have."""
    return {name: mine[name] - other[name] for name in mine if name in other}


def show(rows: list[TreebankRow]) -> None:
    """Print rows as a table."""
    print(f"{'dev':<20} {'sentences':>9} " + " ".join(f"{name:>6}" for name in SHOWN.values()))
    for row in rows:
        cells = [f"{row.scores[name]:6.2f}" if name in row.scores else " " * 6 for name in SHOWN]
        print(f"{row.name:<20} {row.sentences:>9} " + " ".join(cells))


if __name__ == "__main__":
    sys.exit(main())
