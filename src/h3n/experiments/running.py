"""Running an experiment: what is to be made is made, each run trained, its rows measured, the results written."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import torch

from h3n.config import Config, config_of, table_of
from h3n.errors import InputError, UsageError
from h3n.experiments.experiment import Experiment
from h3n.experiments.making import make_file
from h3n.experiments.measuring import measure
from h3n.experiments.miniature import OVERLAY, miniature_of
from h3n.experiments.plan import Choice, Job, makes_of, plan
from h3n.experiments.provenance import checksums, describe_code, describe_machine, public_name
from h3n.experiments.results import add_result
from h3n.model.model import Model
from h3n.training import Note, load_examples, train
from h3n.training.checkpoint import restore_folder, write_file
from h3n.training.curves import read_metrics
from h3n.training.events import Event as TrainingEvent
from h3n.training.processes import Processes, choose_device
from h3n.trees import Sentence

PROVENANCE = "provenance.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class Started:
    """A run begins."""

    job: Job
    number: int
    count: int


Event = TrainingEvent | Started
Report = Callable[[Event], None]
Watch = Callable[[Iterable[Sentence], str], Iterable[Sentence]]


def run_experiment(
    experiment: Experiment,
    *,
    output: str | Path = "runs",
    results: str | Path | None = None,
    only: str | None = None,
    seed: int | None = None,
    miniature: bool = False,
    folders: Mapping[str, str | Path] | None = None,
    model: str | None = None,
    report: Report = lambda _: None,
    watch: Watch | None = None,
) -> Path:
    """Train and measure what an experiment says and return the file of its results, written after every run.

    A run that was interrupted goes on, a finished one with the same options is not trained again. ``only`` picks a run
    or a variant. ``folders`` says where runs are that were trained by other means. With ``miniature`` the same
    happens in seconds, on generated sentences and with a tiny network; ``model`` is for experiments that measure a
    parser instead of training one.
    """
    folder = Path(output) / "miniature" if miniature else Path(output)
    target = Path(results) if results is not None else folder / "results" if miniature else Path("results")
    if miniature:
        experiment = miniature_of(experiment, folder / experiment.name / "data")
    if experiment.bands is not None:
        from h3n.experiments.speed import run_bands

        return run_bands(
            experiment,
            experiment.bands,
            output=folder,
            results=target,
            miniature=miniature,
            model=model,
            report=report,
        )
    choice = Choice(
        output=folder,
        only=only,
        seed=seed,
        overlay=OVERLAY if miniature else {},
        folders={name: Path(path) for name, path in (folders or {}).items()},
    )
    jobs = plan(experiment, choice)
    for number, job in enumerate(jobs, start=1):
        report(Started(job=job, number=number, count=len(jobs)))
        for make in makes_of(job, output=folder):
            report(Note(text=f"making {make.target} by {make.scheme}"))
            make_file(make, watch=watch)
        given = job.name in choice.folders or job.run.name in choice.folders
        train_job(job, given=given, report=report, watch=watch)
        record = measure_job(job, report=report)
        record["command"] += " --miniature" if miniature else ""
        path = add_result(target, experiment.name, run=job.name, record=record, miniature=miniature)
    report(Note(text=f"results are in {path}"))
    return path


def train_job(job: Job, *, given: bool, report: Report, watch: Watch | None) -> None:
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
        write_file(job.folder / PROVENANCE, json.dumps(_provenance(job), indent=1) + "\n")
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
    there, here = (_flat(table_of(replace(each, output=""))) for each in (stored, config))
    names = [name for name in here if here[name] != there.get(name)]
    return f"{names[0]} is {there.get(names[0])} there and {here[names[0]]} here" if names else ""


def _flat(table: Mapping[str, Any], where: str = "") -> dict[str, Any]:
    made: dict[str, Any] = {}
    for name, value in table.items():
        made |= _flat(value, f"{where}{name}.") if isinstance(value, dict) else {f"{where}{name}": value}
    return made


def _provenance(job: Job) -> dict[str, Any]:
    device = job.config.training.device
    return {"code": describe_code(), "machine": describe_machine(device), "data": checksums(job.files)}


def measure_job(job: Job, *, report: Report) -> dict[str, Any]:
    """Return the record of a trained run: its figures and all that one has to know to repeat them."""
    device = str(choose_device(job.config.training.device, Processes()))
    parser = Model.load(job.folder / "model", device=device)
    rows = [row for row in job.experiment.rows if row.run == job.run.name]
    with _one_thread():
        found = measure(parser, rows, job.dev, scoring=job.scoring, said=lambda line: report(Note(text=line)))
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
        "rows": found,
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
        made: dict[str, Any] = json.loads((folder / PROVENANCE).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        made = {}
    if metrics:
        last = metrics[-1]
        checking = sum(row.get("check_seconds", 0.0) for row in metrics)
        made["minutes"] = round((last["seconds"] + checking) / 60, 2)
        made["cpu_minutes"] = round(last["cpu_seconds"] / 60, 2)
        made |= {"updates": last["step"], "epochs": last["epoch"]}
    return made


def _options(config: Config) -> dict[str, Any]:
    """Return a run's options as far as they are anybody's business."""
    table = table_of(config)
    del table["output"]
    for name in ("name", "vectors"):
        table["encoder"][name] = public_name(table["encoder"][name]) if table["encoder"][name] else ""
    for treebank in (*table["data"]["train"], *table["data"]["dev"]):
        treebank["files"] = [public_name(file) for file in treebank["files"]]
    return table
