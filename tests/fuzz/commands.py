"""Command lines as a target: odd options, paths, numbers and encodings for every command, inside this process.

An input is the JSON of a command line. It must end with 0, 1 or 2, say on standard error nothing but lines of its own,
and write nowhere but where it is run.
"""

from __future__ import annotations

import io
import json
import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from random import Random
from typing import Any
from unittest import mock

from tests.fuzz.driver import Target
from tests.fuzz.scratch import FILES, scratch

MODEL = ["--model", "tiny"]
LINES: dict[str, list[list[str]]] = {
    "bench": [["decode", "--lengths", "3", "--decoders", "h3n", "--seconds", "0.001", "--json"]],
    "check": [["a.ptb", "--dependencies", "a.conllu", "--json"], ["dev.ptb", "--top", "3", "--least", "1"]],
    "convert": [
        ["a.ptb", "-", "--to", "jsonl"],
        ["a.ptb", "b.conllu", "--scheme", "ud2", "--strip-traces", "--indent"],
        ["a.conllu", "-", "--to", "conllx", "--keep-going"],
        ["a.ptb", "x.jsonl", "--dependencies", "a.conllu", "--top", "TOP", "--labels", "own.rules"],
    ],
    "corpus": [
        ["parse", "a.txt", "--out", "parsed", *MODEL, "--to", "conllu", "--shard-size", "1k", "--max-words", "9"],
        ["status", "folder"],
        ["find", "folder", "NP @ nsubj < PP", "--limit", "3", "--to", "brackets"],
    ],
    "diff": [["a.ptb", "a.ptb", "--top", "2"], ["a.conllu", "b.conllu", "--gold", "a.conllu", "--samples", "5"]],
    "draw": [
        ["a.ptb", "-s", "1", "--width", "40", "--ascii"],
        ["a.ptb", "--dependencies", "a.conllu", "-o", "x.svg", "--theme", "dark", "--fit", "300"],
        ["a.jsonl", "--to", "html", "--colour", "never"],
    ],
    "evaluate": [
        ["a.ptb", "a.ptb", "--json", "--by-label"],
        ["a.conllu", "b.conllu", "--metrics", "conll18", "--punctuation", "tag", "--punctuation-tags", ". ,"],
        ["a.ptb", "dev.ptb", "--parameters", "parameters.prm", "--report", "evalb", "-X"],
        ["a.conllu", "b.conllu", "--against", "a.conllu", "--samples", "5", "--seed", "1"],
        [*MODEL, "a.ptb", "--decoders", "h3n,cky", "--limit", "1"],
    ],
    "experiments": [["list"], ["report", "--results", "folder"], ["run", "no-such-experiment", "--seed", "1"]],
    "find": [
        ["NP < PP", "a.ptb", "--limit", "2", "--strip-functions"],
        ["NP @ nsubj", "a.ptb", "--dependencies", "a.conllu", "--to", "jsonl"],
        ["VERB @lemma give", "a.conllu", "-o", "x.html"],
    ],
    "model": [["list", "--json"], ["info", "tiny"], ["verify", "tiny"], ["export", "tiny", "out", "--bits", "8"]],
    "parse": [
        ["a.txt", *MODEL, "--to", "brackets", "--decoder", "h3n", "--threads", "1"],
        ["--text", "It is.", *MODEL, "--to", "jsonl", "--confidence", "--precision", "int8"],
        ["a.conllu", *MODEL, "-o", "x.conllu", "--retag", "--device", "cpu", "--max-words", "5", "--max-pieces", "9"],
        ["a.txt", *MODEL, "--from", "lines", "--head-score", "arg-max", "--width", "70", "--style", "x"],
    ],
    "preannotate": [["a.txt", *MODEL, "-o", "draft.conllu", "--brackets", "draft.ptb", "--top", "2"]],
    "prepare": [["--list"], ["ptb", "folder", "out", "--splits", "x", "--keep-going"], ["a.ptb", "a.conllu", "out"]],
    "serve": [[*MODEL, "--port", "0", "--threads", "1", "--window", "1", "--max-words", "9", "--timeout", "5"]],
    "stats": [["a.ptb", "--json", "--functions"], ["a.ptb", "a.conllu", "--limit", "2", "--keep-going"]],
    "train": [["--options"], ["config.toml", "--set", "training.epochs=1", "--quiet"], ["--resume", "folder"]],
    "validate": [["a.ptb", "damaged.ptb"], ["a.conllu", "--ud"], ["damaged.conllu", "--from", "conllu"]],
}
PATHS = [*FILES, "folder", "loop.ptb", "gone.ptb", "tiny", "-", ".", "", "missing.ptb", "folder/x.ptb", "no/such/x.svg"]
PATHS += [
    "x" * 300,
    "x/" * 3000,
    "a.ptb/x",
    "/dev/null",
    "/dev/full",
    "\udcff.ptb",
    "a\nb.ptb",
    "\x1b[31m.ptb",
    "~",
    "*",
]
PATHS += [
    "a.ptb,a.conllu",
    "file:///a.ptb",
    "s3://x/y",
    "memory://x",
    "no such protocol://x",
    "://",
    "owner/name",
    "x.png",
]
NUMBERS = [
    "-1",
    "0",
    "1",
    "-0",
    "2",
    "007",
    "1.5",
    "1e3",
    "nan",
    "inf",
    "-inf",
    "1_000",
    "\u0663",
    "x",
    "",
    " ",
    "0x10",
    "1,2",
]
HUGE = ["99999999999999999999", "1e309", "4294967296", "9" * 5000, "1000000000"]  # not where they would be obeyed
WORDS = [
    "NP",
    "\udcff",
    "\U0001f600",
    "a" * 5000,
    "(" * 500,
    "{}",
    "[",
    "=",
    "a=b",
    "--",
    "-",
    "'",
    "\t",
    "\\",
]
WORDS += [
    "h3n",
    "cky",
    "hpsg",
    "ud2",
    "conllu",
    "brackets",
    "jsonl",
    "svg",
    "png",
    "tikz",
    "html",
    "cuda",
    "cuda:99",
    "mps",
]
WORDS += [
    "meta",
    "auto",
    "int8",
    "dark",
    "never",
    "soft",
    "e\u0301",
    "\u2028",
    "--help",
    "--version",
    "-h",
    "--json",
    "-o",
]
OBEYED = {"--samples", "--seconds", "--lengths", "--sentences", "--repeat", "--limit", "--threads", "--workers"}


