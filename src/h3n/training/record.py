"""What a run was started with (options, vocabulary, data) and what it measured so far.

A run goes on with the same options and data, or when the caller accepts the changes. The record is the file
``record.json`` of the run's folder; the vocabulary is beside it in ``vocabulary.json``, and ``metrics.jsonl`` has one
line for each check, from which curves are drawn.
"""

from __future__ import annotations

import hashlib
import io
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from h3n.config import Config, Treebank, build_options, config_of, expand, flattened, table_of
from h3n.engine.vocabulary import Vocabulary
from h3n.errors import H3nError, InputError, UsageError
from h3n.files import checksum
from h3n.training.checkpoint import write_file
from h3n.training.data import Example

METRICS = "metrics.jsonl"


def read_metrics(run: Path) -> list[dict[str, Any]]:
    """Return the record of a run so far; a last line cut short by an interruption is left out."""
    path = run / METRICS
    if not path.exists():
        return []
    rows: list[dict[str, Any]] = []
    lines = path.read_text(encoding="utf-8").splitlines()
    for number, line in enumerate(lines, start=1):
        try:
            rows.append(json.loads(line))
        except ValueError:
            if number < len(lines):
                raise InputError(f"{path}:{number}: not a line of JSON") from None
    return rows


def cut_metrics(run: Path, step: int) -> None:
    """Remove what was recorded after the checkpoint that a run goes on from."""
    rows = [row for row in read_metrics(run) if row["step"] <= step]
    write_file(run / METRICS, "".join(json.dumps(row) + "\n" for row in rows))


def add_metrics(run: Path, row: dict[str, Any]) -> None:
    """Add one line to the record."""
    rows = [*read_metrics(run), row]
    write_file(run / METRICS, "".join(json.dumps(row) + "\n" for row in rows))


def draw_curves(run: Path) -> Path:
    """Draw loss and scores over the run's updates into ``curves.png`` and return where that is."""
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ImportError:
        raise UsageError("drawing curves needs matplotlib: pip install 'h3n[plot]'") from None
    rows = read_metrics(run)
    figure = Figure(figsize=(9, 4), layout="constrained")
    FigureCanvasAgg(figure)
    losses, scores = figure.subplots(1, 2)
    losses.plot([row["step"] for row in rows], [row["loss"] for row in rows], marker=".")
    losses.set(title="training loss", xlabel="updates", yscale="log")
    for name in ("LF1", "UAS", "LAS", "heads", "tags"):
        points = [(row["step"], row[name]) for row in rows if name in row]
        if points:
            scores.plot(*zip(*points, strict=True), marker=".", label=f"{name} {points[-1][1]:.2f}")
    scores.set(title="dev", xlabel="updates", ylabel="percent")
    if any("LF1" in row or "UAS" in row for row in rows):
        scores.legend(loc="lower right")
    path = run / "curves.png"
    picture = io.BytesIO()
    figure.savefig(picture, dpi=120, format="png")
    write_file(path, picture.getvalue())
    return path


RECORD, VOCABULARY = "record.json", "vocabulary.json"

