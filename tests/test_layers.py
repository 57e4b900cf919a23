"""Imports go down only, and light commands stay light."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import h3n

SOURCE = Path(h3n.__file__).parent

# Each layer may import the layers above it in this list and itself; parts of one layer do not import each other.
LAYERS: list[set[str]] = [
    {"errors", "trees", "files", "config", "presets"},
    {"formats", "convert", "evaluate", "decode", "text"},
    {"treebanks", "draw", "models"},
    {"model"},
    {"parser"},
    {"prepare", "training"},
    {"measure"},
    {"experiments", "corpus", "serve", "integrations"},
    {"cli"},
]
LEVEL = {part: level for level, parts in enumerate(LAYERS) for part in parts}
FREE = {"__init__", "__main__"}  # the public names and `python -m h3n` stand outside the layers


def imported_parts(file: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        names = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{file.name} imports relatively"
            names = [
                f"{node.module}.{alias.name}" if node.module == "h3n" else str(node.module) for alias in node.names
            ]
        for name in names:
            if name.startswith("h3n."):
                yield name.split(".")[1]


def part_of(file: Path) -> str:
    return file.relative_to(SOURCE).parts[0].removesuffix(".py")


FILES = [file for file in sorted(SOURCE.rglob("*.py")) if part_of(file) not in FREE]


@pytest.mark.parametrize("file", FILES, ids=lambda file: str(file.relative_to(SOURCE)))
def test_imports_go_down_only(file: Path) -> None:
    part = part_of(file)
    assert part in LEVEL, f"{part} has no layer: add it to the table"
    for other in imported_parts(file):
        if other == part or other not in LEVEL:  # such as h3n.__version__
            continue
        lower = LEVEL[other] < LEVEL[part]
        beside = LEVEL[other] == LEVEL[part] == 0
        assert lower or beside, f"{part} imports {other}"


@pytest.mark.parametrize("part", sorted(LEVEL))
def test_every_layer_of_the_table_that_exists_imports(part: str) -> None:
    if not (SOURCE / part).is_dir() and not (SOURCE / f"{part}.py").is_file():
        pytest.skip(f"{part} is not written yet")
    subprocess.run([sys.executable, "-c", f"import h3n.{part}"], check=True)


LIGHT = ["formats", "convert", "evaluate", "text", "cli", "treebanks", "models", "experiments.page"]


@pytest.mark.parametrize("part", LIGHT)
def test_light_parts_import_no_torch(part: str) -> None:
    code = f"import sys, h3n.{part}; sys.exit('torch' in sys.modules or 'transformers' in sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)
