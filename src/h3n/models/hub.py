"""A model made ready for the Hugging Face hub, and sent there.

What is sent is what `h3n.models.locate` downloads: the weights as safetensors, options and vocabulary as JSON, what an
encoder needs, and the card, with the block of metadata at its top that the hub reads.
"""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import Any

from h3n.errors import InputError, UsageError, first_line, missing_extra
from h3n.files import read_regular, written_folder
from h3n.models import CARD, FILES, LARGEST_CARD, language_of, read_about

_REPOSITORY = re.compile(r"[A-Za-z0-9][\w.-]*/[A-Za-z0-9][\w.-]*")
_BLOCK = re.compile(r"\A---\n(?P<lines>.*?)^---\n", re.DOTALL | re.MULTILINE)
_CODE = re.compile(r"[a-z]{2,3}")  # what the hub knows languages by


def check_repository(name: str) -> None:
    """Raise unless the hub can have a repository of this name."""
    if not _REPOSITORY.fullmatch(name):
        raise UsageError(f"repository {name!r}; expected owner/name, of letters, digits, '.', '_' and '-'")


def write_for_hub(source: Path, target: Path, *, repository: str) -> None:
    """Write those files of a model that belong on the hub; what else lies beside them stays at home."""
    about = read_about(source)
    if target.exists() and (not target.is_dir() or any(target.iterdir())):
        raise UsageError(f"{target} is there already and not an empty folder; name another")
    card = read_card(source)
    with written_folder(target) as draft:
        for file in (file for pattern in FILES for file in sorted(source.glob(pattern))):
            copy = draft / file.relative_to(source)
            copy.parent.mkdir(exist_ok=True)
            shutil.copyfile(file, copy)
        card = with_metadata(with_use(card, repository), metadata(about, language_of(source)))
        (draft / CARD).write_text(card, encoding="utf-8")


def read_card(source: Path) -> str:
    """Return the card of a model, without which it is not fit for others."""
    if not (source / CARD).exists():
        wanted = "what the model is, its data, its licence and its scores"
        raise InputError(f"{source} has no card; write {CARD} there: {wanted}")
    try:
        return read_regular(source / CARD, largest=LARGEST_CARD).decode()
    except UnicodeDecodeError as error:
        raise InputError(f"{source / CARD}: not UTF-8: {error.reason} at byte {error.start}") from None


def metadata(about: dict[str, Any], language: str | None) -> dict[str, str]:
    """Return what the hub lists a model by; its licence only its maker knows."""
    codes = re.split(r"[ ,]+", language or "")
    found = {"labels": "constituency-parsing", "relations": "dependency-parsing"}
    tags = [tag for key, tag in found.items() if any(about["vocabulary"][key])]
    languages = {"language": f"[{', '.join(codes)}]"} if all(map(_CODE.fullmatch, codes)) else {}
    return languages | {"library_name": "h3n", "tags": f"[{', '.join(tags)}]"}


def with_metadata(card: str, entries: dict[str, str]) -> str:
    """Return the card with these entries in the block at its top; what stands there already is kept."""
    block = _BLOCK.match(card)
    lines = block["lines"] if block is not None else ""
    missing = [f"{key}: {value}\n" for key, value in entries.items() if not re.search(rf"^{key}:", lines, re.M)]
    return f"---\n{lines}{''.join(missing)}---\n" + (card[block.end() :] if block is not None else "\n" + card)


def with_use(card: str, repository: str) -> str:
    """Return the card with how to load the model from the hub, unless it says so."""
    if repository in card:
        return card
    return f'{card.rstrip()}\n\n## Use\n\n```python\nimport h3n\n\nparser = h3n.load("{repository}")\n```\n'


def upload(folder: Path, repository: str, *, private: bool) -> None:
    """Send a folder to the hub as whoever is logged in there."""
    try:
        from huggingface_hub import HfApi, errors, get_token
    except ModuleNotFoundError as error:
        raise missing_extra(error) from None
    if get_token() is None:
        raise InputError("no token for the hub; run `hf auth login`, or set HF_TOKEN")
    broken_connection: type[Exception] = getattr(errors, "HTTPError", OSError)
    try:
        hub = HfApi()
        hub.create_repo(repository, private=private, exist_ok=True)
        hub.upload_folder(repo_id=repository, folder_path=folder, commit_message="A model of h3n")
    except (OSError, ValueError, broken_connection) as error:
        raise InputError(f"the hub does not take {repository!r}: {first_line(error)}") from None
