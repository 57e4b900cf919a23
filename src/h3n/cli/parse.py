"""`h3n parse`: text in, trees out."""

from __future__ import annotations

import gc
import io
import sys
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeAlias, TypeVar

import typer

from h3n import draw, formats, text
from h3n.cli.options import (
    Decoder,
    Device,
    Fit,
    KeepGoing,
    MaxPieces,
    MaxWords,
    Model,
    Newlines,
    Precision,
    Projective,
    Retag,
    Style,
    TextFormat,
    Width,
    output_format,
)
from h3n.cli.outputs import check_output, chosen_output, columns_of, in_colour, write_drawings, write_parts
from h3n.cli.terminal import Findings, UntilError, note_language, progress, say
from h3n.errors import InputError, UnknownName, UsageError
from h3n.evaluate import mark_tags
from h3n.files import STANDARD, shown_name, up_to_error
from h3n.formats.lines import read_limited, read_pieces
from h3n.formats.options import Problems, Reading
from h3n.outputs import OUTPUTS, Look, Output
from h3n.system import processors
from h3n.trees import Sentence

if TYPE_CHECKING:
    from h3n.parser import Result


Item = TypeVar("Item")
Source: TypeAlias = Callable[[text.Segmenter], Iterator[Sentence]]

# How sentences come as running text, in lines, and as words between blanks; all other inputs are formats of treebanks.
Cut: TypeAlias = Callable[[Iterable[str]], Iterator[Sentence]]
TEXTS: dict[str, Callable[[text.Segmenter, str], Cut]] = {
    "text": lambda segmenter, newlines: partial(segmenter.segment, newlines=newlines),
    "lines": lambda segmenter, _: segmenter.lines,
    "words": lambda _segmenter, _newlines: text.words,
}


