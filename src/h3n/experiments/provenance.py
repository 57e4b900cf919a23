"""Where a figure comes from: version, commit, data and machine, without names of hosts, people or folders."""

from __future__ import annotations

import os
import platform
import subprocess
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import h3n
from h3n.config import expand
from h3n.prepare.folder import checksum


def describe_code() -> dict[str, Any]:
    """Return the version of h3n and, in a checkout of it, the commit and whether files differ from it."""
    found: dict[str, Any] = {"version": h3n.__version__}
    source = Path(h3n.__file__).parent
    if _git(source, "ls-files", "--error-unmatch", "__init__.py") is None:
        return found | {"commit": None}
    changed = _git(source, "status", "--porcelain", "--untracked-files=no", "--", ".", "../../native")
    return found | {"commit": _git(source, "rev-parse", "HEAD"), "changed_files": bool(changed)}


def _git(folder: Path, *arguments: str) -> str | None:
    try:
        made = subprocess.run(["git", *arguments], cwd=folder, capture_output=True, text=True, check=True, timeout=60)
    except (OSError, subprocess.SubprocessError):
        return None
    return made.stdout.strip()


def describe_machine(device: str) -> dict[str, Any]:
    """Return what a speed or a length of training depends on."""
    import torch

    made: dict[str, Any] = {"processor": _processor(), "cores": os.cpu_count(), "threads": torch.get_num_threads()}
    made |= {"python": platform.python_version(), "torch": torch.__version__, "device": device}
    if device.startswith("cuda"):
        made["gpu"] = torch.cuda.get_device_name(device)
    return made


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    names = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(names, platform.machine())


def checksums(files: Iterable[str]) -> dict[str, str]:
    """Return the SHA-256 of each file, by its name as far as that is anybody's business."""
    return {public_name(file): checksum(expand(file)) for file in dict.fromkeys(files)}


def public_name(file: str) -> str:
    """Return a file's name as it stands in results: below ``$H3N_DATA``, or its last part and the folder's."""
    data = os.environ.get("H3N_DATA")
    if data and file.startswith(f"{data.rstrip('/')}/"):
        file = "$H3N_DATA" + file[len(data.rstrip("/")) :]
    return file if file.startswith("$") else "/".join(Path(file).parts[-2:])
