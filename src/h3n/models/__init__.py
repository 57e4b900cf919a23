"""Where models are: bundled with the package, in a folder, or on the Hugging Face hub.

A model is a folder with the files `ABOUT` and `WEIGHTS`, beside them what a pretrained encoder needs, and a model card.
Nothing here imports torch, so that models can be listed and described without a wait.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from h3n.errors import InputError

VERSION = 1
SHA256 = "sha256"  # of the weights, in ABOUT
KEYS = ("version", SHA256, "config", "vocabulary")
WEIGHTS, ABOUT, ENCODER, CARD = "model.safetensors", "parser.json", "encoder", "README.md"
BUNDLED = Path(__file__).parent
_ON_HUB = re.compile(r"(?P<name>[\w.-]+/[\w.-]+)(?:@(?P<revision>[\w./-]+))?")


def bundled() -> dict[str, Path]:
    """Return the folders of the models that came with the package, by name."""
    found = sorted(path.parent for path in BUNDLED.glob(f"*/{ABOUT}"))
    return {path.name: path for path in found}


def locate(name: str | Path) -> Path:
    """Return the folder of a model: a bundled one by name, a folder as it is, one from the hub downloaded.

    A folder wins over a name on the hub, which is ``owner/name`` or ``owner/name@revision``.
    """
    given, here = str(name), bundled()
    if given in here:
        return here[given]
    if Path(given).is_dir():
        return Path(given)
    if (match := _ON_HUB.fullmatch(given)) is not None and not Path(given).is_file():
        return _download(match["name"], match["revision"])
    known = f"bundled: {', '.join(here)}" if here else "none is bundled with this version of h3n"
    raise InputError(f"no model {given!r}; expected a bundled name ({known}), a folder, or owner/name on the hub")


def _download(name: str, revision: str | None) -> Path:
    from huggingface_hub import snapshot_download

    try:
        # Only what loading reads: nothing that could be executed, no second copy of the weights.
        wanted = [ABOUT, WEIGHTS, CARD, f"{ENCODER}/*.json", f"{ENCODER}/*.txt", f"{ENCODER}/*.model"]
        return Path(snapshot_download(name, revision=revision, allow_patterns=wanted))
    except (OSError, ValueError) as error:
        said = str(error).strip().splitlines() or [type(error).__name__]
        raise InputError(f"no folder {name!r}, and the hub does not give a model of this name: {said[0]}") from None


def read_about(folder: str | Path) -> dict[str, Any]:
    """Return what the model in a folder says of itself: its version, options and vocabulary."""
    path = Path(folder)
    if not path.is_dir():
        raise InputError(f"{path}: no such folder; expected one that holds {ABOUT} and {WEIGHTS}")
    try:
        about: Any = json.loads((path / ABOUT).read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(f"{path / ABOUT}: cannot be read: {error.strerror}; is {path} a saved parser?") from None
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path / ABOUT}: not JSON: {error}") from None
    if not isinstance(about, dict) or about.get("version") != VERSION:
        raise InputError(f"{path / ABOUT}: written by another version of h3n; expected version {VERSION}")
    for name in ("config", "vocabulary"):
        if not isinstance(about.get(name), dict):
            raise InputError(f"{path / ABOUT}: {name} is missing; expected what h3n wrote there")
    for name in about:
        if name not in KEYS:
            raise InputError(f"{path / ABOUT}: {name!r} is not known; accepted: {', '.join(KEYS)}")
    if not isinstance(about.get(SHA256, ""), str):
        raise InputError(f"{path / ABOUT}: {SHA256} is not a string; expected the checksum of {WEIGHTS}")
    return about
