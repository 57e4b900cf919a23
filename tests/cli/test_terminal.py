"""One line for everything the operating system refuses, and nothing on a terminal that steers it."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

from h3n.cli.streams import printable, printable_text

ROWS = "1\tx\t_\t_\t_\t_\t0\troot\t_\t_\n\n"


def run(folder: Path, *arguments: str, stdout: str | None = None) -> subprocess.CompletedProcess[str]:
    (folder / "a.conllu").write_text(ROWS)
    output = subprocess.PIPE if stdout is None else os.open(stdout, os.O_WRONLY)
    return subprocess.run(
        [sys.executable, "-m", "h3n", *arguments],
        cwd=folder,
        stdout=output,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
        timeout=120,
    )


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full")
@pytest.mark.parametrize(
    "arguments",
    [["--help"], ["stats", "a.conllu"], ["validate", "a.conllu"], ["convert", "a.conllu", "-", "--to", "conllu"]],
)
def test_a_full_disk_is_one_line(tmp_path: Path, arguments: list[str]) -> None:
    said = run(tmp_path, *arguments, stdout="/dev/full")
    assert said.returncode == 2
    assert said.stderr.startswith(("h3n: standard output cannot be ", "h3n: <stdout>: cannot be "))
    assert said.stderr.endswith("No space left on device\n")
    assert said.stderr.count("\n") == 1


@pytest.mark.parametrize("command", ["convert", "stats", "validate"])
@pytest.mark.parametrize("name", ["loop.conllu", "x" * 300 + ".conllu", "a.conllu/b.conllu"])
def test_names_that_lead_nowhere_are_one_line(tmp_path: Path, command: str, name: str) -> None:
    (tmp_path / "loop.conllu").symlink_to("loop.conllu")
    said = run(tmp_path, command, name, *(["out.ptb"] if command == "convert" else []))
    assert (said.returncode, said.stdout, said.stderr.count("\n")) == (2, "", 1)
    assert "cannot be " in said.stderr


@pytest.mark.parametrize("name", ["x" * 300 + ".conllu", "a.conllu/b.conllu", "/dev/full"])
def test_outputs_that_lead_nowhere_are_one_line(tmp_path: Path, name: str) -> None:
    said = run(tmp_path, "convert", "a.conllu", name, "--to", "conllu")
    assert (said.returncode, said.stdout, said.stderr.count("\n")) == (2, "", 1)
    assert "cannot be written" in said.stderr
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.conllu"]


def test_nothing_steers_the_terminal(tmp_path: Path) -> None:
    (tmp_path / "b.conllu").write_text(ROWS.replace("root", "r\x1b[31moot").replace("x", "x\x9b31m"))
    main, terminal = pty.openpty()
    for arguments in (["convert", "b.conllu", "-", "--to", "conllu"], ["stats", "b.conllu"], ["no\x1b[31m"]):
        command = [sys.executable, "-m", "h3n", *arguments]
        subprocess.run(command, cwd=tmp_path, stdout=terminal, stderr=terminal, check=False, timeout=120)
        shown = os.read(main, 10_000)
        assert b"\\x1b[31m" in shown
        assert b"\x1b" not in shown
        assert b"\xc2\x9b" not in shown
    os.close(main)
    os.close(terminal)


def test_printable() -> None:
    assert printable("a\tb\n\x1bé語") == "a\\tb\\n\\x1bé語"
    assert printable_text("a\tb\n\x1b") == "a\tb\n\\x1b"
