"""The command `h3n parse` with a small model."""

from __future__ import annotations

import io
import sys
from pathlib import Path

import pytest

from h3n.cli import main
from tests.cli.parse_inputs import LINES, ROWS, TREES, Keyboard, Run


@pytest.fixture
def parse(
    tiny_model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsysbinary: pytest.CaptureFixture[bytes]
) -> Run:
    """Return a function that runs the command with a small model: (exit code, stdout, stderr)."""
    monkeypatch.chdir(tmp_path)
    for name, text in {"a.txt": LINES, "a.conllu": ROWS, "a.ptb": TREES, "empty.txt": ""}.items():
        Path(name).write_text(text, encoding="utf-8")

    def command(
        *arguments: str, stdin: str = "", typed: str | None = None, model: str = str(tiny_model)
    ) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["h3n", "parse", *arguments, "--model", model])
        kind = io.TextIOWrapper if typed is None else Keyboard
        monkeypatch.setattr(sys, "stdin", kind(io.BytesIO((typed or stdin).encode()), encoding="utf-8"))
        with pytest.raises(SystemExit) as left:
            main()
        out, err = capsysbinary.readouterr()
        return int(left.value.code or 0), out.decode(errors="replace"), err.decode()

    return command
