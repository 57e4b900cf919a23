"""What a user sees of the package: its names, its version, its command, its typing mark."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
import tomllib
from importlib.metadata import entry_points
from pathlib import Path

import pytest
import typer

import h3n
from h3n import errors
from h3n.cli.commands import COMMANDS, app
from h3n.formats import FORMATS
from h3n.outputs import OUTPUTS

PROJECT = Path(__file__).parent.parent


def test_every_public_name_is_there() -> None:
    for name in h3n.__all__:
        assert hasattr(h3n, name), name


def test_version_is_that_of_the_project() -> None:
    project = tomllib.loads((PROJECT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert h3n.__version__ == project["version"]


def test_package_is_marked_as_typed() -> None:
    assert (Path(h3n.__file__).parent / "py.typed").is_file()


def test_command_is_installed() -> None:
    (command,) = (entry for entry in entry_points(group="console_scripts") if entry.name == "h3n")
    assert command.value == "h3n.cli:main"


def test_exception_tree_in_the_docstring_is_the_real_one() -> None:
    classes = {name for name, value in vars(errors).items() if isinstance(value, type) and issubclass(value, Exception)}
    assert errors.__doc__ is not None
    drawn = set(re.findall(r"^[\s│├└─]*(\w+)", errors.__doc__.split("\n\n")[1], flags=re.MULTILINE))
    assert drawn == classes


def test_every_constraint_is_one_pin() -> None:
    text = (PROJECT / "constraints.txt").read_text(encoding="utf-8")
    lines = [line for line in text.splitlines() if line and not line.startswith("#")]
    pins = [re.fullmatch(r"([\w.-]+)==\S+", line) for line in lines]
    assert all(pins), [line for line, pin in zip(lines, pins, strict=True) if pin is None]
    names = [pin.group(1).lower().replace("_", "-") for pin in pins if pin]
    assert sorted(set(names)) == sorted(names)


def test_every_pinned_dependency_fits_its_range() -> None:
    pins = dict(re.findall(r"^([\w.-]+)==(\S+)$", (PROJECT / "constraints.txt").read_text(), flags=re.MULTILINE))
    assert pins["torch"] == "2.13.0"
    known = {name.lower().replace("_", "-") for name in pins}
    project = tomllib.loads((PROJECT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    groups = [project["dependencies"], *project["optional-dependencies"].values()]
    for requirement in (r for group in groups for r in group if not r.startswith("h3n[")):
        name = re.match(r"[\w.-]+", requirement)
        assert name is not None
        assert name.group().lower().replace("_", "-") in known, f"{requirement} is not pinned"


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-m", "h3n", *arguments], capture_output=True, text=True, check=False)


def test_help_lists_the_commands() -> None:
    shown = run("--help")
    assert shown.returncode == 0
    for name, (_, summary) in COMMANDS.items():
        assert name in shown.stdout
        assert summary.split()[0] in shown.stdout


def test_unknown_command_is_bad_usage() -> None:
    said = run("sing")
    assert said.returncode == 2
    assert "No such command 'sing'" in said.stderr
    assert "Traceback" not in said.stderr


def test_a_mistyped_command_is_told_what_was_meant() -> None:
    said = run("prase", "book.txt")
    assert said.returncode == 2
    assert said.stderr == "h3n: No such command 'prase'. Did you mean 'parse'? see h3n --help\n"


def test_missing_file_is_one_line() -> None:
    said = run("validate", "no-such-file.ptb")
    assert said.returncode == 2
    assert said.stderr.count("\n") == 1
    assert "no-such-file.ptb" in said.stderr


def test_the_shell_completes_commands_and_options() -> None:
    environment = os.environ | {"_H3N_COMPLETE": "complete_bash", "COMP_WORDS": "h3n dr", "COMP_CWORD": "1"}
    program = [sys.executable, "-c", "from h3n.cli import main; main()"]
    completed = subprocess.run(program, env=environment, capture_output=True, text=True, check=False)
    assert completed.stdout.split() == ["draw"]


@pytest.mark.parametrize("command", sorted(COMMANDS))
def test_the_help_of_every_command_has_a_sentence_and_examples(command: str) -> None:
    shown = run(command, "--help")
    assert shown.returncode == 0
    assert f"Usage: h3n {command}" in shown.stdout
    assert re.search(rf"^ +h3n {command}\b", shown.stdout, flags=re.MULTILINE), "no example"


def test_the_project_says_where_it_is_and_which_pythons_it_is_for() -> None:
    project = tomllib.loads((PROJECT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert {"Homepage", "Changelog", "Issues"} <= set(project["urls"])
    assert any(name.startswith("Programming Language :: Python :: 3.11") for name in project["classifiers"])


def test_the_version_has_a_section_in_the_changelog() -> None:
    assert f"## [{h3n.__version__}] - " in (PROJECT / "CHANGELOG.md").read_text(encoding="utf-8")


WRITTEN = {
    ("parse",): OUTPUTS,
    ("draw",): [name for name, output in OUTPUTS.items() if output.draw or output.document],
    ("corpus", "parse"): ["parquet", *(name for name, output in OUTPUTS.items() if output.shard)],
    ("convert",): FORMATS,
}


@pytest.mark.parametrize("command", WRITTEN, ids=" ".join)
def test_the_help_lists_the_formats_that_are_written(command: tuple[str, ...]) -> None:
    [shown] = re.findall(r"-t, --to FORMAT(.*?);", run(*command, "--help").stdout, flags=re.DOTALL)
    assert shown.replace(",", " ").split() == list(WRITTEN[command])


@pytest.mark.parametrize("command", sorted(COMMANDS))
def test_the_examples_in_the_help_name_options_that_exist(command: str) -> None:
    group = typer.main.get_command(app)
    examples = re.findall(r"^ +(.*\bh3n .*)$", run(command, "--help").stdout.split("Examples:")[1], flags=re.MULTILINE)
    for part in (part.strip() for line in examples for part in re.sub(r">.*", "", line).split("|")):
        name, *arguments = shlex.split(part)
        if name != "h3n":
            continue
        called = group.get_command(None, arguments.pop(0))
        if hasattr(called, "commands"):
            called = called.commands[arguments.pop(0)]
        called.make_context("h3n", arguments)  # raises where an option or a choice is unknown
