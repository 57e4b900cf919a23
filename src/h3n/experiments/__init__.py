"""The paper's tables by command: experiments as data files, results as JSON, a page of tables and plots made from them.

>>> from h3n.experiments import load_experiment, run_experiment, write_page
>>> run_experiment(load_experiment("stanford"), output="runs", results="results")
>>> write_page("results", "docs")
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from h3n.experiments.catalogue import experiment_names, load_experiment
from h3n.experiments.experiment import Comparison, Experiment, SpeedTest

if TYPE_CHECKING:
    from h3n.experiments.results_page import write_page
    from h3n.experiments.running import run_experiment

__all__ = [
    "Comparison",
    "Experiment",
    "SpeedTest",
    "experiment_names",
    "load_experiment",
    "run_experiment",
    "write_page",
]

# Imported when somebody asks for them: running an experiment needs torch.
_LATER = {"run_experiment": "h3n.experiments.running", "write_page": "h3n.experiments.results_page"}


def __getattr__(name: str) -> Any:
    if name in _LATER:
        from importlib import import_module

        return getattr(import_module(_LATER[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
