"""Where a figure comes from: version, commit, data and machine, without names of hosts, people or folders."""

from __future__ import annotations

import os
import platform
import subprocess
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import h3n
from h3n.config import expand
from h3n.files import checksum

if TYPE_CHECKING:
    from h3n.parser import Parser


def describe_code() -> dict[str, Any]:
    """Return the version of h3n and, in a checkout of it, the commit and whether files differ from it."""
    code: dict[str, Any] = {"version": h3n.__version__}
    source = Path(h3n.__file__).parent
    if _git(source, "ls-files", "--error-unmatch", "__init__.py") is None:
        return code | {"commit": None}
    changed = _git(source, "status", "--porcelain", "--untracked-files=no", "--", ".", "../../native")
    return code | {"commit": _git(source, "rev-parse", "HEAD"), "changed_files": bool(changed)}


def _git(folder: Path, *arguments: str) -> str | None:
    try:
        done = subprocess.run(["git", *arguments], cwd=folder, capture_output=True, text=True, check=True, timeout=60)
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.strip()


def describe_machine(device: str) -> dict[str, Any]:
    """Return what a speed or a length of training depends on."""
    import torch

    machine: dict[str, Any] = {
        "processor": processor_name(),
        "cores": os.cpu_count(),
        "threads": torch.get_num_threads(),
    }
    machine |= {"python": platform.python_version(), "torch": torch.__version__, "device": device}
    if device.startswith("cuda"):
        machine["gpu"] = torch.cuda.get_device_name(device)
    return machine


def describe_parser(parser: Parser) -> dict[str, str]:
    """Return what ran: the precision, the instruction sets of encoder and decoders, the processor."""
    from h3n.decode import native as decoders

    network = parser.engine.network
    encoder = network.computes if network.device == "cpu" else network.device
    ran = {"precision": parser.precision, "encoder": encoder}
    return ran | {"decoders": decoders.targets()[0], "processor": processor_name()}


def ran_text(ran: Mapping[str, str]) -> str:
    """Return what ran as a phrase."""
    sets = f"encoder on {ran['encoder']}, decoders on {ran['decoders']}"
    return f"{ran['precision']}, {sets}; {ran['processor']}"


def processor_name() -> str:
    """Return what the processor calls itself."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    names = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(names, platform.machine())


def checksums(files: Iterable[str]) -> dict[str, str]:
    """Return the SHA-256 of each file by its public name."""
    return {public_name(file): checksum(expand(file)) for file in dict.fromkeys(files)}


def public_name(file: str) -> str:
    """Return a file's name as it stands in results: below ``$H3N_DATA``, or its last part and the folder's."""
    data = os.environ.get("H3N_DATA")
    if data and file.startswith(f"{data.rstrip('/')}/"):
        file = "$H3N_DATA" + file[len(data.rstrip("/")) :]
    return file if file.startswith("$") else "/".join(Path(file).parts[-2:])
