"""Code in pieces that are read in one go: no long file, no long function."""

from __future__ import annotations

import ast
from pathlib import Path

import h3n

SOURCE = Path(h3n.__file__).parent
LONGEST_FILE, LONGEST_FUNCTION = 300, 50  # lines; of a function its statements, without the list of its options


def test_no_file_and_no_function_is_long() -> None:
    long: list[str] = []
    for file in sorted(SOURCE.rglob("*.py")):
        text = file.read_text(encoding="utf-8")
        name = str(file.relative_to(SOURCE))
        if len(text.splitlines()) > LONGEST_FILE:
            long.append(f"{name}: {len(text.splitlines())} lines")
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                body = node.body[1:] if ast.get_docstring(node) else node.body
                lines = (body[-1].end_lineno or 0) - body[0].lineno + 1 if body else 0
                if lines > LONGEST_FUNCTION:
                    long.append(f"{name}: {node.name} has {lines} lines")
    assert not long, long
