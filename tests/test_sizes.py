"""Code in pieces that are read in one go: no long file, no long function."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import h3n

SOURCE = Path(h3n.__file__).parent
ROOT = Path(__file__).parents[1]
LONGEST_FILE, LONGEST_FUNCTION = 300, 50  # lines; of a function its statements, without the list of its options
BESIDE_SOURCE = {"tests": ("*.py",), "benchmarks": ("*.py",), "native": ("*.cpp", "*.hpp")}


def long_functions(text: str) -> Iterator[str]:
    """Yield what is to be said of each function that is too long."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            body = node.body[1:] if ast.get_docstring(node) else node.body
            lines = (body[-1].end_lineno or 0) - body[0].lineno + 1 if body else 0
            if lines > LONGEST_FUNCTION:
                yield f"{node.name} has {lines} lines"


def test_no_file_and_no_function_is_long() -> None:
    long: list[str] = []
    for file in sorted(SOURCE.rglob("*.py")):
        text = file.read_text(encoding="utf-8")
        name = str(file.relative_to(SOURCE))
        if len(text.splitlines()) > LONGEST_FILE:
            long.append(f"{name}: {len(text.splitlines())} lines")
        long.extend(f"{name}: {fault}" for fault in long_functions(text))
    assert not long, long


def test_no_file_beside_the_source_is_long() -> None:
    files = [file for folder, kinds in BESIDE_SOURCE.items() for kind in kinds for file in (ROOT / folder).rglob(kind)]
    lengths = {file.relative_to(ROOT).as_posix(): len(file.read_text("utf-8").splitlines()) for file in files}
    assert {Path(name).parts[0] for name in lengths} == set(BESIDE_SOURCE)
    long = {name: lines for name, lines in lengths.items() if lines > LONGEST_FILE}
    assert not long, long
