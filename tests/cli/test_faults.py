"""What the machine around a command does wrong is one line too: closed streams, full disks, odd paths, Ctrl-C."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from h3n.cli.commands import COMMANDS

TREE = "(TOP (S (NP (PRP it)) (VP (VBZ is))))\n"
ROWS = "1\tit\t_\t_\tPRP\t_\t2\tnsubj\t_\t_\n2\tis\t_\t_\tVBZ\t_\t0\troot\t_\t_\n\n"
# Each writes to standard output. Training, experiments and models are represented by what they print without work.
USES = {
    "bench": ["bench", "decode", "--lengths", "3", "--json"],
    "check": ["check", "a.ptb", "--dependencies", "a.conllu", "--json"],
    "convert": ["convert", "a.ptb", "-", "--to", "jsonl"],
    "corpus": ["corpus", "--help"],
    "diff": ["diff", "a.ptb", "a.ptb"],
    "draw": ["draw", "a.ptb"],
    "evaluate": ["evaluate", "a.ptb", "a.ptb"],
    "experiments": ["experiments", "list"],
    "find": ["find", "NP", "a.ptb"],
    "model": ["model", "list"],
    "parse": ["parse", "a.txt", "--to", "brackets"],
    "preannotate": ["preannotate", "a.txt", "-o", "draft.conllu"],
    "prepare": ["prepare", "--list"],
    "serve": ["serve", "--help"],
    "stats": ["stats", "a.ptb"],
    "train": ["train", "--help"],
    "validate": ["validate", "damaged.ptb"],
}
needs_full = pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")


def shell(folder: Path, command: str) -> subprocess.CompletedProcess[str]:
    """Run a line of the shell in which $H3N is the command."""
    environment = os.environ | {"H3N": f"{sys.executable} -m h3n", "OMP_NUM_THREADS": "1"}
    return subprocess.run(
        ["sh", "-c", command], cwd=folder, env=environment, capture_output=True, text=True, check=False, timeout=120
    )


def one_line(said: subprocess.CompletedProcess[str], message: str) -> None:
    assert said.returncode == 2, said.stderr
    assert said.stderr.startswith("h3n: ")
    assert said.stderr.count("\n") == 1, said.stderr
    assert message in said.stderr


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    files = {"a.ptb": TREE, "a.conllu": ROWS, "a.txt": "It is.\n", "damaged.ptb": "(TOP (S\n"}
    for name, text in files.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    return tmp_path


def test_every_command_is_tried() -> None:
    assert sorted(USES) == sorted(COMMANDS)


@needs_full
@pytest.mark.parametrize("name", sorted(USES))
def test_a_full_disk_is_one_line(folder: Path, name: str) -> None:
    one_line(shell(folder, f"$H3N {' '.join(USES[name])} > /dev/full"), "No space left on device")


@needs_full
@pytest.mark.parametrize("name", ["", "draw"])
def test_help_on_a_full_disk_is_one_line(folder: Path, name: str) -> None:
    one_line(shell(folder, f"$H3N {name} --help > /dev/full"), "No space left on device")


@pytest.mark.parametrize("name", ["convert", "draw", "evaluate", "stats", "validate", "prepare"])
def test_a_closed_output_is_one_line(folder: Path, name: str) -> None:
    one_line(shell(folder, f"$H3N {' '.join(USES[name])} >&-"), "standard output is closed")


@pytest.mark.parametrize(
    "command",
    ["convert - x.jsonl --from brackets", "draw - --from brackets", "stats - --from brackets", "parse - --to jsonl"],
)
def test_a_closed_input_is_one_line(folder: Path, command: str) -> None:
    one_line(shell(folder, f"$H3N {command} <&-"), "standard input is closed")


def test_streams_that_are_not_used_may_be_closed(folder: Path) -> None:
    assert shell(folder, "$H3N convert a.ptb b.jsonl <&- >&- 2>&-").returncode == 0
    assert '"it"' in (folder / "b.jsonl").read_text(encoding="utf-8")


LONG = "x" * 300


@pytest.mark.parametrize(
    ("command", "message"),
    [
        (f"draw {LONG}.ptb", "File name too long"),
        (f"draw a.ptb -o {LONG}.html", "File name too long"),
        (f"draw a.ptb -o {LONG}/x.svg", "File name too long"),
        (f"convert a.ptb {LONG}.jsonl", "File name too long"),
        (f"parse a.txt -o {LONG}.ptb", "File name too long"),
        (f"parse a.txt --model {LONG}", "x" * 300),
        ("draw loop.ptb", "loop.ptb"),
        ("draw a.ptb -o loop.html", "loop.html"),
        ("convert a.ptb loop.html --to jsonl", "loop.html"),
        ("parse a.txt --device meta", "device 'meta' cannot compute"),
    ],
)
def test_odd_paths_and_devices_are_one_line(folder: Path, command: str, message: str) -> None:
    for name in ("loop.ptb", "loop.html"):
        (folder / name).symlink_to(name)
    one_line(shell(folder, f"$H3N {command}"), message)


def test_a_working_folder_that_is_gone_is_one_line(folder: Path) -> None:
    gone = "mkdir gone && cd gone && rmdir ../gone && "
    one_line(shell(folder, f"{gone} $H3N convert {folder}/a.ptb b.jsonl"), "the working folder does not exist any more")
    assert shell(folder, f"{gone} $H3N convert {folder}/a.ptb {folder}/b.jsonl").returncode == 0


def test_a_reader_that_goes_away_is_no_error(folder: Path) -> None:
    (folder / "long.ptb").write_text(TREE * 20_000, encoding="utf-8")
    said = shell(folder, "{ $H3N convert long.ptb - --to jsonl; echo code $? >&2; } | head -n 1")
    assert said.stderr == "code 0\n"


@pytest.mark.parametrize("wait", [0.05, 0.15, 0.4])
def test_an_early_interrupt_shows_no_traceback(folder: Path, wait: float) -> None:
    # The interpreter's own start is not ours: the clock runs from the moment our first module is imported.
    code = "import h3n.cli, sys; print('up', flush=True); sys.argv = ['h3n', 'parse', 'a.txt']; h3n.cli.main()"
    with subprocess.Popen(
        [sys.executable, "-c", code], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        process.stdout.readline()
        time.sleep(wait)
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=60)
    assert "Traceback" not in errors
    assert process.returncode in (0, 130, -signal.SIGINT)


def test_what_would_steer_the_terminal_does_not_reach_it_through_a_message(folder: Path) -> None:
    said = shell(folder, "$H3N draw $(printf 'x\\033[31m.ptb')")
    one_line(said, "x\\x1b[31m.ptb: cannot be opened")
