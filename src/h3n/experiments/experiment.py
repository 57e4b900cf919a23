"""What an experiment is: a question and what to do to answer it, of one of two kinds.

A `Comparison` trains parsers and scores them; a `SpeedTest` times one parser on sentences of different lengths. Text in
braces is filled in: ``{variant}`` with the name of a variant (a language, say), ``{made}`` with the folder of the files
that the experiment makes. A file may be given as alternatives with ``|`` between them; the first that is there counts,
compressed or not.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, Any, Literal

from h3n.config import Amount, Count, Share, Whole, Within

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
    against: str = ""  # the label of another row, to which the difference is shown


@dataclass(frozen=True, slots=True, kw_only=True)
class PaperRow:
    """A line of the paper's own table. Without a variant or a set it stands beside all of them."""

    label: str
    on: str
    figures: dict[str, float]
    variant: str = ""
    set: str = ""  # one of the dev sets' names


@dataclass(frozen=True, slots=True, kw_only=True)
class Experiment:
    """What experiments of both kinds have. ``source`` is what ``h3n experiments run`` was told: a name or a file."""

    name: str
    source: str
    title: str
    question: str
    order: Whole = 100  # of its section on the page of results
    table: str = ""  # the paper's one that it mirrors
    budget: str = ""  # what was left out of the training data or time, if anything
    findings: str = ""  # what came out, in words
    needs: tuple[Need, ...] = ()
    variants: tuple[str, ...] = ()

    @property
    def is_own(self) -> bool:
        """Whether it is in a file of the user's."""
        return self.source.endswith(".toml")


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison(Experiment):
    """Parsers to train, and rows of a table to measure."""

    columns: tuple[str, ...] = ("HAcc", "heads right", "UAS", "LAS", "LP", "LR", "LF1", "sentences/s")
    plots: tuple[str, ...] = ("LF1", "LAS")
    make: tuple[Make, ...] = ()
    train: tuple[TrainSet, ...]
    dev: tuple[DevSet, ...]
    options: dict[str, Any] = field(default_factory=dict)  # as in a file for h3n train
    runs: tuple[Run, ...]
    rows: tuple[Row, ...]
    paper: tuple[PaperRow, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class SpeedTest(Experiment):
    """A parser to time: ``folder`` has tokenised sentences, a file for each band of lengths."""

    folder: str
    model: str  # a bundled one by its name, a folder, or one on the hub
    limit: Whole = 0  # sentences of each band; 0: all
    sample: Whole = 16  # sentences of each band of long ones for the slowest decoder; 0: all
    repeat: Count = 3  # of the other decoders' runs the fastest counts
