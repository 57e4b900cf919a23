"""The training loop.

A run lives in a folder: checkpoints to go on from, ``best`` (the parser with the best dev score so far), ``model`` (the
finished one), ``config.json``, ``metrics.jsonl`` and ``curves.png``. Everything random is derived from the seed and the
number of the update, so a run that was killed and resumed ends with the very weights of one that was not.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from h3n.config import Config, table_of
from h3n.decode import DECODERS
from h3n.errors import InputError, TrainingError, UsageError
from h3n.model.batch import collate, to_device
from h3n.model.loss import TERMS, losses, weigh
from h3n.model.model import Model
from h3n.model.network import Network, build_network
from h3n.model.vocabulary import Vocabulary, count_vocabulary
from h3n.training.checkpoint import (
    Position,
    last_checkpoint,
    load_checkpoint,
    restore_folder,
    save_checkpoint,
    write_file,
    write_folder,
)
from h3n.training.curves import add_metrics, cut_metrics
from h3n.training.data import Example, Numbered, number, seen
from h3n.training.evaluation import evaluate, quality, tune_weight, with_weight
from h3n.training.optimiser import make_optimiser, set_rates
from h3n.training.plan import batch_seed, check_points, plan_epoch, rate_factor, updates_of
from h3n.training.processes import Processes, choose_device, share_gradients, share_sums, wait


@dataclass(frozen=True, slots=True, kw_only=True)
class Update:
    """One update is done."""

    step: int
    total: int
    epoch: int
    loss: float
    words: int
    terms: dict[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """Dev was evaluated."""

    row: dict[str, Any]
    best: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Note:
    """Something worth a line."""

    text: str


Event = Update | Check | Note
Report = Callable[[Event], None]


@dataclass(slots=True)
class Run:
    """Everything a run needs at hand. Only ``position`` changes, besides weights and the optimiser's state."""

    folder: Path
    config: Config
    parser: Model
    optimiser: torch.optim.Optimizer
    train: Sequence[Numbered]
    dev: Sequence[Example]
    here: Processes
    report: Report
    total: int
    position: Position = field(default_factory=Position)

    @property
    def network(self) -> Network:
        return self.parser.network


def train(
    config: Config,
    examples: Sequence[Example],
    dev: Sequence[Example],
    *,
    here: Processes | None = None,
    resume: bool = False,
    report: Report = lambda _: None,
) -> Model:
    """Train a parser and return it, as it was saved in the run's folder ``model``."""
    run = prepare(config, examples, dev, here=here or Processes(), resume=resume, report=report)
    try:
        while not run.position.finished and run.position.epoch < config.training.epochs:
            train_epoch(run)
        return finish(run)
    except TrainingError as error:
        raise TrainingError(f"{error}; the last good checkpoint is {last_checkpoint(run.folder) or 'none'}") from None


def prepare(
    config: Config,
    examples: Sequence[Example],
    dev: Sequence[Example],
    *,
    here: Processes,
    resume: bool,
    report: Report,
) -> Run:
    """Return a run ready to start, or to go on where its last checkpoint stands."""
    folder = Path(config.output)
    found = _claim(folder, resume=resume)
    if config.training.threads:
        torch.set_num_threads(config.training.threads)
    examples = _short_enough(examples, config.data.longest)
    vocabulary = count_vocabulary(map(seen, examples), keep_words=config.encoder.kind == "attentive")
    device = choose_device(config.training.device, here)
    torch.manual_seed(config.training.seed)
    network = build_network(config, vocabulary).to(device)
    run = Run(
        folder=folder,
        config=config,
        parser=Model(network, vocabulary, config),
        optimiser=make_optimiser(network, config.optimiser),
        train=[number(example, vocabulary, cutter=network.cutter) for example in examples],
        dev=dev,
        here=here,
        report=report,
        total=0,
    )
    run.parser.decoder_for(None)  # a name that is not known is better said now than after the first epoch
    run.total = config.training.epochs * len(_updates(run, epoch=0))
    if found is not None:
        run.position = load_checkpoint(found, network, run.optimiser)
        if here.first:
            cut_metrics(folder, run.position.step)
        report(Note(text=f"going on from {found} (update {run.position.step})"))
    elif here.first:
        _make(folder)
        write_file(folder / "config.json", json.dumps(table_of(config), indent=1) + "\n")
        if resume:
            report(Note(text=f"nothing to go on from in {folder}: starting anew"))
    report(Note(text=_summary(run, vocabulary)))
    if unknown := _never_seen(dev, vocabulary):
        report(Note(text=f"in dev but not in training, so never found: {unknown}"))
    return run


