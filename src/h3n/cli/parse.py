"""`h3n parse`: text in, trees out."""

from __future__ import annotations

import gc
import io
import os
import shutil
import sys
from collections.abc import Callable, Iterable, Iterator
from enum import StrEnum
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from h3n import draw, formats, text
from h3n.cli.outputs import DRAWINGS, PICTURES, Look, check_output, format_of, write_drawings, write_parts
from h3n.cli.progress import progress
from h3n.cli.terminal import Findings, UntilError, note_language, say
from h3n.errors import InputError, UnknownName, UsageError
from h3n.evaluate import mark_tags
from h3n.files import STANDARD, shown_name, up_to_error
from h3n.formats.lines import read_limited, read_pieces
from h3n.formats.options import Problems, Reading
from h3n.trees import Sentence

if TYPE_CHECKING:
    from h3n.parser import Result


class OutputFormat(StrEnum):
    PRETTY = "pretty"
    JOINT = "joint"
    BRACKETS = "brackets"
    CONLLU = "conllu"
    CONLLX = "conllx"
    JSONL = "jsonl"
    SVG = "svg"
    HTML = "html"
    PNG = "png"
    LATEX = "latex"
    FOREST = "forest"
    TIKZ = "tikz"


SHADED = (*PICTURES, "html")

# How words come in running text, in lines and between blanks; all other inputs are formats of treebanks.
TEXTS: dict[str, Callable[[Iterable[str]], Iterator[Sentence]]] = {
    "text": text.segment,
    "lines": text.lines,
    "words": text.words,
}