@cache
def _options(command: str) -> list[str]:
    """Return the names of a command's options, those of the commands below it included."""
    import typer

    from h3n.cli.commands import app

    todo: list[Any] = [typer.main.get_command(app).get_command(None, command)]  # type: ignore[attr-defined,arg-type]
    names: list[str] = []
    while todo:
        one = todo.pop()
        todo += getattr(one, "commands", {}).values()
        names += [name for parameter in one.params for name in parameter.opts if name.startswith("-")]
    return names


def make(chance: Random) -> bytes:
    """Return a command line that is fine but for some of its parts."""
    command = chance.choice(list(LINES))
    line = [command, *chance.choice(LINES[command])]
    for _ in range(chance.choice((1, 1, 1, 1, 2, 2, 4))):
        _damage(line, chance)
    return json.dumps(line).encode()


def _damage(line: list[str], chance: Random) -> None:
    at = chance.randrange(len(line) + 1)
    if at == 0 and chance.random() < 0.8:  # without its name little of a command is tried
        at = len(line)
    kind = chance.randrange(6)
    if kind == 0 and at < len(line):
        del line[at]
    elif kind == 1:
        option = chance.choice(_options(line[0]) if line and line[0] in LINES else ["--json"])
        line.insert(max(1, at), option)
        if chance.random() < 0.7:
            line.insert(max(1, at) + 1, _value(option, chance))
    elif kind == 2 and at < len(line):
        line[at] = line[at][: chance.randint(0, len(line[at]))] + chance.choice(WORDS)[:20]
    elif kind == 3:
        line.insert(at, line[at - 1] if line else "x")
    elif at < len(line):
        line[at] = _value(line[at - 1] if at else "", chance)