def _claim(folder: Path, *, resume: bool) -> Path | None:
    """Return the checkpoint to go on from, None at the start; refuse to overwrite another run."""
    for name in ("best", "model"):
        restore_folder(folder / name)
    found = last_checkpoint(folder)
    if found is not None and not resume:
        raise UsageError(f"{folder} holds a run already; --resume goes on with it, --set output=... starts elsewhere")
    return found


def _make(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"output {folder}: cannot be made: {error.strerror}") from None


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


def _short_enough(examples: Sequence[Example], longest: int) -> Sequence[Example]:
    return [e for e in examples if len(e.sentence) <= longest] if longest else examples


def _summary(run: Run, vocabulary: Vocabulary) -> str:
    weights = sum(parameter.numel() for parameter in run.network.parameters())
    return (
        f"{len(run.train)} sentences to learn from, {len(run.dev)} to check against, "
        f"{len(vocabulary.labels) - 1} labels, {len(vocabulary.relations)} relations, "
        f"{weights / 1e6:.1f} million weights, {run.total} updates"
    )


def _updates(run: Run, *, epoch: int) -> list[list[list[int]]]:
    """Return the epoch's updates, each a list of batches for all processes together."""
    options = run.config.batches
    batches = plan_epoch(
        [example.inputs.length for example in run.train],
        [example.weight for example in run.train],
        options=options,
        seed=run.config.training.seed,
        epoch=epoch,
        widths=[example.inputs.width for example in run.train],
    )
    if not batches:
        raise UsageError("no sentence to learn from: the weights of all training treebanks leave none")
    return updates_of(batches, options.accumulate * run.here.count)


def train_epoch(run: Run) -> None:
    """Do the updates of the current epoch that are left, with checks and checkpoints on the way."""
    options = run.config.training
    updates = _updates(run, epoch=run.position.epoch)
    checks = check_points(len(updates), options.checks)
    run.network.train()
    for batches in updates[run.position.update :]:
        started = time.perf_counter()
        worked = time.process_time()
        train_update(run, batches)
        position = replace(
            run.position,
            update=run.position.update + 1,
            step=run.position.step + 1,
            seconds=run.position.seconds + time.perf_counter() - started,
            cpu_seconds=run.position.cpu_seconds + time.process_time() - worked,
        )
        run.position = position
        if position.update in checks:
            check(run)
            save(run)
            if run.position.finished:
                return
        elif options.save_every and position.step % options.save_every == 0:
            save(run)
    run.position = replace(run.position, epoch=run.position.epoch + 1, update=0)


def train_update(run: Run, batches: Sequence[list[int]]) -> None:
    """Do one update: this process's share of the batches, gradients added up over all, one step."""
    config, here, position = run.config, run.here, run.position
    size = sum(_size(run.train[at], config.loss.per) for batch in batches for at in batch)
    run.optimiser.zero_grad(set_to_none=True)
    sums = torch.zeros(len(TERMS) + 1, dtype=torch.float64, device=run.network.device)
    for place, batch in enumerate(batches):
        if place % here.count == here.rank:
            torch.manual_seed(batch_seed(config.training.seed, position.step, place))
            sums += _backward(run, [run.train[at] for at in batch], size)
    loss, *terms = share_sums(sums, here).tolist()
    share_gradients(run.network.parameters(), here)
    length = torch.nn.utils.clip_grad_norm_(run.network.parameters(), config.optimiser.clip or float("inf"))
    _check_finite(run, loss, float(length))
    factor = rate_factor(position.step, run.total, options=config.optimiser, halvings=position.halvings)
    set_rates(run.optimiser, factor)
    run.optimiser.step()
    run.position = replace(position, loss=position.loss + loss, losses=position.losses + 1)
    words = sum(run.train[at].inputs.length for batch in batches for at in batch)
    named = dict(zip(TERMS, terms, strict=True))
    run.report(
        Update(step=position.step + 1, total=run.total, epoch=position.epoch, loss=loss, words=words, terms=named)
    )


