"""A corpus small enough to be parsed in a moment, and what compares two runs."""

from __future__ import annotations

from pathlib import Path

import pytest

TEXT = "The dog sees the house. The teacher reads a book.\n\nA man with a telescope sees the dog.\n"


@pytest.fixture
def texts(tmp_path: Path) -> Path:
    """Return a folder of texts, some in a folder of their own, that make several shards of 300 bytes."""
    folder = tmp_path / "texts"
    (folder / "more").mkdir(parents=True)
    for number in range(6):
        (folder / f"{number}.txt").write_text(TEXT * (number + 1), encoding="utf-8")
        (folder / "more" / f"{number}.txt").write_text(f"The man reads {number} books. " + TEXT, encoding="utf-8")
    return folder


def contents(folder: Path, *, missing: bool = False) -> dict[str, bytes]:
    """Return what must not depend on how a run went: shards, errors and manifest; some may be missing."""
    chosen = [*folder.glob("part-*"), *folder.glob("errors/*"), folder / "errors.jsonl", folder / "manifest.json"]
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(chosen) if path.exists() or not missing}


def processes_of(number: int) -> dict[int, str]:
    """Return the processes below one, and what each is called."""
    below: dict[int, str] = {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            parent = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
            command = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode()
        except (OSError, ValueError):
            continue  # it has ended meanwhile
        below[int(folder.name)] = f"{parent} {command}"
    found: dict[int, str] = {}
    todo = [number]
    while todo:
        parent = todo.pop()
        for one, said in below.items():
            if said.split()[0] == str(parent) and one not in found:
                found[one] = said.partition(" ")[2]
                todo.append(one)
    return found
