"""`h3n model`: what models there are and what they know."""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from h3n import models
from h3n.cli.options import AsJson
from h3n.cli.streams import printable
from h3n.cli.terminal import say
from h3n.errors import InputError, UsageError
from h3n.files import is_regular, read_regular, shown_name, written_folder
from h3n.models import CARD, LARGEST_CARD, SHA256, UNKNOWN, installed, locate, read_about

model = typer.Typer(add_completion=False, no_args_is_help=True, rich_markup_mode=None)
# Sentences that a model is tried with: many alphabets, long words, marks alone, and more pieces than a window holds.
ODD = (
    "a",
    "I can't .",
    "\u00e9\u00df \u8a9e\u6587 \U0001f600 \u202e",
    "\ufdfa \u0130 e\u0301 \u1e9e",
    "\u200b \u00ad",
    "[SEP] <s> </s> [MASK] <pad> [UNK]",
    "a" * 300,
    " ".join(["word", "2024", "!?"] * 200),
)
Name = Annotated[str, typer.Argument(metavar="NAME", help="A bundled model, a folder, or owner/name on the hub.")]


@model.callback()
def _group() -> None:
    """List, describe, export, calibrate and share models.

    \b
    Examples:
      h3n model list
      h3n model info en
      h3n model export en my-model --bits 16
      h3n model calibrate my-model dev.ptb dev.conllu --store
      h3n model push my-model me/my-model --folder ready
    """


@model.command(name="list")
def list_models(as_json: AsJson = False) -> None:
    """List the models that have a name: bundled ones, your own, and those of installed packages."""
    rows = list(_readable(installed()))
    if as_json:
        typer.echo(json.dumps(rows))
    elif not rows:
        say("no model is bundled with this version; `h3n train` makes one")
    for row in [] if as_json else rows:
        typer.echo(f"{row['name']:<10} {row['megabytes']:>6.1f} MB  {_phrase(row)}")


def _readable(folders: dict[str, Path]) -> Iterator[dict[str, Any]]:
    """Yield a row for each model that can be read, and say of the others why not."""
    for name, folder in folders.items():
        try:
            yield {"name": name, **_summary(folder)}
        except InputError as error:
            say(error)


@model.command()
def info(name: Name, as_json: AsJson = False) -> None:
    """Say what a model reads and what it can find, and show its model card."""
    folder = locate(name)
    about, found = read_about(folder), _summary(folder)
    if as_json:
        vocabulary = {
            key: about["vocabulary"].get(key) for key in ("labels", "relations", "tags", "upos", "features", "styles")
        }
        typer.echo(
            json.dumps(
                {
                    "name": shown_name(name),
                    "folder": shown_name(str(folder)),
                    **found,
                    **vocabulary,
                    "config": about["config"],
                }
            )
        )
        return
    rows = {
        "model": name,
        "folder": folder,
        "size": f"{found['megabytes']:.1f} MB",
        "encoder": found["encoder"],
        "decoder": _decoder(found),
        "finds": _phrase(found),
        "segmenter": found["segmenter"],
    }
    for title, value in rows.items():
        typer.echo(f"{title:<9} {printable(str(value))}")
    for title in ("labels", "relations", "tags", "upos", "features", "styles"):
        names = [one for one in about["vocabulary"].get(title, []) if one]
        if names:
            typer.echo(f"\n{title}: {printable(' '.join(map(str, names)))}")
    card = folder / CARD
    if is_regular(card):
        typer.echo(f"\n{read_regular(card, largest=LARGEST_CARD).decode(errors='backslashreplace').rstrip()}")


@model.command()
def export(
    name: Name,
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="Where to; made if need be, and must be empty.")],
    bits: Annotated[
        int | None, typer.Option(metavar="4|8|16|32", help="Round the weights to this many bits; else as they are.")
    ] = None,
    embedding_bits: Annotated[
        int | None, typer.Option(metavar="4|8|16|32", help="The same for a pretrained encoder's word pieces alone.")
    ] = None,
    inner_bits: Annotated[
        int | None, typer.Option(metavar="4|8|16|32", help="The same for the first matrices of its feed-forward steps.")
    ] = None,
) -> None:
    """Copy a model into a folder of your own, to change it, to move it, or to upload it to the hub.

    A model of 16 bits a weight is half as large as one of 32 and parses the same; one of 8 is a quarter and nearly so;
    one of 4 (4.5, with scales) is a seventh, and a little less accurate.
    """
    if bits is None and (embedding_bits is not None or inner_bits is not None):
        option = "--embedding-bits" if embedding_bits is not None else "--inner-bits"
        raise UsageError(f"{option} without --bits; expected both")
    source = locate(name)
    read_about(source)  # a folder that is not a model is refused before anything is copied
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise UsageError(f"{folder} is there already and not an empty folder; name another")
    with written_folder(folder) as draft:
        _copy(source, draft, bits, embedding_bits, inner_bits)
    say(f"{name} is in {folder}")