def parse(
    file: Annotated[str, typer.Argument(metavar="[FILE]", help="What to parse; - is standard input.")] = STANDARD,
    given: Annotated[
        str | None, typer.Option("--text", metavar="TEXT", help="Parse this text in place of a file.")
    ] = None,
    model: Annotated[
        str, typer.Option("--model", "-m", metavar="NAME|DIR", help="A bundled model, a folder, or owner/name.")
    ] = "en",
    input_format: Annotated[
        str | None,
        typer.Option(
            "--from",
            "-f",
            metavar="FORMAT",
            help="text, lines, words, or a treebank's; else by FILE's ending, or text.",
        ),
    ] = None,
    output_format: Annotated[
        OutputFormat | None, typer.Option("--to", "-t", help="Format of the output; else by its ending, or pretty.")
    ] = None,
    output: Annotated[
        str, typer.Option("--output", "-o", metavar="FILE", help="Where to; a folder/ for several SVG or PNG pictures.")
    ] = STANDARD,
    decoder: Annotated[
        str | None, typer.Option(metavar="NAME", help="auto, h3n, hpsg, cky, eisner or mst; else the model's own.")
    ] = None,
    head_score: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="What h3n takes heads by: tree, soft, arg-max, order or tree-order."),
    ] = None,
    style: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="The treebank to annotate like, one that `h3n model info` lists."),
    ] = None,
    device: Annotated[str, typer.Option(help="auto, cpu, cuda, cuda:1, mps.")] = "cpu",
    threads: Annotated[
        int | None, typer.Option(min=1, help="Sentences parsed at the same time; by default as many as processors.")
    ] = None,
    precision: Annotated[
        str, typer.Option(help="float32, int8 (a little less exact), or auto: int8 where it is faster.")
    ] = "auto",
    retag: Annotated[
        bool, typer.Option("--retag", help="Predict the tags of a treebank too; else those in it are kept.")
    ] = False,
    keep_going: Annotated[
        bool, typer.Option("--keep-going", help="Report damaged sentences, leave them out and exit with 1 at the end.")
    ] = False,
    max_words: Annotated[
        int, typer.Option(min=1, help="Longer sentences are given out unparsed, with a note, and exit code 1.")
    ] = 2_000,
    max_pieces: Annotated[
        int, typer.Option(min=1, help="The same for a word that the model cuts into more pieces than this.")
    ] = 1_000,
    width: Annotated[int | None, typer.Option(help="Columns of pretty; else those of the terminal, or 80.")] = None,
    fit: Annotated[
        int | None, typer.Option(metavar="PIXELS", help="Draw sentences that are wider than this in several rows.")
    ] = None,
    confidence: Annotated[
        bool, typer.Option("--confidence", help="Shade what the model is not sure of, in svg, png and html.")
    ] = False,
) -> None:
    """Parse text, or sentences that are split already: phrase structure and dependencies as one tree.

    Input formats: text (running English text), lines (one sentence on each line), words (one sentence on each line,
    its words between blanks), and brackets, conllu, conllx, spmrl, jsonl, whose words and tags are kept and whose trees
    are made anew; a comment says that tags were given, and --retag predicts them. Output is one item per sentence, in
    order; a blank line stays blank. Files of any size are streamed. At a damaged sentence, all before it is parsed and
    written before the error is said; --keep-going leaves it out and goes on.

    \b
    Examples:
      h3n parse --text "She is carefully making the cake."
      h3n parse book.txt -o book.conllu
      h3n parse dev.conllu --to brackets -o dev.ptb
      cat lines.txt | h3n parse - --from lines --to jsonl
      h3n parse --text "It smells good." -o picture.svg
      h3n parse letter.txt --confidence --fit 1000 -o letter.html
    """
    chosen = output_format or OutputFormat(format_of(output, list(OutputFormat)))
    if confidence and chosen not in SHADED:
        raise UsageError(
            f"--confidence shades pictures, and {chosen.value} is none; accepted with --to: {', '.join(SHADED)}"
        )
    _check_decoder(decoder, chosen)
    check_output(output, pictures=chosen in PICTURES)
    waiting = given is None and file == STANDARD and sys.stdin is not None and sys.stdin.isatty()
    findings = Findings()
    handler = findings if keep_going else None
    sentences = _typed() if waiting and input_format is None else read_input(file, given, input_format, handler)
    if waiting:
        say("type a text and press Enter; Ctrl-D ends")
    else:
        first = list(islice(sentences, 1))  # what is wrong with the file is said before the model is loaded
        sentences = chain(first, sentences)
    from h3n.parser import LOOK_AHEAD, load

    parser = load(
        model,
        device=device,
        threads=threads or _processors(),
        precision=precision,
        max_words=max_words,
        max_pieces=max_pieces,
    )
    gc.freeze()  # what is loaded stays: to look through it for garbage again and again took a twentieth of the time
    note_language(model, input_format or _guessed(file))
    _check_model(model, parser.model.decoder_for(decoder), chosen)
    read = UntilError(sentences)
    marked = (mark_tags(sentence, given=not retag) for sentence in read)
    ahead = 0 if waiting else LOOK_AHEAD
    results = parser.parse(marked, decoder=decoder, head_score=head_score, look_ahead=ahead, retag=retag, style=style)
    results = _noted(results, unparsed := list[int]())
    if output != STANDARD or not sys.stdout.isatty():  # a bar would run into what is shown
        results = progress(results, label="parsing")
    if chosen in DRAWINGS:
        look = Look(title="Text" if given is not None else shown_name(Path(file).name), fit=fit)
        write_drawings(_trees(results, confidence=confidence), output, kind=chosen.value, look=look)
    else:
        coloured = chosen is OutputFormat.PRETTY and _in_colour(output)
        write_parts(map(_writer(chosen, output, width), results), output, flush=waiting, coloured=coloured)
    if read.error is not None:
        raise InputError(f"{read.error}; what stands before it is parsed and written (--keep-going goes on)")
    findings.finish()
    if not waiting and not first:
        say(f"{_source(file, given)}: no sentence to parse")
    if unparsed:
        raise typer.Exit(1)


def _trees(results: Iterable[Result], *, confidence: bool) -> Iterator[tuple[int, draw.Drawable, str]]:
    """Yield what is drawn: number, tree and text of each sentence."""
    for number, result in enumerate(results, start=1):
        yield number, result.with_confidence if confidence else result.drawable, result.text


def _noted(results: Iterable[Result], unparsed: list[int]) -> Iterator[Result]:
    """Yield the results, saying which of them were not parsed and why, and keeping their numbers."""
    for number, result in enumerate(results, start=1):
        if result.note is not None:
            option = result.note.replace("(max_words)", "(--max-words)").replace("(max_pieces)", "(--max-pieces)")
            say(f"sentence {number}: {option}")
            unparsed.append(number)
        yield result


