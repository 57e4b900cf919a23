"""A run made ready: its folder claimed, its vocabulary counted, its network built or taken from a checkpoint."""

from __future__ import annotations

import json
from array import array
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray

from h3n.config import Config, expand, table_of
from h3n.engine.pieces import Numbers, Tokenizer
from h3n.engine.static import keep_pieces
from h3n.engine.vocabulary import Vocabulary, count_vocabulary
from h3n.errors import InputError, UsageError, first_line
from h3n.files import remove_drafts, restore_folder
from h3n.model.features import read_pieces
from h3n.model.model import Model
from h3n.model.network import Network, build_network
from h3n.models import locate
from h3n.text import ENGLISH
from h3n.training.checkpoint import (
    Position,
    last_checkpoint,
    load_checkpoint,
    write_file,
)
from h3n.training.data import Example, Numbered, number, seen
from h3n.training.disk import DiskExamples
from h3n.training.events import Listener, Note
from h3n.training.optimiser import make_optimiser
from h3n.training.plan import choose_batch_words, plan_epoch, updates_of
from h3n.training.processes import Processes, choose_device, set_threads
from h3n.training.record import (
    Digest,
    Record,
    cut_metrics,
    describe_part,
    differences,
    make_record,
    read_record,
    read_vocabulary,
    shorten,
    write_record,
)

KINDS = ("styles", "labels", "relations", "tags", "upos")  # of names that a network has a place for


@dataclass(frozen=True, slots=True, kw_only=True)
class Sizes:
    """What batches are planned by, of every training example: words, what the encoder reads, how often it is seen."""

    lengths: Numbers
    widths: Numbers
    weights: NDArray[np.float64]


@dataclass(slots=True)
class Run:
    """Everything a run needs at hand. Only ``position`` changes, besides weights and the optimiser's state."""

    folder: Path
    config: Config
    model: Model
    optimiser: torch.optim.Optimizer
    train: Sequence[Numbered]
    sizes: Sizes
    dev: Sequence[Example]
    here: Processes
    report: Listener
    total: int = 0
    position: Position = field(default_factory=Position)

    @property
    def network(self) -> Network:
        return self.model.network


def prepare(
    config: Config,
    examples: Iterable[Example],
    dev: Sequence[Example],
    *,
    here: Processes,
    resume: bool,
    accept_changes: bool = False,
    report: Listener,
) -> Run:
    """Return a run ready to start, or to go on where its last checkpoint stands."""
    folder = Path(config.output)
    checkpoint = _claim(folder, here=here, resume=resume)
    set_threads(config, here)
    start = _load_start(config)
    if start is not None:
        config = replace(config, encoder=start.config.encoder, scorers=start.config.scorers, words=start.config.words)
    digest = Digest()
    counted = count_vocabulary(
        map(seen, digest.passed(_short_enough(examples, config.data.longest))),
        keep_words=config.encoder.kind != "pretrained",
        keep_characters=config.encoder.characters != "none" or config.words.learned,
        keep_features=bool(config.encoder.fed or config.words.features),
        keep_lemmas=bool(config.words.lemmas),
    )
    if config.encoder.vectors and expand(config.encoder.vectors).is_dir():
        pieces = read_pieces(expand(config.encoder.vectors))
        counted = replace(counted, pieces=keep_pieces(counted.words, pieces))
    vocabulary = counted if start is None else _taken_over(start, counted, report=report)
    train, checked = digest.part(config.data.train), describe_part(dev, config.data.dev)
    record = make_record(config, here.count, train, checked)
    if checkpoint is not None:
        vocabulary = _compare(folder, record, vocabulary, accept=accept_changes, report=report)
    run = _build(config, examples, dev, vocabulary=vocabulary, here=here, report=report, start=start)
    if checkpoint is not None:
        run.position = load_checkpoint(checkpoint, run.network, run.optimiser)
        report(Note(text=f"going on from {checkpoint} (update {run.position.step})"))
    elif resume:
        report(Note(text=f"nothing to go on from in {folder}: starting anew"))
    if here.first:
        cut_metrics(folder, run.position.step - run.position.is_due)  # a check that was not saved is done again
        write_file(folder / "config.json", json.dumps(table_of(config), indent=1) + "\n")
        write_record(folder, record, vocabulary)
    report(Note(text=_summary(run, vocabulary)))
    if unknown := _never_seen(dev, vocabulary):
        report(Note(text=f"in dev but not in training, so never found: {unknown}"))
    return run


def _claim(folder: Path, *, here: Processes, resume: bool) -> Path | None:
    """Return the checkpoint to go on from, None at the start; refuse to overwrite another run."""
    if here.first:
        remove_drafts(folder)
        for name in ("best", "model"):
            restore_folder(folder / name)
    checkpoint = last_checkpoint(folder)
    if checkpoint is not None and not resume:
        raise UsageError(f"{folder} holds a run already; --resume goes on with it, --set output=... starts elsewhere")
    return checkpoint


def _compare(folder: Path, record: Record, counted: Vocabulary, *, accept: bool, report: Listener) -> Vocabulary:
    """Return the vocabulary the run was started with; refuse to go on with other data or options unasked."""
    changes = differences(read_record(folder), record)
    stored = read_vocabulary(folder)
    if not changes and stored != counted:
        changes = ["the vocabulary was counted in another way"]
    if changes and not accept:
        raise UsageError(
            f"{folder} holds a run with other data or options: {shorten(changes)}; --accept-changes goes on all the "
            "same, --set output=... starts elsewhere"
        )
    if changes:
        report(Note(text=f"going on in spite of changes: {'; '.join(changes)}"))
    return stored or counted