# Options that change neither what is learned nor which weights are the best.
MAY_CHANGE = frozenset(
    {
        "output",
        "batches.parse_words",
        "data.stream",
        "training.device",
        "training.patience",
        "training.save_every",
        "training.tensorboard",
        "training.threads",
        "training.tune",
    }
)
NAMED = 4  # differences in a message


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """The sentences of one part of the data, and the files they came from with their SHA-256."""

    sentences: int
    checksum: str
    files: dict[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """What has to stay the same from the first update of a run to its last."""

    options: dict[str, Any]
    batches_per_update: int  # of all processes together
    train: Part
    dev: Part


class Digest:
    """A SHA-256 of examples, which are added one by one."""

    def __init__(self) -> None:
        self._sum = hashlib.sha256()
        self.sentences = 0

    def add(self, example: Example) -> None:
        """Add what is learned from an example, or scored by it."""
        sentence = example.sentence
        known: tuple[object, ...] = (sentence.words, sentence.tags, sentence.upos, sentence.dependencies)
        if sentence.soft_labels is not None:
            known += (sentence.soft_labels,)
        rest = tuple(getattr(example, name) for name in example.__slots__ if name != "sentence")
        self._sum.update(repr((known, rest)).encode(errors="surrogatepass"))
        self.sentences += 1

    def passed(self, examples: Iterable[Example]) -> Iterator[Example]:
        """Yield examples, each added."""
        for example in examples:
            self.add(example)
            yield example

    def part(self, treebanks: Sequence[Treebank]) -> Part:
        """Return what was added, as the contents of these treebanks."""
        names = dict.fromkeys(name for treebank in treebanks for name in treebank.files)
        files = {name: checksum(expand(name)) for name in names if expand(name).is_file()}  # a pipe is read once
        return Part(sentences=self.sentences, checksum=self._sum.hexdigest(), files=files)


def describe_part(examples: Iterable[Example], treebanks: Sequence[Treebank]) -> Part:
    """Return the record of a part of the data."""
    digest = Digest()
    for example in examples:
        digest.add(example)
    return digest.part(treebanks)


def make_record(config: Config, processes: int, train: Part, dev: Part) -> Record:
    """Return the record of a run."""
    together = config.batches.accumulate * processes
    return Record(options=table_of(config), batches_per_update=together, train=train, dev=dev)


def write_record(folder: Path, record: Record, vocabulary: Vocabulary) -> None:
    """Write what a run was started with into its folder."""
    write_file(folder / RECORD, json.dumps(asdict(record), ensure_ascii=False, indent=1) + "\n")
    write_file(folder / VOCABULARY, json.dumps(vocabulary.to_json(), ensure_ascii=False) + "\n")


def read_record(folder: Path) -> Record | None:
    """Return the record of a run, or None where there is none yet: it is written before the first update."""
    table = _read_json(folder / RECORD)
    if table is None:
        return None
    try:
        record = build_options(Record, table)
        config_of(record.options)
        return record
    except H3nError as error:
        raise InputError(f"{folder / RECORD}: not the record of a run: {error}") from None


def read_vocabulary(folder: Path) -> Vocabulary | None:
    """Return the vocabulary a run was started with, or None where there is none."""
    table = _read_json(folder / VOCABULARY)
    if table is None:
        return None
    try:
        return Vocabulary.from_json(table)
    except (H3nError, TypeError, AttributeError) as error:
        raise InputError(f"{folder / VOCABULARY}: not a vocabulary: {error}") from None


def _read_json(path: Path) -> Any:
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    except (OSError, ValueError, RecursionError) as error:
        raise InputError(f"{path}: cannot be read: {error}") from None


def differences(stored: Record | None, now: Record) -> list[str]:
    """Return in which ways a run would go on with something else than it was started with."""
    if stored is None:
        return [f"{RECORD}, which says with what it was started, is missing"]
    there, here = (flattened(table_of(config_of(record.options))) for record in (stored, now))
    free = MAY_CHANGE | {"batches.accumulate", "data.train", "data.dev"}  # these are compared by what they lead to
    if not _rates_depend_on_epochs(here):
        free |= {"training.epochs"}
    changed = [
        f"option {name} was {json.dumps(there.get(name))} and is {json.dumps(value)}"
        for name, value in here.items()
        if name not in free and there.get(name) != value
    ]
    if stored.batches_per_update != now.batches_per_update:
        changed.append(f"batches per update were {stored.batches_per_update} and are {now.batches_per_update}")
    return changed + _other_data("train", stored.train, now.train) + _other_data("dev", stored.dev, now.dev)


def _rates_depend_on_epochs(options: Mapping[str, Any]) -> bool:
    """Return whether a longer run would have another learning rate in every update."""
    return bool(options["optimiser.schedule"] == "linear" or 0 < options["optimiser.warmup"] < 1)


def _other_data(name: str, there: Part, here: Part) -> list[str]:
    if there.checksum == here.checksum:
        return []
    touched = [file for file, value in here.files.items() if there.files.get(file, value) != value]
    if touched:
        return [f"data.{name}: {file} has other contents" for file in touched]
    return [f"data.{name} had {there.sentences} sentences and has {here.sentences} others"]


def shorten(changes: Sequence[str]) -> str:
    """Return the first few of several differences in one line."""
    more = f"; and {len(changes) - NAMED} more" if len(changes) > NAMED else ""
    return "; ".join(changes[:NAMED]) + more
