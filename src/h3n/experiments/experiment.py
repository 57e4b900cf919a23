"""An experiment as read from its TOML file, checked key by key.

Text in braces is filled in: ``{variant}`` with the name of a variant (a language, say), ``{made}`` with the folder of
the files that the experiment makes. A file may be given as alternatives with ``|`` between them; the first that is
there counts, compressed or not.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, field, replace
from importlib import resources
from pathlib import Path
from typing import Annotated, Any, Literal

from h3n.config import Amount, Count, Share, Whole, Within, build_options
from h3n.errors import InputError, UnknownName, UsageError

Learned = Literal["constituents", "dependencies"]
BOTH: tuple[Learned, ...] = ("constituents", "dependencies")


@dataclass(frozen=True, slots=True, kw_only=True)
class Need:
    """A treebank that has to be there: prepared by a recipe of ``h3n prepare`` into a folder below ``$H3N_DATA``."""

    recipe: str
    folder: str = ""  # none: as the recipe is called
    options: str = ""  # of h3n prepare; {scheme} stands for the recipe's


@dataclass(frozen=True, slots=True, kw_only=True)
class Make:
    """A file to be made before training: the other tree of each sentence, by a conversion scheme or by ``phrases``."""

    source: str
    target: str
    scheme: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainSet:
    """Files to learn from that hold the same sentences."""

    files: tuple[str, ...]
    weight: Amount = 1.0
    limit: Whole = 0  # only the first sentences; 0: all


@dataclass(frozen=True, slots=True, kw_only=True)
class DevSet:
    """Files to measure on that hold the same sentences. On a test set nothing is chosen and nothing tuned."""

    name: str
    files: tuple[str, ...]
    limit: Whole = 0
    test: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """A parser to train, once with each seed. ``options`` are laid over the experiment's own."""

    name: str
    about: str = ""
    learns: tuple[Learned, ...] = BOTH
    options: dict[str, Any] = field(default_factory=dict)
    seeds: tuple[int, ...] = (1,)
    minutes: Annotated[float, Within(0)] = 0.0  # expected, on one core; 0: nobody has tried


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A line of the table: how the scores of a run's parser become trees."""

    label: str
    run: str
    decoder: str  # of `DECODERS`, or two of them, one for each tree: cky+mst
    head_score: Literal["arg-max", "soft", "order", "tree", "tree-order"] = "tree"
    weight: Share | None = None  # of spans against arcs; none: the best on dev for this very row


@dataclass(frozen=True, slots=True, kw_only=True)
class PaperRow:
    """A line of the paper's own table. Without a variant or a set it stands beside all of them."""

    label: str
    on: str
    figures: dict[str, float]
    variant: str = ""
    set: str = ""  # one of the dev sets' names


@dataclass(frozen=True, slots=True, kw_only=True)
class Bands:
    """What the measurement of speed by length reads: a folder with tokenised sentences, a file for each band."""

    folder: str
    model: str  # a bundled one by its name, a folder, or one on the hub
    limit: Whole = 0  # sentences of each band; 0: all
    sample: Whole = 16  # sentences of each band of long ones for the slowest decoder; 0: all
    repeat: Count = 3  # of the other decoders' runs the fastest counts


@dataclass(frozen=True, slots=True, kw_only=True)
class Experiment:
    """A question, what to train to answer it, and what the paper found."""

    name: str
    title: str
    question: str
    order: Whole = 100  # of its section on the page of results
    table: str = ""  # the paper's one that it mirrors
    budget: str = ""  # what was left out of the training data or time, if anything
    findings: str = ""  # what came out, in words
    columns: tuple[str, ...] = ("HAcc", "UAS", "LAS", "LP", "LR", "LF1", "sentences/s")
    plots: tuple[str, ...] = ("LF1", "LAS")
    needs: tuple[Need, ...] = ()
    variants: tuple[str, ...] = ()
    make: tuple[Make, ...] = ()
    train: tuple[TrainSet, ...] = ()
    dev: tuple[DevSet, ...] = ()
    options: dict[str, Any] = field(default_factory=dict)  # as in a file for h3n train
    runs: tuple[Run, ...] = ()
    rows: tuple[Row, ...] = ()
    paper: tuple[PaperRow, ...] = ()
    bands: Bands | None = None


def experiment_names() -> tuple[str, ...]:
    """Return the names of all experiments that come with h3n."""
    folder = resources.files(__package__) / "data"
    return tuple(sorted(f.name.removesuffix(".toml") for f in folder.iterdir() if f.name.endswith(".toml")))


def load_experiment(name: str) -> Experiment:
    """Return the experiment of this name, or that in a TOML file of the user's own: a name with ``.toml``."""
    if name.endswith(".toml"):
        try:
            text = Path(name).read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise InputError(f"{name}: cannot be read: {error}") from None
        return parse_experiment(text, name=Path(name).stem, place=name)
    if name not in experiment_names():
        raise UnknownName("experiment", name, experiment_names())
    text = (resources.files(__package__) / "data" / f"{name}.toml").read_text(encoding="utf-8")
    return parse_experiment(text, name=name, place=f"{name}.toml")


def parse_experiment(text: str, *, name: str, place: str) -> Experiment:
    """Return the experiment that a TOML text describes."""
    try:
        table = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise UsageError(f"{place}: not a TOML file: {error}") from None
    try:
        made = build_options(Experiment, {"name": name} | table)
    except UsageError as error:
        raise UsageError(f"{place}: {error}") from None
    _check(made, place=place)
    return replace(made, question=_flat(made.question), budget=_flat(made.budget), findings=made.findings.strip())


def _flat(text: str) -> str:
    return " ".join(text.split())


def _check(made: Experiment, *, place: str) -> None:
    from h3n.decode import DECODERS

    runs = [run.name for run in made.runs]
    if made.bands is None and not (made.train and made.dev and made.runs and made.rows):
        raise UsageError(f"{place}: expected [[train]], [[dev]], [[runs]] and [[rows]], or [bands]")
    if len(set(runs)) < len(runs):
        raise UsageError(f"{place}: two [[runs]] of one name; names: {', '.join(runs)}")
    if forbidden := {"data.train", "data.dev", "output"} & _given(made):
        said = ", ".join(sorted(forbidden))
        raise UsageError(f"{place}: options.{said}: expected [[train]] and [[dev]]; the output folder is not an option")
    for row in made.rows:
        if row.run not in runs:
            raise UsageError(f"{place}: row {row.label!r} is of run {row.run!r}; known: {', '.join(runs)}")
        if unknown := [part for part in row.decoder.split("+") if part not in DECODERS]:
            raise UsageError(f"{place}: row {row.label!r}: decoder {unknown[0]!r}; known: {', '.join(DECODERS)}")


def _given(made: Experiment) -> set[str]:
    """Return the options that the experiment sets, as far as they are its own business."""
    found: set[str] = set()
    for options in (made.options, *(run.options for run in made.runs)):
        data = options.get("data", {})
        found |= {*options, *(f"data.{name}" for name in data)}
    return found
