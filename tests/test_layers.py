"""Imports go down only, and light commands stay light."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import h3n

SOURCE = Path(h3n.__file__).parent

# Each layer may import the layers above it in this list and itself; parts of one layer do not import each other.
LAYERS: list[set[str]] = [
    {"errors", "trees", "files", "system", "config", "presets"},
    {"formats", "convert", "evaluate", "decode", "text"},
    {"treebanks", "draw", "models"},
    {"engine"},
    {"model"},
    {"parser"},
    {"outputs"},
    {"prepare", "training", "workbench", "integrations"},
    {"measure", "nltk"},
    {"experiments", "serve", "client", "corpus"},
    {"cli"},
]
LEVEL = {part: level for level, parts in enumerate(LAYERS) for part in parts}
CONTRIBUTING = Path(__file__).parent.parent / "CONTRIBUTING.md"
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


def exists(part: str) -> bool:
    return (SOURCE / part).is_dir() or (SOURCE / f"{part}.py").is_file()


def test_contributing_shows_the_table() -> None:
    """The picture names the parts that exist, line by line as the table has them."""
    picture = CONTRIBUTING.read_text(encoding="utf-8").split("src/h3n/\n")[1].split("\ntests/")[0]
    drawn = [set(re.split(r"   +", line.strip())[0].split()) for line in picture.splitlines()]
    written = [{part for part in layer if exists(part)} for layer in LAYERS]
    assert drawn == [layer for layer in written if layer]


def test_the_journey_names_files_that_exist() -> None:
    journey = CONTRIBUTING.read_text(encoding="utf-8").split("## The longest journey")[1].split("\n## ")[0]
    files = [file for file in re.findall(r"`([\w/]+\.py)`", journey) if file != "tests/test_layers.py"]
    assert len(files) > 10
    assert [file for file in files if not (SOURCE / file).is_file()] == []


# Prints the files of h3n with a function that the command calls; functions that run while a module is imported do not
# count, so that a file is named only if something in it does a part of the work.
JOURNEY = """
import sys, threading
from pathlib import Path
import h3n.cli.parse, h3n.parser, h3n.outputs
home, called = Path(h3n.__file__).parent, set()
def enter(frame, event, _):
    if event == "call" and frame.f_code.co_filename.startswith(str(home)) and frame.f_code.co_name != "<module>":
        called.add(frame.f_code.co_filename)
threading.setprofile(enter); sys.setprofile(enter)
try:
    h3n.cli.main()
finally:
    sys.setprofile(None)
    print(*(Path(file).relative_to(home).as_posix() for file in called))
"""


def test_the_journey_passes_through_the_files_it_names(tiny_model: Path, tmp_path: Path) -> None:
    (tmp_path / "letter.txt").write_text("The old dog sees a cat. It sleeps.\n", encoding="utf-8")
    command = ["parse", "letter.txt", "-o", "letter.conllu", "--model", str(tiny_model)]
    ran = subprocess.run(
        [sys.executable, "-c", JOURNEY, *command], cwd=tmp_path, check=True, capture_output=True, text=True
    )
    journey = CONTRIBUTING.read_text(encoding="utf-8").split("## The longest journey")[1].split("\n## ")[0]
    named = set(re.findall(r"`([\w/]+\.py)`", journey)) - {"tests/test_layers.py"}
    assert named - set(ran.stdout.split()) == set()


@pytest.mark.parametrize("part", sorted(LEVEL))
def test_every_part_of_the_table_imports(part: str) -> None:
    if not exists(part):
        pytest.skip(f"{part} is not written yet")
    subprocess.run([sys.executable, "-c", f"import h3n.{part}"], check=True)


LIGHT = [
    "formats",
    "convert",
    "evaluate",
    "text",
    "cli",
    "treebanks",
    "models",
    "engine",
    "experiments.results_page",
    "client",
    "serve",
]


@pytest.mark.parametrize("part", LIGHT)
def test_light_parts_import_no_torch(part: str) -> None:
    code = f"import sys, h3n.{part}; sys.exit('torch' in sys.modules or 'transformers' in sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_scoring_does_not_wait_for_torch(tmp_path: Path) -> None:
    (tmp_path / "gold.ptb").write_text("(TOP (S (NP (DT the) (NN dog)) (VP (VBZ barks)) (. .)))\n")
    program = (
        "import sys; from h3n.cli.commands import app\n"
        "app(['evaluate', 'gold.ptb', 'gold.ptb'], standalone_mode=False);"
        "assert not {'torch', 'transformers'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", program], cwd=tmp_path, check=True, capture_output=True)
