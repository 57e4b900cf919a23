"""The page of results: tables and plots from the JSON files alone, the same bytes from the same results."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from h3n.errors import InputError
from h3n.experiments.catalogue import experiment_names, load_experiment
from h3n.experiments.experiment import Experiment
from h3n.experiments.files import how_to_get
from h3n.experiments.kinds import kind_of
from h3n.experiments.plan import command_of
from h3n.experiments.results import own_experiments, read_results
from h3n.measure.tables import markdown_heading, markdown_row

PAGE = "results.md"
IMAGES = "images"
HEAD = """<!-- Written by `h3n experiments report` from results/*.json: do not edit. -->
# Results

Every table of the paper has a command, and every figure on this page says which one made it: the seed, the commit and
the checksums of the data stand below each table. [Reproducing](reproducing.md) says how to run them and how to add one.

- Unless a heading says test, our figures are of **dev** sets: on them models were chosen and, where a table says so,
  the weight of spans against arcs was tuned. The paper's are of test sets, most of them of other treebanks; beside dev
  figures they are for orientation, not for comparison.
- Words are given, tags are not. LP, LR and LF1 are as EVALB counts them; UAS and LAS leave out words of punctuation
  only. HAcc is the share of words whose level the head scorer gets right; *heads right* is the share of the gold joint
  tree's spans of two words or more whose head is the word with the highest head score, which is what H3n builds on.
- Sentences/s counts the network and the decoder, in processor time of one thread. With several seeds a cell holds their
  mean and, in brackets, each.
"""


def write_page(results: str | Path, docs: str | Path) -> Path:
    """Write the page and its plots into a folder and return the page's path.

    Besides the experiments that come with h3n it has those in files of the user's own that have results.
    """
    folder = Path(docs)
    ours = map(load_experiment, experiment_names())
    experiments = sorted([*ours, *own_experiments(Path(results))], key=lambda one: (one.order, one.name))
    stored = {one.name: read_results(Path(results), one.name) for one in experiments}
    parts = [HEAD, *(_section(one, run, folder) for one in experiments if (run := stored[one.name]) is not None)]
    if waiting := [one for one in experiments if not stored[one.name]]:
        parts.append("\n".join(_not_run(waiting)))
    path = folder / PAGE
    try:
        folder.mkdir(parents=True, exist_ok=True)
        path.write_text("\n".join(parts), encoding="utf-8", newline="\n")
    except OSError as error:
        raise InputError(f"{path}: cannot be written: {error.strerror}") from None
    return path


def _section(experiment: Experiment, stored: dict[str, Any], folder: Path) -> str:
    records: list[dict[str, Any]] = list(stored["runs"].values())
    lines = [f"## {experiment.title}", "", experiment.question, ""]
    if experiment.table:
        lines += [f"The paper's table: *{experiment.table}*.", ""]
    if experiment.budget:
        lines += [f"Budget: {experiment.budget}", ""]
    if stored["miniature"]:
        lines += ["**A miniature: generated sentences and a tiny network. The figures mean nothing.**", ""]
    lines += kind_of(experiment).tables(experiment, records)
    if experiment.findings:
        lines += [experiment.findings, ""]
    lines += [*_picture(experiment, records, folder), *provenance(records)]
    return "\n".join(lines)


def _picture(experiment: Experiment, records: Sequence[dict[str, Any]], folder: Path) -> Iterator[str]:
    name = f"results-{experiment.name}.png"
    try:
        (folder / IMAGES).mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"{folder / IMAGES}: cannot be made: {error.strerror}") from None
    kind_of(experiment).plot(experiment, records, folder / IMAGES / name)
    yield from (f"![{experiment.title}]({IMAGES}/{name})", "")


def _not_run(experiments: Sequence[Experiment]) -> Iterator[str]:
    yield from ("## Not run here", "", "With their data in `$H3N_DATA`, the same commands run these and print the")
    yield from ("paper's figures beside yours.", "")
    for experiment in experiments:
        yield from (f"### {experiment.title}", "", experiment.question, "", "```console")
        yield from (f"$ {line}" for line in how_to_get(experiment))
        yield from (f"$ {command_of(experiment.source)}", "```", "")


SHORT = 12  # digits of a checksum or commit


def provenance(records: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Yield where the figures come from: commands, commits, minutes, data."""
    yield from markdown_heading(["made by", "commit", "trained"], left=3)
    for record in records:
        yield markdown_row([f"`{record['command']}`", _commit(record["code"]), _training(record)])
    data = {name: checksum for record in records for name, checksum in record["data"].items()}
    yield from ("", "Data (SHA-256): " + ", ".join(f"`{name}` {data[name][:SHORT]}" for name in sorted(data)) + ".")
    machines = dict.fromkeys(_machine(record["machine"]) for record in records)
    yield from (f"Measured on: {'; '.join(machines)}.", "")
    if any(record["code"].get("changed_files") for record in records):
        yield from ("\\* with changes that were not committed.", "")


def _commit(code: Mapping[str, Any]) -> str:
    commit = code.get("commit")
    return f"{commit[:SHORT]}{'*' if code.get('changed_files') else ''}" if commit else f"version {code['version']}"


def _training(record: Mapping[str, Any]) -> str:
    if "trained" not in record:
        return f"model `{record['model']}`, weights {record['weights'][:SHORT]}"
    trained, options = record["trained"], record["options"]
    parts = []
    if "minutes" in trained:
        processor = f"{trained['cpu_minutes']:.1f} min of processor time"
        parts.append(f"{trained['epochs']} epochs in {trained['minutes']:.1f} min, {processor}")
    if "code" not in trained:
        parts.append("by `h3n train`")
    elif _commit(trained["code"]) != _commit(record["code"]):
        parts.append(f"at {_commit(trained['code'])}")
    limits = [treebank["limit"] for treebank in options["data"]["train"] if treebank["limit"]]
    parts += [f"the first {limit:,} sentences of a treebank" for limit in limits]
    return ", ".join(parts)


def _machine(machine: Mapping[str, Any]) -> str:
    gpu = f", {machine['gpu']}" if "gpu" in machine else ""
    return f"{machine['processor']}, {machine['cores']} cores, {machine['threads']} thread(s){gpu}"
