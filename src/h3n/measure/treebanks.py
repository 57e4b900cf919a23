"""The scores of a parser on several treebanks, by genre where they name one, and from raw text."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from h3n import formats
from h3n.evaluate import score_conll18
from h3n.measure.accuracy import Gold, read_gold
from h3n.measure.documents import read_documents
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
    for document in read_documents(path):
        gold += document.gold
        cut += [result.sentence for result in parser.parse("\n\n".join(document.paragraphs))]
        given += [result.sentence for result in parser.parse(document.gold)]
        if limit and len(gold) >= limit:
            break
    scores = score_conll18(gold, cut)
    names = ("Sentences", "Words", "UPOS", "XPOS", "UAS", "LAS")
    return {name: scores[name].f1 for name in names} | {"LAS of gold words": score_conll18(gold, given)["LAS"].f1}
