"""Options that several commands have, each declared once."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Any, Literal, TypeAlias

import typer

Model: TypeAlias = Annotated[
    str, typer.Option("--model", "-m", metavar="NAME|DIR", help="A bundled model, a folder, or owner/name.")
]
TextFormat: TypeAlias = Annotated[
    str | None,
    typer.Option("--from", "-f", metavar="FORMAT", help="text, lines, words, or a treebank's; else by the ending."),
]
TreebankFormat: TypeAlias = Annotated[
    str | None, typer.Option("--from", "-f", metavar="FORMAT", help="Format of the input; else by its ending.")
]
DrawnInto: TypeAlias = Annotated[
    str, typer.Option("--output", "-o", metavar="FILE", help="Where to; a folder/ for several SVG or PNG pictures.")
]
Decoder: TypeAlias = Annotated[
    str | None, typer.Option(metavar="NAME", help="auto, h3n, hpsg, cky, eisner or mst; else the model's own.")
]
Style: TypeAlias = Annotated[
    str | None, typer.Option(metavar="NAME", help="The treebank to annotate like, one that `h3n model info` lists.")
]
Device: TypeAlias = Annotated[str, typer.Option(help="auto, cpu, cuda, cuda:1, mps.")]
Precision: TypeAlias = Annotated[
    str, typer.Option(help="float32, int8 (a little less exact), or auto: int8 where it is faster.")
]
Retag: TypeAlias = Annotated[
    bool, typer.Option("--retag", help="Predict the tags of a treebank too; else those in it are kept.")
]
KeepGoing: TypeAlias = Annotated[
    bool, typer.Option("--keep-going", help="Report damaged sentences, leave them out and exit with 1 at the end.")
]
MaxWords: TypeAlias = Annotated[
    int, typer.Option(min=1, help="Longer sentences are given out unparsed, with a note, and exit code 1.")
]
MaxPieces: TypeAlias = Annotated[
    int, typer.Option(min=1, help="The same for a word that the model cuts into more pieces than this.")
]
Fit: TypeAlias = Annotated[
    int | None, typer.Option(metavar="PIXELS", help="Draw sentences that are wider than this in several rows.")
]
Width: TypeAlias = Annotated[int | None, typer.Option(help="Columns of pretty; else those of the terminal, or 80.")]
Newlines: TypeAlias = Annotated[
    Literal["paragraph", "sentence"],
    typer.Option(help="What a line end in running text is: inside a paragraph, or always the end of a sentence."),
]
AsJson: TypeAlias = Annotated[bool, typer.Option("--json", help="Print JSON.")]


def output_format(accepted: Iterable[str], *, otherwise: str = "else by the output's ending") -> Any:
    """Return the option --to of a command that writes these formats."""
    return typer.Option("--to", "-t", metavar="FORMAT", help=f"{', '.join(accepted)}; {otherwise}.")