def parse(
    file: Annotated[str, typer.Argument(metavar="[FILE]", help="What to parse; - is standard input.")] = STANDARD,
    given: Annotated[
        str | None, typer.Option("--text", metavar="TEXT", help="Parse this text in place of a file.")
    ] = None,
    model: Model = "en",
    input_format: TextFormat = None,
    to_format: Annotated[str | None, output_format(OUTPUTS)] = None,
    output: Annotated[
        str, typer.Option("--output", "-o", metavar="FILE", help="Where to; a folder/ for several SVG or PNG pictures.")
    ] = STANDARD,
    decoder: Decoder = None,
    head_score: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="What h3n takes heads by: tree, soft, arg-max, order or tree-order."),
    ] = None,
    projective: Projective = False,
    style: Style = None,
    device: Device = "cpu",
    threads: Annotated[
        int | None, typer.Option(min=1, help="Sentences parsed at the same time; by default as many as processors.")
    ] = None,
    precision: Precision = "auto",
    newlines: Newlines = "paragraph",
    retag: Retag = False,
    keep_going: KeepGoing = False,
    max_words: MaxWords = 2_000,
    max_pieces: MaxPieces = 1_000,
    width: Width = None,
    fit: Fit = None,
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
      h3n parse tweets.txt --newlines sentence -o tweets.conllu
      cat lines.txt | h3n parse - --from lines --to jsonl
      h3n parse --text "It smells good." -o picture.svg
      h3n parse letter.txt --confidence --fit 1000 -o letter.html
    """
    chosen = chosen_output(to_format, output)
    if confidence and not chosen.shades:
        shaded = ", ".join(name for name, one in OUTPUTS.items() if one.shades)
        raise UsageError(f"--confidence shades pictures, and {chosen.name} is none; accepted with --to: {shaded}")
    _check_decoder(decoder, chosen)
    check_output(output, pictures=chosen.kind == "picture")
    waiting = given is None and file == STANDARD and sys.stdin is not None and sys.stdin.isatty()
    findings = Findings()
    handler = findings if keep_going else None
    # What is wrong with the file is reported before the model is loaded; somebody who types is asked afterwards.
    source = None if waiting else open_input(file, given, input_format, handler, newlines=newlines)
    from h3n.parser import LOOK_AHEAD, load

    parser = load(
        model,
        device=device,
        threads=threads or processors(),
        precision=precision,
        max_words=max_words,
        max_pieces=max_pieces,
    )
    gc.freeze()  # what is loaded stays: to look through it for garbage again and again took a twentieth of the time
    note_language(model, parser.segmenter, input_format or _guessed(file))
    _check_model(model, parser.decoder_for(decoder), chosen)
    if source is None:
        say("type a text and press Enter; Ctrl-D ends")
        source = _typed if input_format is None else open_input(file, None, input_format, handler, newlines=newlines)
    sentences = source(parser.segmenter)
    first = [] if waiting else list(islice(sentences, 1))
    read = UntilError(chain(first, sentences))
    named = (text.named(sentence, str(number)) for number, sentence in enumerate(read, start=1))
    marked = (mark_tags(sentence, given=not retag) for sentence in named)
    ahead = 0 if waiting else LOOK_AHEAD
    results = parser.parse(
        marked,
        decoder=decoder,
        head_score=head_score,
        projective=projective or None,
        look_ahead=ahead,
        retag=retag,
        style=style,
    )
    results = _noted(results, unparsed := list[int]())
    if output != STANDARD or not sys.stdout.isatty():  # a bar would run into what is shown
        results = progress(results, label="parsing")
    title = "Text" if given is not None else shown_name(Path(file).name)
    look = Look(title=title, fit=fit, width=columns_of(output, width), colour=in_colour(output))
    if chosen.kind == "text":
        coloured = chosen.name == "pretty" and look.colour
        parts = (chosen.text_of(result, look) for result in results)
        write_parts(parts, output, flush=waiting, coloured=coloured)
    else:
        write_drawings(_trees(results, confidence=confidence), output, chosen=chosen, look=look)
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


def _check_decoder(decoder: str | None, chosen: Output) -> None:
    from h3n.decode import DECODERS

    if decoder is None:
        return
    if decoder not in DECODERS:
        raise UnknownName("decoder", decoder, DECODERS)
    if not chosen.needs <= DECODERS[decoder].finds:
        fitting = ", ".join(name for name, one in DECODERS.items() if chosen.needs <= one.finds)
        what = DECODERS[decoder].about
        raise UsageError(f"--decoder {decoder} finds the {what}, not all that {chosen.name} shows; accepted: {fitting}")


def _check_model(model: str, decoder: str, chosen: Output) -> None:
    from h3n.decode import DECODERS

    if not chosen.needs <= DECODERS[decoder].finds:
        what = DECODERS[decoder].about
        raise UsageError(f"model {model} finds the {what} (decoder {decoder}), not all that {chosen.name} shows")


def _typed(segmenter: text.Segmenter) -> Iterator[Sentence]:
    """Yield the sentences of what somebody types: each line is a text of its own, as it is answered by itself."""
    return chain.from_iterable(map(segmenter.segment, read_pieces(STANDARD, Problems(None))))


def open_input(
    file: str,
    given: str | None,
    input_format: str | None,
    handler: Findings | None = None,
    *,
    newlines: str = "paragraph",
) -> Source:
    """Return what yields the sentences of a text or a treebank: of a file, or of what is ``given``.

    The start of the file is read at once. How running text is segmented is the model's matter, and so given later.
    """
    if given is not None and file != STANDARD:
        raise UsageError(f"both FILE ({file}) and --text are given; expected one of them")
    name = input_format or _guessed(file)
    if name != "text" and newlines != "paragraph":
        raise UsageError(f"--newlines {newlines} for input of the format {name}; accepted with --from text")
    if name in TEXTS:
        read = read_pieces if name == "text" else read_limited
        pieces = _begun([given] if given is not None else read(file, Problems(handler)))
        return lambda segmenter: _segmented(pieces, TEXTS[name](segmenter, newlines))
    if name not in formats.FORMATS:
        raise UnknownName("format", name, [*TEXTS, *formats.FORMATS])
    options = Reading(on_problem=handler)
    source = io.StringIO(given) if given is not None else file
    sentences = _begun(formats.read(source, format=name, options=options))
    return lambda _: sentences


def _begun(items: Iterable[Item]) -> Iterator[Item]:
    """Return the items; the first of them is read now."""
    rest = iter(items)
    return chain(list(islice(rest, 1)), rest)


def _segmented(pieces: Iterable[str], cut: Cut) -> Iterator[Sentence]:
    """Yield the sentences of a text; what is wrong with it after those that stand before."""
    with up_to_error(pieces) as before:
        yield from cut(before)


def _guessed(file: str) -> str:
    try:
        return formats.guess_format(file)
    except UsageError:
        return "text"
