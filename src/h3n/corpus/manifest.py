"""What an output folder was begun with: input, model, options, versions. Only the same may go on in it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

from h3n import __version__
from h3n.corpus.inputs import Input, as_table
from h3n.corpus.options import Options
from h3n.corpus.storage import Folder
from h3n.corpus.tables import VERSION as TABLE
from h3n.errors import InputError, UsageError
from h3n.files import checksum
from h3n.models import ABOUT, ENCODER, SEGMENTER_RULES, SEGMENTER_WEIGHTS, WEIGHTS

NAME = "manifest.json"
VERSION = 1
SHOWN = 60  # characters of a value in a message


def checksum_of_model(folder: Path) -> str:
    """Return the SHA-256 of all that a model is loaded from."""
    digest = hashlib.sha256()
    for path in sorted(path for path in [*folder.glob("*"), *folder.glob(f"{ENCODER}/*")] if path.is_file()):
        name = path.relative_to(folder).as_posix()
        if name in (ABOUT, WEIGHTS, SEGMENTER_RULES, SEGMENTER_WEIGHTS) or name.startswith(f"{ENCODER}/"):
            digest.update(f"{name} {checksum(path)}\n".encode())
    return digest.hexdigest()


def manifest_of(inputs: Sequence[Input], options: Options, *, model: str, sha256: str, shards: int) -> dict[str, Any]:
    """Return the manifest of a run."""
    written_by: dict[str, Any] = {"h3n": __version__}
    if options.output_format == "parquet":
        written_by |= {"pyarrow": version("pyarrow"), "table": TABLE}
    return {
        "version": VERSION,
        "written_by": written_by,
        "model": {"name": model, "sha256": sha256},
        "options": options.as_table(),
        "shards": shards,
        "inputs": [as_table(one) for one in inputs],
    }


def read_manifest(folder: Folder) -> dict[str, Any] | None:
    """Return the manifest of a folder, or None where there is none."""
    content = folder.read(NAME)
    if content is None:
        return None
    try:
        manifest: Any = json.loads(content)
    except ValueError:
        manifest = None
    if not isinstance(manifest, dict) or manifest.get("version") != VERSION:
        raise InputError(f"{folder.at(NAME)}: not a manifest of version {VERSION}")
    return manifest


def require_manifest(folder: Folder) -> dict[str, Any]:
    """Return the manifest of a parsed corpus, or say that the folder is not one."""
    manifest = read_manifest(folder)
    if manifest is None:
        raise InputError(f"{folder.url}: not a parsed corpus: it has no {NAME}; `h3n corpus parse` makes one")
    return manifest


def begin(folder: Folder, manifest: dict[str, Any]) -> bool:
    """Write the manifest of a new run, or check that of an old one; return whether the run goes on with an old one."""
    old = read_manifest(folder)
    if old is None:
        if any(name.startswith("part-") for name in folder.names()):
            raise UsageError(f"{folder.url}: holds shards and no {NAME}; name another folder")
        folder.write(NAME, (json.dumps(manifest, ensure_ascii=False, indent=2) + "\n").encode())
        return False
    _check_table(folder, old, manifest)
    for what in ("written_by", "model", "options", "inputs", "shards"):
        if (difference := _difference(old[what], manifest[what])) is not None:
            there, now = (_shown(value) for value in difference[1:])
            name = f"{what} {difference[0]}".strip()
            raise UsageError(
                f"{folder.url}: begun with another {name}: {there} there, {now} now; repeat the first command or name "
                "another folder"
            )
    return True


def _check_table(folder: Folder, old: dict[str, Any], new: dict[str, Any]) -> None:
    """Raise where the shards that are there have other columns than those that would come."""
    there, now = (one["written_by"].get("table", 1) for one in (old, new))  # version 1 was not written down
    if there != now and old["options"]["output_format"] == new["options"]["output_format"] == "parquet":
        raise UsageError(
            f"{folder.url}: begun with tables of version {there}, this h3n writes version {now}; name another folder, "
            "or go on with the h3n that began it"
        )


def _difference(old: Any, new: Any, name: str = "") -> tuple[str, Any, Any] | None:
    """Return the first place where two values differ, and what stands there."""
    if isinstance(old, dict) and isinstance(new, dict):
        pairs = [(f"{name}.{key}".lstrip("."), old.get(key), new.get(key)) for key in dict.fromkeys([*old, *new])]
    elif isinstance(old, list) and isinstance(new, list):
        if len(old) != len(new):
            return f"{name} (count)".strip(), len(old), len(new)
        pairs = [(f"{name}{at + 1}", one, other) for at, (one, other) in enumerate(zip(old, new, strict=True))]
    else:
        return (name, old, new) if old != new else None
    return next((found for each in pairs if (found := _difference(each[1], each[2], each[0]))), None)


def _shown(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= SHOWN else f"{text[: SHOWN - 3]}..."
