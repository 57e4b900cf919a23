"""Results as files: one of JSON for each experiment, a record in it for each run."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from h3n.errors import InputError


def read_results(folder: Path, name: str) -> dict[str, Any] | None:
    """Return the results of an experiment, or None if there are none yet."""
    path = folder / f"{name}.json"
    try:
        found: Any = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        raise InputError(f"{path}: cannot be read: {error}") from None
    if not isinstance(found, dict) or found.get("experiment") != name or not isinstance(found.get("runs"), dict):
        raise InputError(f"{path}: expected the results of experiment {name!r} as `h3n experiments run` writes them")
    return found


def add_result(folder: Path, name: str, *, run: str, record: dict[str, Any], miniature: bool) -> Path:
    """Put a run's record into the results of an experiment and return their file.

    Records of other runs stay, unless they are of the miniature and this one is not, or the other way round.
    """
    from h3n.training.checkpoint import write_file

    found = read_results(folder, name)
    if found is None or found.get("miniature") != miniature:
        found = {"experiment": name, "miniature": miniature, "runs": {}}
    found["runs"] = dict(sorted((found["runs"] | {run: record}).items()))
    path = folder / f"{name}.json"
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"{folder}: cannot be made: {error.strerror}") from None
    write_file(path, json.dumps(found, ensure_ascii=False, indent=1) + "\n")
    return path
