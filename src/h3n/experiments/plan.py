"""What an experiment comes down to: which files, which runs with which options, in which folders."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from h3n.config import Config, Treebank, expand, layer_config
from h3n.errors import InputError, UnknownName, UsageError
from h3n.experiments.bands import FILES as BAND_FILES
from h3n.experiments.experiment import DevSet, Experiment, Learned, Make, Run
from h3n.formats import guess_format
from h3n.treebanks import load_recipe

COMPRESSED = ("", ".xz", ".gz", ".bz2")
LEARNED: dict[str, Learned] = {
    "brackets": "constituents",
    "spmrl": "constituents",
    "conllu": "dependencies",
    "conllx": "dependencies",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """One parser to train and to measure."""

    experiment: Experiment
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
        return f"h3n experiments run {self.experiment.name} --only {only} --seed {self.seed}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """Which part of an experiment is asked for, and where it goes."""

    output: Path
    only: str | None = None  # a run, a variant, or both with a hyphen between them
    seed: int | None = None
    overlay: Mapping[str, Any] = field(default_factory=dict)  # options laid over all others
    folders: Mapping[str, Path] = field(default_factory=dict)  # of runs trained elsewhere


def plan(experiment: Experiment, choice: Choice) -> list[Job]:
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
    check_files(experiment, variants={variant for variant, _, _ in wanted})
    jobs = [_job(experiment, run, variant, seed, choice) for variant, run, seed in wanted]
    known_jobs = {job.name for job in jobs} | {job.run.name for job in jobs}
    if unknown := [name for name in choice.folders if name not in known_jobs]:
        raise UnknownName(f"run of {experiment.name}", unknown[0], known_jobs)
    return jobs


def _job(experiment: Experiment, run: Run, variant: str, seed: int, choice: Choice) -> Job:
    made = choice.output / experiment.name / "made"
    name = "-".join(filter(None, (variant, run.name, str(seed))))
    folder = choice.folders.get(name) or choice.folders.get(run.name) or choice.output / experiment.name / name

    def files(given: Iterable[str]) -> tuple[str, ...]:
        found = tuple(find_file(file, variant=variant, made=made) or file for file in given)
        return tuple(file for file in found if LEARNED[format_of(file)] in run.learns)

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


def format_of(file: str) -> str:
    """Return the format of a treebank file by its name; only formats with one tree are accepted."""
    found = guess_format(file)
    if found not in LEARNED:
        raise UsageError(f"{file}: {found} in an experiment; expected one file for each tree: {', '.join(LEARNED)}")
    return found


def find_file(pattern: str, *, variant: str, made: Path) -> str | None:
    """Return the file that is there of the alternatives in a pattern, ``$VARIABLES`` left as they are.

    Files that the experiment makes need not be there yet.
    """
    for one in pattern.replace("{variant}", variant).split("|"):
        if "{made}" in one:
            return one.replace("{made}", str(made))
        for ending in COMPRESSED:
            try:
                if expand(one + ending).is_file():
                    return one + ending
            except UsageError:
                return None  # a variable that is not set
    return None


def files_of(experiment: Experiment) -> Iterator[str]:
    """Yield the patterns of all files that have to be there."""
    yield from (file for train in experiment.train for file in train.files)
    yield from (file for dev in experiment.dev for file in dev.files)
    yield from (make.source for make in experiment.make)
    if experiment.bands is not None:
        yield from (f"{experiment.bands.folder}/{file}" for file in BAND_FILES.values())


def missing_files(experiment: Experiment, *, variants: Iterable[str] = ()) -> list[str]:
    """Return the files that are needed and not there."""
    return [
        pattern.replace("{variant}", variant)
        for variant in sorted(variants) or experiment.variants or ("",)
        for pattern in dict.fromkeys(files_of(experiment))
        if find_file(pattern, variant=variant, made=Path()) is None
    ]


def check_files(experiment: Experiment, *, variants: Iterable[str] = ()) -> None:
    """Raise an error if a file is not there that says how to make it."""
    if lost := missing_files(experiment, variants=variants):
        raise InputError(f"{experiment.name}: {_explain(experiment, lost)}")


def how_to_get(experiment: Experiment) -> list[str]:
    """Return the commands that make the experiment's data from the treebanks as their owners give them out."""
    lines = []
    for need in experiment.needs:
        for variant in experiment.variants if "{variant}" in need.recipe else ("",):
            recipe = need.recipe.replace("{variant}", variant)
            folder = (need.folder or need.recipe).replace("{variant}", variant)
            known = load_recipe(recipe)
            options = f" {need.options}".replace("{scheme}", known.scheme or "").rstrip()
            lines.append(f"h3n prepare {recipe} SOURCE $H3N_DATA/{folder}{options}  # {known.get}")
    return lines


def _explain(experiment: Experiment, lost: list[str]) -> str:
    more = f" and {len(lost) - 1} more" if len(lost) > 1 else ""
    ways = "; ".join(how_to_get(experiment)) or "see its data file"
    return (
        f"{lost[0].replace('|', ' or ')}{more} not found (H3N_DATA names the folder of treebanks); to make it: {ways}"
    )


def makes_of(job: Job, *, output: Path) -> Iterator[Make]:
    """Yield the files that have to be made for a run, sources found and targets in place."""
    made = output / job.experiment.name / "made"
    for make in job.experiment.make:
        target = make.target.replace("{variant}", job.variant).replace("{made}", str(made))
        source = find_file(make.source, variant=job.variant, made=made)
        if target in job.files and source is not None:
            yield replace(make, source=source, target=target)
