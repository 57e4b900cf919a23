"""What a comparison comes down to: which files, which runs with which options, in which folders."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from h3n.config import Config, Treebank, layer_config
from h3n.decode import DECODERS
from h3n.errors import UnknownName, UsageError
from h3n.experiments.experiment import Comparison, DevSet, Make, Run
from h3n.experiments.files import LEARNED, check_files, find_file, learned_format
from h3n.measure.provenance import public_name
from h3n.treebanks import load_recipe


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """One parser to train and to measure."""

    experiment: Comparison
    run: Run
    variant: str
    seed: int
    config: Config
    dev: tuple[DevSet, ...]

    @property
    def name(self) -> str:
        return "-".join(filter(None, (self.variant, self.run.name, str(self.seed))))

    @property
    def folder(self) -> Path:
        return Path(self.config.output)

    @property
    def scoring(self) -> str:
        """EVALB's parameters as the treebank's recipe has them."""
        recipes = (load_recipe(need.recipe.replace("{variant}", self.variant)) for need in self.experiment.needs)
        return next((recipe.scoring for recipe in recipes if recipe.scoring), "collins")

    @property
    def files(self) -> list[str]:
        """All files that are read, to learn from and to measure on."""
        train = [file for treebank in self.config.data.train for file in treebank.files]
        return [*train, *(file for one in self.dev for file in one.files)]

    @property
    def command(self) -> str:
        only = "-".join(filter(None, (self.variant, self.run.name)))
        return f"{command_of(self.experiment.source)} --only {only} --seed {self.seed}"


def command_of(source: str) -> str:
    """Return the command that runs an experiment, without the folder of a file of the user's if that is not below."""
    return f"h3n experiments run {public_name(source) if Path(source).is_absolute() else source}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """Which part of an experiment is asked for, and where it goes."""

    output: Path
    only: str | None = None  # a run, a variant, or both with a hyphen between them
    seed: int | None = None
    overlay: Mapping[str, Any] = field(default_factory=dict)  # options laid over all others
    folders: Mapping[str, Path] = field(default_factory=dict)  # of runs trained elsewhere


def plan(experiment: Comparison, choice: Choice) -> list[Job]:
    """Return the runs of an experiment that are asked for; data that is not there is an error that says what to do."""
    wanted = [
        (variant, run, seed)
        for variant in experiment.variants or ("",)
        for run in experiment.runs
        for seed in ((choice.seed,) if choice.seed is not None else run.seeds)
        if choice.only in (None, variant, run.name, f"{variant}-{run.name}")
    ]
    if not wanted:
        known = [*experiment.variants, *(run.name for run in experiment.runs)]
        raise UnknownName(f"run of {experiment.name}", str(choice.only), known)
    check_files(experiment, files_of(experiment), variants={variant for variant, _, _ in wanted} - {""})
    jobs = [_job(experiment, run, variant, seed, choice) for variant, run, seed in wanted]
    known_jobs = {job.name for job in jobs} | {job.run.name for job in jobs}
    if unknown := [name for name in choice.folders if name not in known_jobs]:
        raise UnknownName(f"run of {experiment.name}", unknown[0], known_jobs)
    return jobs


def _job(experiment: Comparison, run: Run, variant: str, seed: int, choice: Choice) -> Job:
    made = choice.output / experiment.name / "made"
    name = "-".join(filter(None, (variant, run.name, str(seed))))
    folder = choice.folders.get(name) or choice.folders.get(run.name) or choice.output / experiment.name / name

    def files(given: Iterable[str]) -> tuple[str, ...]:
        there = tuple(find_file(file, variant=variant, made=made) or file for file in given)
        return tuple(file for file in there if LEARNED[learned_format(file)] in run.learns)

    train = [Treebank(files=files(t.files), weight=t.weight, limit=t.limit) for t in experiment.train]
    dev = [replace(d, files=files(d.files)) for d in experiment.dev]
    config = layer_config(experiment.options, run.options, choice.overlay)
    data = replace(
        config.data,
        train=tuple(treebank for treebank in train if treebank.files),
        dev=tuple(Treebank(files=d.files, limit=d.limit) for d in dev if d.files and not d.test),
    )
    training = replace(config.training, seed=seed)
    return Job(
        experiment=experiment,
        run=run,
        variant=variant,
        seed=seed,
        config=replace(config, output=str(folder), data=data, training=training),
        dev=tuple(d for d in dev if d.files),
    )


def files_of(experiment: Comparison) -> Iterator[str]:
    """Yield the patterns of all files that have to be there."""
    yield from (file for train in experiment.train for file in train.files)
    yield from (file for dev in experiment.dev for file in dev.files)
    yield from (make.source for make in experiment.make)


def minutes_of(experiment: Comparison) -> list[float]:
    """Return the minutes that each run is expected to take, 0 where nobody has tried."""
    each = [run.minutes for run in experiment.runs for _ in run.seeds]
    return each * max(len(experiment.variants), 1)


def check_comparison(experiment: Comparison) -> None:
    """Raise an error if the parts of an experiment do not fit together."""
    runs = [run.name for run in experiment.runs]
    if not (experiment.train and experiment.dev and experiment.runs and experiment.rows):
        raise UsageError("expected at least one each of [[train]], [[dev]], [[runs]] and [[rows]]")
    if len(set(runs)) < len(runs):
        raise UsageError(f"two [[runs]] of one name; names: {', '.join(runs)}")
    if forbidden := {"data.train", "data.dev", "output"} & _given(experiment):
        said = ", ".join(sorted(forbidden))
        raise UsageError(f"options.{said}: expected [[train]] and [[dev]]; the output folder is not an option")
    for row in experiment.rows:
        if row.run not in runs:
            raise UsageError(f"row {row.label!r} is of run {row.run!r}; known: {', '.join(runs)}")
        if row.against and row.against not in [other.label for other in experiment.rows]:
            raise UsageError(f"row {row.label!r} is against {row.against!r}, which is not the label of a row")
        if unknown := [part for part in row.decoder.split("+") if part not in DECODERS]:
            raise UsageError(f"row {row.label!r}: decoder {unknown[0]!r}; known: {', '.join(DECODERS)}")


def _given(experiment: Comparison) -> set[str]:
    """Return the options that the experiment sets."""
    names: set[str] = set()
    for options in (experiment.options, *(run.options for run in experiment.runs)):
        names |= {*options, *(f"data.{name}" for name in options.get("data", {}))}
    return names


def makes_of(job: Job, *, output: Path) -> Iterator[Make]:
    """Yield the files that have to be made for a run, sources found and targets in place."""
    made = output / job.experiment.name / "made"
    for make in job.experiment.make:
        target = make.target.replace("{variant}", job.variant).replace("{made}", str(made))
        source = find_file(make.source, variant=job.variant, made=made)
        if target in job.files and source is not None:
            yield replace(make, source=source, target=target)