def _load_start(config: Config) -> Model | None:
    """Return the model that a run learns on from, if it names one."""
    if not config.start:
        return None
    try:
        return Model.load(locate(config.start))
    except InputError as error:
        raise UsageError(f"option start: {error}") from None


def _taken_over(start: Model, counted: Vocabulary, *, report: Listener) -> Vocabulary:
    """Return the names that the model to start from knows; say which of the data's it does not."""
    known = start.vocabulary
    new = {kind: sorted(set(getattr(counted, kind)) - {*getattr(known, kind), ""}) for kind in KINDS}
    if new["styles"]:
        raise UsageError(
            f"option start: the model knows no style {new['styles'][0]!r}; expected for each treebank one of "
            f"{', '.join(filter(None, known.styles)) or 'none'}, or no style, which is its usual one"
        )
    if found := "; ".join(f"{kind} {_few(names)}" for kind, names in new.items() if names):
        report(Note(text=f"not known to the model to start from, so left out: {found}"))
    return known


def _build(
    config: Config,
    examples: Iterable[Example],
    dev: Sequence[Example],
    *,
    vocabulary: Vocabulary,
    here: Processes,
    report: Listener,
    start: Model | None = None,
) -> Run:
    device = choose_device(config.training.device, here)
    torch.manual_seed(config.training.seed)
    try:
        network = (build_network(config, vocabulary) if start is None else start.network).to(device)
    except (RuntimeError, MemoryError) as error:
        reason = first_line(error)
        raise UsageError(f"the network that encoder and scorers describe cannot be made: {reason}") from None
    numbered, sizes = _number(config, examples, vocabulary=vocabulary, tokenizer=network.tokenizer)
    if not config.batches.words:
        chosen = choose_batch_words(int(sizes.lengths.sum()))
        config = replace(config, batches=replace(config.batches, words=chosen))
    run = Run(
        folder=Path(config.output),
        config=config,
        model=Model(network, vocabulary, config, start.segmenter if start is not None else ENGLISH),
        optimiser=make_optimiser(network, config.optimiser),
        train=numbered,
        sizes=sizes,
        dev=dev,
        here=here,
        report=report,
    )
    run.model.engine.decoder_for(None)  # a name that is not known is better reported now than after the first epoch
    run.total = config.training.epochs * len(plan_updates(run, epoch=0))
    return run


def _number(
    config: Config, examples: Iterable[Example], *, vocabulary: Vocabulary, tokenizer: Tokenizer | None
) -> tuple[Sequence[Numbered], Sizes]:
    """Return the training examples as the network reads them, in memory or on the disk, and their sizes."""
    lengths, widths, weights = array("q"), array("q"), array("d")

    def numbered() -> Iterator[Numbered]:
        for example in _short_enough(examples, config.data.longest):
            row = number(example, vocabulary, tokenizer=tokenizer)
            lengths.append(row.inputs.length)
            widths.append(row.inputs.width)
            weights.append(row.weight)
            yield row

    rows = DiskExamples(numbered(), folder=Path(config.output)) if config.data.stream else list(numbered())
    return rows, Sizes(lengths=np.array(lengths), widths=np.array(widths), weights=np.array(weights))


def plan_updates(run: Run, *, epoch: int) -> list[list[list[int]]]:
    """Return the epoch's updates, each a list of batches for all processes together."""
    options = run.config.batches
    batches = plan_epoch(
        run.sizes.lengths.tolist(),
        run.sizes.weights.tolist(),
        options=options,
        seed=run.config.training.seed,
        epoch=epoch,
        widths=run.sizes.widths.tolist(),
    )
    if not batches:
        raise UsageError("no sentence to learn from: the weights of all training treebanks leave none")
    return updates_of(batches, options.accumulate * run.here.count)


def _never_seen(dev: Sequence[Example], vocabulary: Vocabulary) -> str:
    """Return the labels and relations of dev that no training sentence has, a few of them by name."""
    labels = {span.label for example in dev for span in example.spans or ()} - set(vocabulary.labels)
    trees = (example.sentence.dependencies for example in dev)
    relations = {name for tree in trees if tree is not None for name in tree.relations} - set(vocabulary.relations)
    found = {"labels": labels, "relations": relations}
    return "; ".join(f"{kind} {_few(sorted(names))}" for kind, names in found.items() if names)


def _few(names: Sequence[str], *, count: int = 5) -> str:
    more = f" and {len(names) - count} more" if len(names) > count else ""
    return ", ".join(names[:count]) + more


def _short_enough(examples: Iterable[Example], longest: int) -> Iterator[Example]:
    kept = left_out = 0
    for example in examples:
        if longest and len(example.sentence) > longest:
            left_out += 1
        else:
            kept += 1
            yield example
    if left_out and not kept:
        raise UsageError(f"no sentence to learn from: none is as short as option data.longest: {longest} words")


def _summary(run: Run, vocabulary: Vocabulary) -> str:
    weights = sum(parameter.numel() for parameter in run.network.parameters())
    return (
        f"{len(run.train)} sentences to learn from, {len(run.dev)} to check against, "
        f"{len(vocabulary.labels) - 1} labels, {len(vocabulary.relations)} relations, "
        f"{weights / 1e6:.1f} million weights, "
        f"{run.config.batches.words} words a batch, {run.total} updates"
    )