def _size(example: Numbered, per: str) -> int:
    return 1 if per == "sentence" else example.inputs.length


def _backward(run: Run, batch: Sequence[Numbered], size: int) -> Tensor:
    """Add one batch's gradients; return its loss and its terms, each already divided by the update's size."""
    network, options = run.network, run.config.loss
    inputs = to_device(collate([e.inputs for e in batch], cutter=network.cutter), network.device)
    with _precision(run):
        output = network(inputs)
    helper = run.parser.vocabulary.helper
    terms = losses(network, output, [e.targets for e in batch], options=options, helper=helper)
    loss = weigh(terms, options) / size
    torch.autograd.backward(loss)
    parts = torch.stack([terms[name].detach() / size for name in TERMS])
    return torch.cat((loss.detach()[None], parts)).double()


def _precision(run: Run) -> AbstractContextManager[Any]:
    """Return bf16 autocast on GPUs, nothing elsewhere: on some CPUs bf16 ends the process."""
    if run.network.device.type == "cuda" and run.config.training.bf16:
        return torch.autocast("cuda", dtype=torch.bfloat16)
    return nullcontext()


def _check_finite(run: Run, loss: float, length: float) -> None:
    for what, value in (("loss", loss), ("gradient", length)):
        if not -float("inf") < value < float("inf"):
            raise TrainingError(
                f"the {what} is {value} at update {run.position.step + 1} (epoch {run.position.epoch + 1}); a smaller "
                "optimiser.rate may help"
            )


def check(run: Run) -> None:
    """Evaluate on dev, keep the parser if it is the best so far, and decide whether to go on."""
    run.network.eval()
    started = time.perf_counter()
    scores = evaluate(run.parser, run.dev) if run.dev else {}
    found, position = quality(scores), run.position
    better = found > position.best or not run.dev
    loss = position.loss / max(position.losses, 1)
    row = {"step": position.step, "epoch": position.epoch + 1, "loss": loss} | scores
    row |= {"seconds": round(position.seconds, 1), "cpu_seconds": round(position.cpu_seconds, 1)}
    row["check_seconds"] = round(time.perf_counter() - started, 1)
    run.position = _judge(position, found, better=better, config=run.config)
    if run.here.first:
        if better and run.dev:
            write_folder(run.folder / "best", run.parser.save)
        add_metrics(run.folder, row)
    run.report(Check(row=row, best=better))
    run.network.train()


def _judge(position: Position, found: float, *, better: bool, config: Config) -> Position:
    position = replace(position, loss=0.0, losses=0)
    if better:
        return replace(position, best=found, best_step=position.step, waited=0, plateau=0)
    position = replace(position, waited=position.waited + 1, plateau=position.plateau + 1)
    if config.optimiser.schedule == "plateau" and position.plateau > config.optimiser.patience:
        position = replace(position, halvings=position.halvings + 1, plateau=0)
    patience = config.training.patience
    return replace(position, finished=bool(patience) and position.waited >= patience)


def save(run: Run) -> None:
    """Write a checkpoint; all processes go on together."""
    if run.here.first:
        save_checkpoint(run.folder, run.network, run.optimiser, run.position)
    wait(run.here)


def finish(run: Run) -> Model:
    """Return the best parser, its weight of spans against arcs tuned on dev, and write it to ``model``.

    Without dev it is the last one.
    """
    wait(run.here)
    run.network.eval()
    parser = Model.load(run.folder / "best", device=str(run.network.device)) if run.dev else run.parser
    both = {"full", "arc"} <= set(DECODERS[parser.decoder_for(None)].needs)  # else there is nothing to weigh
    if run.dev and run.config.training.tune and both and run.here.first:
        weight, tried = tune_weight(parser, run.dev)
        parser = with_weight(parser, weight)
        write_file(run.folder / "weights.json", json.dumps({f"{w:g}": s for w, s in tried.items()}, indent=1) + "\n")
        best = tried[weight]
        shown = " ".join(f"{name} {best[name]:.2f}" for name in ("LF1", "UAS", "LAS") if name in best)
        run.report(Note(text=f"spans weigh {weight:g} against arcs: {shown}"))
    if run.here.first:
        write_folder(run.folder / "model", parser.save)
    wait(run.here)
    return parser
