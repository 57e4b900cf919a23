"""Where the figures of a section come from, as lines of Markdown."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from h3n.measure.tables import markdown_heading, markdown_row

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