def _copy(source: Path, target: Path, bits: int | None, embedding_bits: int | None, inner_bits: int | None) -> None:
    if bits is None:
        models.copy(source, target)
        return
    from safetensors import SafetensorError

    from h3n.model.model import Model

    try:
        Model.load(source).save(target, bits=bits, embedding_bits=embedding_bits, inner_bits=inner_bits)
    except SafetensorError as error:
        raise OSError(f"{error}") from None
    if (source / CARD).is_file():
        shutil.copyfile(source / CARD, target / CARD)


@model.command()
def add(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="A model, or the folder of a training run.")],
    name: Annotated[str, typer.Argument(metavar="NAME", help="What to call it.")],
) -> None:
    """Keep a model of your own under a name: a copy in $H3N_MODELS, or else in ~/.local/share/h3n/models."""
    say(f"{name} is in {models.add(folder, name)}")


@model.command()
def verify(name: Name) -> None:
    """Check that a model is whole, by loading it, parsing odd sentences with it and writing what it finds."""
    from h3n.parser import load

    folder = locate(name)
    parser = load(folder)
    for result in parser.parse([words.split(" ") for words in ODD]):
        for written in (result.conllu, result.brackets, result.json):
            written()
    known = (
        "the weights are those that were saved" if SHA256 in read_about(folder) else "it was saved without a checksum"
    )
    say(f"{name} in {folder} is whole; {known}")


@model.command()
def calibrate(
    name: Name,
    files: Annotated[list[str], typer.Argument(metavar="FILE...", help="Gold sentences: brackets, CoNLL-U, or both.")],
    limit: Annotated[int, typer.Option(min=0, metavar="N", help="Only the first N sentences (0: all).")] = 0,
    plot: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Draw how often choices are right (.png, .svg, .pdf).")
    ] = None,
    store: Annotated[bool, typer.Option("--store", help="Write the fitted numbers into the model's options.")] = False,
    as_json: AsJson = False,
) -> None:
    """Measure how often a model is right where it says how sure it is, and fit its confidences.

    The table has the expected calibration error (ECE) of the confidences of arcs and spans, as they are and with a
    temperature (and, for spans, a score of no span) that is fitted on one half of the sentences for the other.
    """
    from h3n.measure.calibration import describe_calibration, measure_calibration, plot_calibration, store_fits
    from h3n.measure.plots import check_plot

    folder = locate(name)
    if plot is not None:
        check_plot(plot)
    found = measure_calibration(folder, files, limit=limit)
    if as_json:
        typer.echo(json.dumps({kind: asdict(one) for kind, one in found.items()}, indent=1))
    else:
        typer.echo(describe_calibration(found))
    if plot is not None:
        plot_calibration(found, plot)
    if store:
        store_fits(folder, found)


@model.command()
def push(
    name: Name,
    repository: Annotated[str, typer.Argument(metavar="OWNER/NAME", help="The repository on the hub.")],
    folder: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Write what would be sent there, and send nothing.")
    ] = None,
    private: Annotated[bool, typer.Option("--private", help="If the repository is new, make it private.")] = False,
) -> None:
    """Send a model to the Hugging Face hub, from where h3n.load("owner/name") gets it.

    The model needs a card, and you a token: `hf auth login`, or HF_TOKEN.
    """
    from h3n.model.model import Model
    from h3n.models import hub

    hub.check_repository(repository)
    source = locate(name)
    if UNKNOWN in hub.read_card(source):
        say(f"{source / CARD} still says {UNKNOWN} somewhere")
    Model.load(source)  # a damaged model is not sent
    with tempfile.TemporaryDirectory() as scratch:
        target = folder or Path(scratch) / "model"
        hub.write_for_hub(source, target, repository=repository)
        if folder is None:
            hub.upload(target, repository, private=private)
    done = f"{name} is on the hub as {repository}" if folder is None else f"{folder} is ready; nothing was sent"
    say(done)


def _summary(folder: Path) -> dict[str, Any]:
    from h3n.decode import usual_decoder
    from h3n.engine.saved import read_options, segmenter_of

    about, config, vocabulary = read_options(folder)
    phrases, dependencies = any(vocabulary.labels), bool(vocabulary.relations)
    size = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
    return {
        "megabytes": round(size / 1e6, 1),
        "encoder": f"{config.encoder.kind} {config.encoder.name}".strip(),
        "decoder": usual_decoder(config.decoding.decoder, phrases=phrases, dependencies=dependencies),
        "weight": config.decoding.weight if phrases and dependencies else None,
        "label_count": sum(1 for label in vocabulary.labels if label),
        "relation_count": len(vocabulary.relations),
        "tag_count": len(vocabulary.tags),
        "upos_count": len(vocabulary.upos),
        "segmenter": segmenter_of(folder, about).name,
    }


def _decoder(row: dict[str, Any]) -> str:
    """Return the decoder, and for one that finds both trees how it weighs them."""
    return row["decoder"] if row["weight"] is None else f"{row['decoder']}, spans weighted {row['weight']:g}"


def _phrase(row: dict[str, Any]) -> str:
    counts = ("label_count", "labels"), ("relation_count", "relations"), ("tag_count", "tags"), ("upos_count", "upos")
    return ", ".join(f"{row[key]} {name}" for key, name in counts if row[key])
