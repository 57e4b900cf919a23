"""The paper's tables by command: experiments as data files, results as JSON, a page of tables and plots made from them.

>>> from h3n.experiments import build_report, load_experiment, run_experiment
>>> run_experiment(load_experiment("stanford"), output="runs", results="results")
>>> build_report("results", "docs")
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from h3n.experiments.experiment import Experiment, experiment_names, load_experiment

if TYPE_CHECKING:
    from h3n.experiments.report import build_report
    from h3n.experiments.running import run_experiment

__all__ = ["Experiment", "build_report", "experiment_names", "load_experiment", "run_experiment"]

# Imported when somebody asks: running needs torch, a report needs it not.
_LATER = {"build_report": "h3n.experiments.report", "run_experiment": "h3n.experiments.running"}


def __getattr__(name: str) -> Any:
    if name in _LATER:
        from importlib import import_module

        return getattr(import_module(_LATER[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
