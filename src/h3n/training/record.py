"""What a run was started with: options, vocabulary, data. A run goes on with the same, or when somebody says so.

The record is the file ``record.json`` of the run's folder; the vocabulary lies beside it in ``vocabulary.json``.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from h3n.config import Config, Treebank, build_options, config_of, expand, table_of
from h3n.engine.vocabulary import Vocabulary
from h3n.errors import H3nError, InputError
from h3n.files import checksum
from h3n.training.checkpoint import write_file
from h3n.training.data import Example

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
        if sentence.features is not None or sentence.lemmas is not None:
            known += (sentence.features, sentence.lemmas)
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
    """Return the record of a run, or None where there is none: before the first update, or from an older version."""
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
    there, here = (_flat(table_of(config_of(record.options))) for record in (stored, now))
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


def _flat(table: Mapping[str, Any], where: str = "") -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for name, value in table.items():
        flat |= _flat(value, f"{where}{name}.") if isinstance(value, dict) else {f"{where}{name}": value}
    return flat


def shorten(changes: Sequence[str]) -> str:
    """Return the first few of several differences in one line."""
    more = f"; and {len(changes) - NAMED} more" if len(changes) > NAMED else ""
    return "; ".join(changes[:NAMED]) + more
