"""Running a comparison: files are made, each run is trained, its rows are measured, the results written."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch

from h3n.config import Config, config_of, flattened, table_of
from h3n.errors import InputError, UsageError
from h3n.experiments.experiment import Comparison
from h3n.experiments.files import make_file
from h3n.experiments.measuring import measure_rows
from h3n.experiments.miniature import OVERLAY
from h3n.experiments.plan import Choice, Job, makes_of, plan
from h3n.experiments.results import add_result
from h3n.experiments.running import OnEvent, Request, ShowReading, Started
from h3n.files import restore_folder, write_text
from h3n.measure.provenance import checksums, describe_code, describe_machine, public_name
from h3n.model.model import Model
from h3n.parser import Parser
from h3n.training import Note, load_examples, train
from h3n.training.processes import Processes, choose_device
from h3n.training.record import read_metrics

PROVENANCE = "provenance.json"


def run(experiment: Comparison, request: Request) -> Path:
    """Train and measure all runs that are asked for and return the file of the results."""
    choice = Choice(
        output=request.output,
        only=request.only,
        seed=request.seed,
        overlay=OVERLAY if request.miniature else {},
        folders=request.folders,
    )
    jobs = plan(experiment, choice)
    for number, job in enumerate(jobs, start=1):
        request.report(Started(job=job, number=number, count=len(jobs)))
        for make in makes_of(job, output=request.output):
            request.report(Note(text=f"making {make.target} by {make.scheme}"))
            make_file(make, watch=request.watch)
        given = job.name in choice.folders or job.run.name in choice.folders
        train_job(job, given=given, report=request.report, watch=request.watch)
        record = measure_job(job, report=request.report)
        record["command"] += " --miniature" if request.miniature else ""
        path = add_result(request.results, experiment, run=job.name, record=record, miniature=request.miniature)
    return path


def train_job(job: Job, *, given: bool, report: OnEvent, watch: ShowReading | None) -> None:
    """Train a run, or go on with it, unless it is finished; a folder with a run of other options is refused."""
    for name in ("best", "model"):
        restore_folder(job.folder / name)
    if difference := _difference(job.folder, job.config):
        raise UsageError(
            f"{job.folder} holds a run with other options ({difference}); expected the same, or another folder"
        )
    if (job.folder / "model").is_dir():
        report(Note(text=f"{job.folder} is trained already"))
        return
    if given and (job.folder / "config.json").is_file() and not (job.folder / PROVENANCE).is_file():
        raise UsageError(f"{job.folder} is not finished; expected a run that is, or one that this experiment began")
    data = job.config.data
    examples = load_examples(data.train, data=data, watch=watch)
    dev = load_examples(data.dev, data=data, watch=watch)
    job.folder.mkdir(parents=True, exist_ok=True)
    if not (job.folder / PROVENANCE).is_file():
        write_text(job.folder / PROVENANCE, json.dumps(_provenance(job), indent=1) + "\n")
    train(job.config, examples, dev, resume=True, report=report)


def _difference(folder: Path, config: Config) -> str:
    """Return the first option in which the run in a folder differs, where it was written to left aside."""
    path = folder / "config.json"
    try:
        stored = config_of(json.loads(path.read_text(encoding="utf-8")))
    except FileNotFoundError:
        return ""
    except (OSError, ValueError) as error:
        raise InputError(f"{path}: cannot be read: {error}") from None
    there, here = (flattened(table_of(replace(each, output=""))) for each in (stored, config))
    names = [name for name in here if here[name] != there.get(name)]
    return f"{names[0]} is {there.get(names[0])} there and {here[names[0]]} here" if names else ""


def _provenance(job: Job) -> dict[str, Any]:
    device = job.config.training.device
    return {"code": describe_code(), "machine": describe_machine(device), "data": checksums(job.files)}


def measure_job(job: Job, *, report: OnEvent) -> dict[str, Any]:
    """Return the record of a trained run: its figures and all that one has to know to repeat them."""
    device = str(choose_device(job.config.training.device, Processes()))
    parser = Parser(Model.load(job.folder / "model", device=device).engine)
    rows = [row for row in job.experiment.rows if row.run == job.run.name]
    with _one_thread():
        entries = measure_rows(parser, rows, job.dev, scoring=job.scoring, said=lambda line: report(Note(text=line)))
        machine = describe_machine(device)
    return {
        "run": job.run.name,
        "variant": job.variant,
        "seed": job.seed,
        "command": job.command,
        "code": describe_code(),
        "machine": machine,
        "data": checksums(job.files),
        "trained": _trained(job.folder),
        "scoring": job.scoring,
        "options": _options(job.config),
        "rows": entries,
    }


@contextmanager
def _one_thread() -> Iterator[None]:
    """Let torch use one thread, so that speeds on different machines are of the same thing."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def _trained(folder: Path) -> dict[str, Any]:
    """Return how a run was trained: minutes, updates, and by which code, where that was recorded."""
    metrics = read_metrics(folder)
    try:
        trained: dict[str, Any] = json.loads((folder / PROVENANCE).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        trained = {}
    if metrics:
        last = metrics[-1]
        checking = sum(row.get("check_seconds", 0.0) for row in metrics)
        trained["minutes"] = round((last["seconds"] + checking) / 60, 2)
        trained["cpu_minutes"] = round(last["cpu_seconds"] / 60, 2)
        trained |= {"updates": last["step"], "epochs": last["epoch"]}
    return trained


def _options(config: Config) -> dict[str, Any]:
    """Return a run's options with public names of files and without the folder of its output."""
    table = table_of(config)
    del table["output"]
    for name in ("name", "vectors"):
        table["encoder"][name] = public_name(table["encoder"][name]) if table["encoder"][name] else ""
    for treebank in (*table["data"]["train"], *table["data"]["dev"]):
        treebank["files"] = [public_name(file) for file in treebank["files"]]
    return table
