"""Running an experiment, of whichever kind."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from h3n.experiments.experiment import Experiment
from h3n.experiments.kinds import kind_of
from h3n.experiments.plan import Job
from h3n.training import Note
from h3n.training.events import Event as TrainingEvent
from h3n.trees import Sentence


@dataclass(frozen=True, slots=True, kw_only=True)
class Started:
    """A run begins."""

    job: Job
    number: int
    count: int


Event = TrainingEvent | Started
OnEvent = Callable[[Event], None]
ShowReading = Callable[[Iterable[Sentence], str], Iterable[Sentence]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What is asked of an experiment: which part, from where, to where."""

    output: Path
    results: Path
    only: str | None = None
    seed: int | None = None
    miniature: bool = False
    folders: Mapping[str, Path] = field(default_factory=dict)
    model: str | None = None
    report: OnEvent = lambda _: None
    watch: ShowReading | None = None


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
    report: OnEvent = lambda _: None,
    watch: ShowReading | None = None,
) -> Path:
    """Train and measure what an experiment says and return the file of its results, written after every run.

    A run that was interrupted goes on, a finished one with the same options is not trained again. ``only`` picks a run
    or a variant. ``folders`` says where runs are that were trained by other means. With ``miniature`` the same
    happens in seconds, on generated sentences and with a tiny network; ``model`` is for experiments that measure a
    parser instead of training one.
    """
    folder = Path(output) / "miniature" if miniature else Path(output)
    target = Path(results) if results is not None else folder / "results" if miniature else Path("results")
    kind = kind_of(experiment)
    if miniature:
        experiment = kind.shrink(experiment, folder / experiment.name / "data")
    request = Request(
        output=folder,
        results=target,
        only=only,
        seed=seed,
        miniature=miniature,
        folders={name: Path(path) for name, path in (folders or {}).items()},
        model=model,
        report=report,
        watch=watch,
    )
    path = kind.run(experiment, request)
    report(Note(text=f"results are in {path}"))
    return path