def _value(option: str, chance: Random) -> str:
    kinds = [PATHS, PATHS, WORDS, NUMBERS]
    return chance.choice(chance.choice(kinds if option in OBEYED else [*kinds, HUGE]))


def _harmless(line: list[str]) -> list[str]:
    """Return the line with a small model where it would load a large one; no experiment or training of any length."""
    if any(part in ("parse", "preannotate", "serve") for part in line[:2]) and "--help" not in line:
        return [*line, *([] if "--" in line else MODEL)]
    return line


@contextmanager
def _without(module: str) -> Iterator[None]:
    """Keep a module from being imported, and nothing else: what is imported meanwhile stays."""
    before = sys.modules.pop(module, None)
    sys.modules[module] = None  # type: ignore[assignment]
    try:
        yield
    finally:
        del sys.modules[module]
        if before is not None:
            sys.modules[module] = before


@contextmanager
def _surroundings() -> Iterator[tuple[io.TextIOWrapper, io.TextIOWrapper]]:
    """Run in the scratch folder, with streams of our own; nothing that is started here goes on."""
    from h3n.corpus import local
    from h3n.serve import running

    def spread(job: Any, first: Any, todo: Any, *, workers: int) -> Any:  # noqa: ARG001
        parser = job.load()
        yield from (local.work(job, parser, shard) for shard in (first, *todo))

    def run(_make: Any, bound: Any, **_options: Any) -> None:
        bound.close()

    place = scratch()
    streams = [io.TextIOWrapper(io.BytesIO(content), encoding="utf-8") for content in (b"(S (X y))\n", b"", b"")]
    streams[2].reconfigure(errors="backslashreplace")
    home = {"HOME": str(place.top), "HF_HUB_OFFLINE": "1", "COLUMNS": "80"}
    with (
        mock.patch.dict(os.environ, home),
        _without("ray"),
        mock.patch.multiple(sys, stdin=streams[0], stdout=streams[1], stderr=streams[2]),
        mock.patch.object(tempfile, "tempdir", str(place.top)),
        mock.patch.object(local, "_spread", spread),
        mock.patch.object(running, "run", run),
    ):
        os.chdir(place.folder)
        try:
            yield streams[1], streams[2]
        finally:
            os.chdir("/")


def run_line(line: list[str]) -> tuple[int, str, list[str]]:
    """Return exit code, what was said on standard error, and what was written outside of the scratch folder."""
    from h3n.cli import main

    watch = scratch().watch
    with _surroundings() as (out, err), mock.patch.object(sys, "argv", ["h3n", *line]):
        code: object = None
        with watch:
            try:
                main()
            except SystemExit as error:
                code = error.code
        for stream in (out, err):
            stream.flush()
        said = err.buffer.getvalue().decode()  # type: ignore[attr-defined]
    if watch.wrote:
        scratch().renew()
    assert isinstance(code, int), code
    return code, said, watch.outside


def attempt(content: bytes) -> None:
    """The command ends as commands do, and touches nothing else."""
    line = _harmless([str(part) for part in json.loads(content)])
    code, said, outside = run_line(line)
    assert code in (0, 1, 2), f"exit code {code}: {said[:300]}"
    assert not outside, f"written: {outside}"
    assert "Traceback" not in said, said[-1000:]
    if code == 2 and not said.startswith("Usage: "):  # a group of commands without a command shows its help
        lines = said.splitlines()
        assert lines, "no reason given"
        assert all(one.startswith("h3n: ") for one in lines), said[:500]
        assert said.count("\n") == len(lines) == 1, said[:500]


COMMAND_LINES = {"commands": Target(make, attempt, share=4)}
