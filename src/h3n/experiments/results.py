"""Results as files: one of JSON for each experiment, a record in it for each run."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from h3n.errors import InputError
from h3n.experiments.catalogue import build_experiment, definition_of
from h3n.experiments.experiment import Experiment
from h3n.files import input_errors, write_text


def read_results(folder: Path, name: str) -> dict[str, Any] | None:
    """Return the results of an experiment, or None if there are none yet."""
    path = folder / f"{name}.json"
    try:
        results: Any = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        raise InputError(f"{path}: cannot be read: {error}") from None
    if not isinstance(results, dict) or results.get("experiment") != name or not isinstance(results.get("runs"), dict):
        raise InputError(f"{path}: expected the results of experiment {name!r} as `h3n experiments run` writes them")
    return results


def own_experiments(folder: Path) -> list[Experiment]:
    """Return the experiments in files of the user's own that have results, as their results describe them."""
    experiments = []
    for path in sorted(folder.glob("*.json")):
        results = read_results(folder, path.stem)
        if results is not None and "definition" in results:
            experiments.append(build_experiment(results["definition"]))
    return experiments


def add_result(folder: Path, experiment: Experiment, *, run: str, record: dict[str, Any], miniature: bool) -> Path:
    """Put a run's record into the results of an experiment and return their file.

    Records of other runs stay, unless they are of the miniature and this one is not, or the other way round. The
    results of an experiment in a file of the user's own say what it is, so that a page can be made of them alone.
    """
    name = experiment.name
    results = read_results(folder, name)
    if results is None or results.get("miniature") != miniature:
        results = {"experiment": name, "miniature": miniature, "runs": {}}
    if experiment.is_own:
        results["definition"] = definition_of(experiment)
    results["runs"] = dict(sorted((results["runs"] | {run: record}).items()))
    path = folder / f"{name}.json"
    with input_errors(folder, "made"):
        folder.mkdir(parents=True, exist_ok=True)
    write_text(path, json.dumps(results, ensure_ascii=False, indent=1) + "\n")
    return path
