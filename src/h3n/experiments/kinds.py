"""The kinds of experiment: for each, its options and what is done with them. Nothing else asks which kind one is."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from h3n.experiments import comparison_page, miniature, plan, speed_page
from h3n.experiments.experiment import Comparison, Experiment, SpeedTest
from h3n.experiments.files import missing_patterns

if TYPE_CHECKING:
    from h3n.experiments.running import Request

Records = Sequence[Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class Kind:
    """A line of `KINDS`. The functions take an experiment of the class ``options``."""

    name: str
    options: type[Any]
    check: Callable[[Any], None]
    files: Callable[[Any], Iterable[str]]  # patterns of the files that have to be there
    runs: Callable[[Any], list[float]]  # the minutes that each run is expected to take
    shrink: Callable[[Any, Path], Any]  # to a miniature whose files are written into a folder
    runner: str  # the module whose function `run` does it: it needs torch, and a page of results does not
    tables: Callable[[Any, Records], Iterator[str]]
    plot: Callable[[Any, Records, Path], None]

    def run(self, experiment: Experiment, request: Request) -> Path:
        """Run the experiment and return the file of its results."""
        path: Path = import_module(self.runner).run(experiment, request)
        return path


KINDS: dict[str, Kind] = {
    kind.name: kind
    for kind in (
        Kind(
            "accuracy",
            Comparison,
            check=plan.check_comparison,
            files=plan.files_of,
            runs=plan.minutes_of,
            shrink=miniature.small_comparison,
            runner="h3n.experiments.comparing",
            tables=comparison_page.row_tables,
            plot=comparison_page.plot_rows,
        ),
        Kind(
            "speed",
            SpeedTest,
            check=lambda _: None,
            files=speed_page.files_of,
            runs=lambda _: [0.0],
            shrink=miniature.small_speed_test,
            runner="h3n.experiments.speed",
            tables=speed_page.band_tables,
            plot=speed_page.plot,
        ),
    )
}


def kind_of(experiment: Experiment) -> Kind:
    """Return the kind of an experiment."""
    return next(kind for kind in KINDS.values() if type(experiment) is kind.options)


def missing_files(experiment: Experiment, *, variants: Iterable[str] = ()) -> list[str]:
    """Return the files that an experiment needs and that are not there."""
    return missing_patterns(kind_of(experiment).files(experiment), list(variants) or experiment.variants)
