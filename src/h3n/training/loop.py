"""The training loop.

A run lives in a folder: checkpoints to go on from, ``best`` (the parser with the best dev score so far), ``model`` (the
finished one), ``config.json``, ``metrics.jsonl`` and ``curves.png``. Everything random is derived from the seed and the
number of the update, so a run that was killed and resumed ends with the very weights of one that was not.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from h3n.config import Config, check
from h3n.decode import DECODERS
from h3n.errors import TrainingError
from h3n.model.batch import collate, to_device
from h3n.model.loss import TERMS, losses, weigh
from h3n.model.model import Model
from h3n.parser import Parser
from h3n.system import locked
from h3n.training.checkpoint import Position, last_checkpoint, save_checkpoint, write_file, write_folder
from h3n.training.data import Example, Numbered
from h3n.training.evaluation import evaluate_each, quality, tune_weight
from h3n.training.events import Check, Listener, Note, Update
from h3n.training.optimiser import set_rates
from h3n.training.plan import batch_seed, check_points, rate_factor
from h3n.training.processes import Processes, share_gradients, share_sums, wait
from h3n.training.record import add_metrics
from h3n.training.report import write_reports
from h3n.training.run import Run, plan_updates, prepare
from h3n.training.segmenter import train_segmenter


def train(
    config: Config,
    examples: Iterable[Example],
    dev: Sequence[Example],
    *,
    here: Processes | None = None,
    resume: bool = False,
    accept_changes: bool = False,
    report: Listener = lambda _: None,
    command: str = "h3n.training.train",
) -> Model:
    """Train a parser and return it, as it was saved in the run's folder ``model``, with a card and a report.

    The examples are gone through twice: once to count the vocabulary, once to number them.

    With ``resume`` a run goes on from its last checkpoint, if it has one; with other data or options than it was
    started with only where ``accept_changes`` says so. ``command`` is what card and report name as their origin.
    """
    here = here or Processes()
    folder = Path(check(config).output)
    with locked(folder) if here.first else nullcontext():
        run = prepare(config, examples, dev, here=here, resume=resume, accept_changes=accept_changes, report=report)
        try:
            while not run.position.finished and run.position.epoch < config.training.epochs:
                train_epoch(run)
            model = finish(run)
            if here.first:
                write_reports(folder, model, dev, command=command, report=report)
            return model
        except TrainingError as error:
            raise TrainingError(f"{error}; the last good checkpoint is {last_checkpoint(folder) or 'none'}") from None


def train_epoch(run: Run) -> None:
    """Do the updates of the current epoch that are left, with checks and checkpoints on the way."""
    options = run.config.training
    updates = plan_updates(run, epoch=run.position.epoch)
    checks = check_points(len(updates), options.checks)
    run.network.train()
    if run.position.update in checks and run.position.is_due:  # saved before the first check, and ended in it
        check_dev(run)
        save(run)
        if run.position.finished:
            return
    for batches in updates[run.position.update :]:
        started = time.perf_counter()
        worked = time.process_time()
        train_update(run, batches, updates=len(updates))
        position = replace(
            run.position,
            update=run.position.update + 1,
            step=run.position.step + 1,
            seconds=run.position.seconds + time.perf_counter() - started,
            cpu_seconds=run.position.cpu_seconds + time.process_time() - worked,
        )
        run.position = position
        if position.update in checks:
            if run.dev and not position.is_checked:
                # Whatever is wrong with dev, or takes too much memory there, does not cost what was learned.
                save(run)
                run.report(Note(text=f"saved after {position.step} updates; checking {len(run.dev)} sentences"))
            check_dev(run)
            save(run)
            if run.position.finished:
                return
        elif options.save_every and position.step % options.save_every == 0:
            save(run)
    run.position = replace(run.position, epoch=run.position.epoch + 1, update=0)


def train_update(run: Run, batches: Sequence[list[int]], *, updates: int = 0) -> None:
    """Do one update: this process's share of the batches, gradients added up over all, one step."""
    config, here, position = run.config, run.here, run.position
    words = sum(int(run.sizes.lengths[batch].sum()) for batch in batches)
    size = words if config.loss.per == "word" else sum(map(len, batches))
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
    named = dict(zip(TERMS, terms, strict=True))
    run.report(
        Update(
            step=position.step + 1,
            total=run.total,
            epoch=position.epoch,
            done=position.update + 1,
            updates=updates,
            loss=loss,
            words=words,
            terms=named,
        )
    )


def _backward(run: Run, batch: Sequence[Numbered], size: int) -> Tensor:
    """Add one batch's gradients; return its loss and its terms, each already divided by the update's size."""
    network, options = run.network, run.config.loss
    inputs = to_device(collate([e.inputs for e in batch], tokenizer=network.tokenizer), network.device)
    with _precision(run):
        output = network(inputs)
    helper = run.model.vocabulary.helper
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


def check_dev(run: Run) -> None:
    """Evaluate on dev, keep the parser if it is the best so far, and decide whether to go on."""
    run.network.eval()
    started = time.perf_counter()
    scores, each = evaluate_each(Parser(run.model.engine), run.dev) if run.dev else ({}, {})
    found, position = quality(scores), run.position
    better = found > position.best or not run.dev
    loss = position.loss / max(position.losses, 1)
    row: dict[str, Any] = {"step": position.step, "epoch": position.epoch + 1, "loss": loss} | scores
    if each:
        row["treebanks"] = each
    row |= {"seconds": round(position.seconds, 1), "cpu_seconds": round(position.cpu_seconds, 1)}
    row["check_seconds"] = round(time.perf_counter() - started, 1)
    run.position = _judge(position, found, better=better, config=run.config)
    if run.here.first:
        if better and run.dev:
            write_folder(run.folder / "best", run.model.save)
        add_metrics(run.folder, row)
    run.report(Check(row=row, best=better))
    run.network.train()


def _judge(position: Position, found: float, *, better: bool, config: Config) -> Position:
    position = replace(position, loss=0.0, losses=0)
    if better:
        return replace(position, best=found, waited=0, plateau=0)
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
    model = Model.load(run.folder / "best", device=str(run.network.device)) if run.dev else run.model
    both = DECODERS[model.engine.decoder_for(None)].joint  # else there is nothing to weigh
    if run.dev and run.config.training.tune and both and run.here.first:
        weight, tried = tune_weight(Parser(model.engine), run.dev)
        model = model.with_decoding(weight=weight)
        write_file(run.folder / "weights.json", json.dumps({f"{w:g}": s for w, s in tried.items()}, indent=1) + "\n")
        best = tried[weight]
        shown = " ".join(f"{name} {best[name]:.2f}" for name in ("LF1", "UAS", "LAS") if name in best)
        run.report(Note(text=f"spans weigh {weight:g} against arcs: {shown}"))
    if run.here.first:
        write_folder(run.folder / "model", model.save)  # what took hours is safe before the segmenter is learned
        model.segmenter = train_segmenter(run.config, otherwise=model.segmenter, report=run.report)
        write_folder(run.folder / "model", model.save)
    wait(run.here)
    return model
