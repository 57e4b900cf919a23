"""The map of the paper: every name in it exists, and what it names cites its place in the paper back."""

from __future__ import annotations

import inspect
import re
from importlib import import_module
from pathlib import Path

import pytest

PROJECT = Path(__file__).parent.parent
MAP, ERRATA = (PROJECT / "docs" / "paper.md").read_text(encoding="utf-8").split("## Errata")
ROWS = re.findall(r"^\| (?!in the paper)([^|-][^|]*) \| [^|]* \| ([^|]*) \|$", MAP, flags=re.MULTILINE)
LINKS = [(place, name) for place, names in ROWS for name in re.findall(r"`([^`]+)`", names)]
KEY = re.compile(r"(?:section|equation|Algorithm|Table) [IVX0-9]+(?:-[A-G])?\b")
# What the paper numbers. A new edition of the map must not lose one.
PRINTED = [
    *("section I", "section II", "section III", "equation 1", "equation 2", "equation 3", "equation 4"),
    *(f"section III-{part}" for part in "ABCDEFG"),
    *("section IV-A", "section V-A", "section V-B", "Algorithm 1", "Algorithm 2"),
    *(f"Table {number}" for number in ("I", "II", "III", "IV")),
]


def described(name: str) -> str:
    """Return the docstring of a Python name, or the comments of a C++ or data file that defines it."""
    if name.startswith("h3n."):
        module, _, attribute = name.rpartition(".")
        return inspect.getdoc(getattr(import_module(module), attribute)) or ""
    file, _, function = name.partition(":")
    text = (PROJECT / file).read_text(encoding="utf-8")
    if function:
        assert re.search(rf"\b{function}\(", text), f"{file} does not define {function}"
    return "\n".join(re.findall(r"^(?://|#) ?(.*)$", text, flags=re.MULTILINE))


@pytest.mark.parametrize("place", PRINTED)
def test_everything_the_paper_numbers_is_on_the_map(place: str) -> None:
    assert place in {key for row, _ in ROWS for key in KEY.findall(row)}


@pytest.mark.parametrize(("place", "name"), LINKS, ids=[f"{place}: {name}" for place, name in LINKS])
def test_what_the_map_names_exists_and_cites_back(place: str, name: str) -> None:
    text = " ".join(described(name).split())
    keys = KEY.findall(place)
    assert keys, place
    cited = {key for part in re.findall(r"\bpaper\b([^.()]*)", text) for key in KEY.findall(part)}
    assert cited & set(keys), f"{name} cites {sorted(cited)}, the map says {keys}"


def test_the_errata_say_that_completeness_is_on_the_other_side() -> None:
    assert "the **dependent** side must be labelled" in ERRATA
