"""The experiments there are, and how their data files are read, checked key by key."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from importlib import resources
from pathlib import Path
from typing import Any

from h3n.config import build_options, parse_toml, table_of
from h3n.errors import InputError, UnknownName, UsageError
from h3n.experiments.experiment import Experiment
from h3n.experiments.kinds import KINDS, kind_of
from h3n.measure.provenance import public_name

USUAL_KIND = "accuracy"


def experiment_names() -> tuple[str, ...]:
    """Return the names of all experiments that come with h3n."""
    folder = resources.files(__package__) / "data"
    return tuple(sorted(f.name.removesuffix(".toml") for f in folder.iterdir() if f.name.endswith(".toml")))


def load_experiment(name: str) -> Experiment:
    """Return the experiment of this name, or that in a TOML file of the user's own: a name with ``.toml``."""
    if name.endswith(".toml"):
        try:
            text = Path(name).read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise InputError(f"{name}: cannot be read: {error}") from None
        return parse_experiment(text, name=Path(name).stem, source=name)
    if name not in experiment_names():
        raise UnknownName("experiment", name, experiment_names())
    text = (resources.files(__package__) / "data" / f"{name}.toml").read_text(encoding="utf-8")
    return parse_experiment(text, name=name, source=name)


def parse_experiment(text: str, *, name: str, source: str) -> Experiment:
    """Return the experiment that a TOML text describes; ``source`` is the file, or the name of one of ours."""
    place = source if source.endswith(".toml") else f"{source}.toml"
    table = parse_toml(text, place=place)
    try:
        return build_experiment({"name": name, "source": source} | table)
    except UsageError as error:
        raise UsageError(f"{place}: {error}") from None


def build_experiment(table: Mapping[str, Any]) -> Experiment:
    """Return the experiment that a table describes; its key ``kind`` says which of `KINDS` it is."""
    given = dict(table)
    name = given.pop("kind", USUAL_KIND)
    if name not in KINDS:
        raise UnknownName("kind of experiment", str(name), KINDS)
    experiment: Experiment = build_options(KINDS[name].options, given)
    KINDS[name].check(experiment)
    question, budget = _flat(experiment.question), _flat(experiment.budget)
    return replace(experiment, question=question, budget=budget, findings=experiment.findings.strip())


def _flat(text: str) -> str:
    return " ".join(text.split())


def definition_of(experiment: Experiment) -> dict[str, Any]:
    """Return what a page needs to know of an experiment of the user's own: the table that builds it again.

    It has no options, which stand in the record of each run, and no names of the user's folders.
    """
    table = table_of(experiment) | {"kind": kind_of(experiment).name, "source": public_name(experiment.source)}
    for part in (table, *table.get("runs", ())):
        part.pop("options", None)
    definition: dict[str, Any] = _public(table)
    return definition


def _public(value: Any, key: str = "") -> Any:
    """Return a table without empty entries, files by their public names."""
    if isinstance(value, dict):
        return {name: _public(inner, name) for name, inner in value.items() if inner not in (None, "", [], {})}
    if isinstance(value, list):
        return [_public(inner, key) for inner in value]
    if key in ("files", "target", "folder", "model") or (key == "source" and not value.endswith(".toml")):
        return "|".join(public_name(part) if "/" in part else part for part in value.split("|"))
    return value