def _source(file: str, given: str | None) -> str:
    """Return what the input is called in a message."""
    if given is not None:
        return "--text"
    return "standard input" if file == STANDARD else file


def _processors() -> int:
    """Return how many processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _check_decoder(decoder: str | None, chosen: OutputFormat) -> None:
    from h3n.decode import DECODERS

    if decoder is None:
        return
    if decoder not in DECODERS:
        raise UnknownName("decoder", decoder, DECODERS)
    if not _shown(chosen) <= set(DECODERS[decoder].needs):
        fitting = [name for name, one in DECODERS.items() if _shown(chosen) <= set(one.needs)]
        what = DECODERS[decoder].finds
        raise UsageError(
            f"--decoder {decoder} finds the {what}, not all that {chosen.value} shows; accepted: {', '.join(fitting)}"
        )


def _check_model(model: str, decoder: str, chosen: OutputFormat) -> None:
    from h3n.decode import DECODERS

    if not _shown(chosen) <= set(DECODERS[decoder].needs):
        what = DECODERS[decoder].finds
        raise UsageError(f"model {model} finds the {what} (decoder {decoder}), not all that {chosen.value} shows")


def _shown(chosen: OutputFormat) -> set[str]:
    """Return the scores that a decoder must look at to find what the format cannot do without."""
    return {
        OutputFormat.JOINT: {"full", "arc"},
        OutputFormat.BRACKETS: {"full"},
        OutputFormat.CONLLU: {"arc"},
        OutputFormat.CONLLX: {"arc"},
    }.get(chosen, set())


def _typed() -> Iterator[Sentence]:
    """Yield the sentences of what somebody types: each line is a text of its own, as it is answered by itself."""
    return chain.from_iterable(map(text.segment, read_pieces(STANDARD, Problems(None))))


def read_input(
    file: str, given: str | None, input_format: str | None, handler: Findings | None = None
) -> Iterator[Sentence]:
    """Return the sentences of a text or a treebank: of a file, or of what is ``given``."""
    if given is not None and file != STANDARD:
        raise UsageError(f"both FILE ({file}) and --text are given; expected one of them")
    name = input_format or _guessed(file)
    if name in TEXTS:
        reader = read_pieces if name == "text" else read_limited
        return _segmented([given] if given is not None else reader(file, Problems(handler)), TEXTS[name])
    if name not in formats.FORMATS:
        raise UnknownName("format", name, [*TEXTS, *formats.FORMATS])
    options = Reading(on_problem=handler)
    return formats.read(io.StringIO(given) if given is not None else file, format=name, options=options)


def _segmented(pieces: Iterable[str], segment: Callable[[Iterable[str]], Iterator[Sentence]]) -> Iterator[Sentence]:
    """Yield the sentences of a text; what is wrong with it after those that stand before."""
    with up_to_error(pieces) as before:
        yield from segment(before)


def _guessed(file: str) -> str:
    try:
        return formats.guess_format(file)
    except UsageError:
        return "text"


def _writer(chosen: OutputFormat, output: str, width: int | None) -> Callable[[Result], str]:
    """Return the function that makes text of a result, line end included."""
    if chosen is not OutputFormat.PRETTY:
        return WRITERS[chosen]
    to_terminal = output == STANDARD and sys.stdout.isatty()
    columns = width or (max(draw.NARROWEST, shutil.get_terminal_size().columns) if to_terminal else 80)
    return lambda result: result.pretty(width=columns, colour=_in_colour(output)) + "\n"


def _in_colour(output: str) -> bool:
    return output == STANDARD and sys.stdout.isatty() and not os.environ.get("NO_COLOR")


def _conllx(result: Result) -> str:
    stream = io.StringIO()
    formats.write([result.sentence], stream, format="conllx")
    return stream.getvalue()


WRITERS: dict[OutputFormat, Callable[[Result], str]] = {
    OutputFormat.JOINT: lambda result: result.joint_brackets() + "\n",
    OutputFormat.BRACKETS: lambda result: result.brackets() + "\n",
    OutputFormat.CONLLU: lambda result: result.conllu(),
    OutputFormat.CONLLX: _conllx,
    OutputFormat.JSONL: lambda result: result.json() + "\n",
}
