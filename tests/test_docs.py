"""Every command and every Python example of README and docs does what it says.

They run in a folder with small files of the names they use.

Blocks of one page run in order: shell blocks in one folder, Python blocks in one namespace there. A block is left out
only with a reason, in a comment on the line before it: ``<!-- not run: ... -->``. Lines of a console block that begin
without ``$`` are what the command before them must print. A TOML block that begins with a comment ``# name.toml`` is
written as that file. A picture that a page writes under a name in docs/images is the picture that is there.
"""

from __future__ import annotations

import lzma
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

import pytest

from h3n.cli import main
from h3n.formats import pair, read, write

PROJECT = Path(__file__).parent.parent
EXAMPLES = PROJECT / "examples" / "treebank"
PICTURES = PROJECT / "docs" / "images"
# Made by `h3n experiments report` from recorded runs on licensed, large data, and by `make docs` from code and cards.
GENERATED = {"results.md", "reference.md", "model-en.md", "model-en-large.md"}
_KIND = r"(?P<kind>sh|console|python|toml(?=\n# \S+\.toml\n))"
_BLOCK = re.compile(r"^(?:<!-- not run: (?P<reason>[^\n]+) -->\n)?```" + _KIND + r"\n(?P<text>.*?)^```$", re.M | re.S)
_PLAIN = re.compile(r"h3n (?!corpus )[^|&;<>$*?~`]*")  # nothing for a shell but quotes, and no processes of its own
# Commands that would run for minutes -> the same with little to do.
SHORTER = {
    "h3n train configs/example.toml": "h3n train configs/example.toml --set training.epochs=1",
    "h3n train mine.toml": "h3n train mine.toml --set training.epochs=1 --set encoder.layers.count=1",
    "h3n bench decode": "h3n bench decode --lengths 5,10",
}
# Some pages need what only the extras bring.
NEEDS = {"nltk": "to_nltk()", "resvg_py": ".png", "spacy": "add_pipe(", "pandas": "to_frame(", "polars": "polars"}
NEEDS |= {"pyarrow": "h3n corpus", "duckdb": "import duckdb"}


@dataclass(frozen=True)
class Block:
    page: Path
    line: int
    kind: str
    text: str
    reason: str | None

    @property
    def commands(self) -> Iterator[tuple[str, str]]:
        """The commands of a shell block, continued lines joined, each with what it must print ("": anything)."""
        lines = self.text.replace("\\\n", " ").splitlines()
        commands: list[list[str]] = []
        for line in lines:
            if self.kind == "sh" or line.startswith("$ "):
                commands.append([line.removeprefix("$ ")])
            elif commands:
                commands[-1].append(line)
        for command, *printed in commands:
            if command.strip() and not command.startswith("#"):
                yield re.sub(r"\s+# .*", "", command).strip(), "\n".join(printed).strip("\n")


def blocks_of(page: Path) -> list[Block]:
    text = page.read_text(encoding="utf-8")
    return [
        Block(page, text[: found.start()].count("\n") + 1, found["kind"], found["text"], found["reason"])
        for found in _BLOCK.finditer(text)
    ]


PAGES = [
    page for page in [PROJECT / "README.md", *sorted((PROJECT / "docs").glob("*.md"))] if page.name not in GENERATED
]
WITH_BLOCKS = [page for page in PAGES if any(block.reason is None for block in blocks_of(page))]


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with small files of the names that the examples use, and the command h3n."""
    folder = tmp_path_factory.mktemp("docs")
    shutil.copytree(EXAMPLES, folder / "examples" / "treebank")
    shutil.copytree(PROJECT / "configs", folder / "configs")
    trees = (EXAMPLES / "dev.ptb").read_text(encoding="utf-8")
    rows = (EXAMPLES / "dev.conllu").read_text(encoding="utf-8")
    named = rows.replace("\n\n", "\n\n# sent_id = reviews-0042\n", 1)
    for stem in ("treebank", "gold", "predicted", "dev"):
        (folder / f"{stem}.ptb").write_text(trees, encoding="utf-8")
        (folder / f"{stem}.conllu").write_text(named, encoding="utf-8")
    for name in ("treebank.mrg", "wsj.mrg"):
        (folder / name).write_text(trees, encoding="utf-8")
    (folder / "train.mrg.xz").write_bytes(lzma.compress(trees.encode()))
    for stem in ("tokens", "train"):
        shutil.copy(folder / "dev.conllu", folder / f"{stem}.conllu")
    shutil.copy(folder / "dev.ptb", folder / "train.ptb")
    write(pair(read(folder / "dev.ptb"), read(folder / "dev.conllu")), folder / "train.jsonl")
    (folder / "mine.conllu").write_text(rows, encoding="utf-8")
    (folder / "trees").mkdir()
    shutil.copy(EXAMPLES / "dev.ptb", folder / "trees" / "mine.ptb")
    (folder / "letter.txt").write_text("She is carefully making the cake. It smells good.\n", encoding="utf-8")
    for name in ("book.txt", "news.txt"):
        shutil.copy(folder / "letter.txt", folder / name)
    example = (PROJECT / "configs" / "example.toml").read_text(encoding="utf-8")
    small = example.replace("examples/treebank/train", "examples/treebank/dev").replace("size = 128", "size = 64")
    (folder / "my.toml").write_text(small, encoding="utf-8")
    (folder / "bin").mkdir()
    command = folder / "bin" / "h3n"
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m h3n "$@"\n', encoding="utf-8")
    command.chmod(0o755)
    return folder


@dataclass(frozen=True)
class Done:
    """What a command did."""

    code: int
    stdout: str
    stderr: str


Run = Callable[[str], Done]


@pytest.fixture
def run(prepared: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """Return a function that runs a line of the shell in a folder of its own, which is the working folder.

    A plain h3n command is run in this process: most of the time of a small one goes into importing torch.
    """
    folder = tmp_path / "folder"
    shutil.copytree(prepared, folder)
    monkeypatch.chdir(folder)
    monkeypatch.delenv("H3N_DATA", raising=False)
    monkeypatch.setenv("HOME", str(folder))
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    programs = (str(folder / "bin"), str(Path(sys.executable).parent), os.environ["PATH"])
    monkeypatch.setenv("PATH", os.pathsep.join(programs))

    def here(command: str) -> Done:
        monkeypatch.setattr(sys, "argv", shlex.split(command))
        capsys.readouterr()
        with pytest.raises(SystemExit) as left:
            main()
        return Done(int(left.value.code or 0), *capsys.readouterr())

    def shell(command: str) -> Done:
        done = subprocess.run(["sh", "-c", command], capture_output=True, text=True, check=False, timeout=600)
        return Done(done.returncode, done.stdout, done.stderr)

    return lambda command: (here if _PLAIN.fullmatch(command) else shell)(command)


def run_shell(block: Block, run: Run) -> None:
    for command, printed in block.commands:
        done = run(SHORTER.get(command, command))
        # 1: it lists something, as it should
        allowed = (0, 1) if command.startswith(("h3n check ", "h3n diff ")) else (0,)
        place = f"{block.page.name}:{block.line}: {command}\n{done.stderr[-2000:]}"
        assert done.code in allowed, place
        assert "Traceback" not in done.stderr, place
        if printed:
            assert done.stdout.strip("\n") == printed, f"{block.page.name}:{block.line}: {command}"


@pytest.mark.parametrize("page", WITH_BLOCKS, ids=lambda page: page.name)
def test_examples_do_what_they_say(page: Path, run: Run) -> None:
    text = page.read_text(encoding="utf-8")
    for module, sign in NEEDS.items():
        if sign in text and find_spec(module) is None:
            pytest.skip(f"{page.name} needs {module}, which is not installed")
    namespace: dict[str, object] = {"__name__": "example"}
    for block in blocks_of(page):
        if block.reason is not None:
            continue
        if block.kind == "python":
            exec(compile("\n" * block.line + block.text, str(page), "exec"), namespace)
        elif block.kind == "toml":
            Path(block.text.split()[1]).write_text(block.text, encoding="utf-8")
        else:
            run_shell(block, run)
    for shown in PICTURES.glob("*.svg"):
        drawn = Path(shown.name)
        if drawn.exists():
            assert drawn.read_text(encoding="utf-8") == shown.read_text(encoding="utf-8"), shown.name


def test_blocks_that_are_left_out_say_why() -> None:
    reasons = [block.reason for page in PAGES for block in blocks_of(page) if block.reason is not None]
    assert all(len(reason.split()) >= 3 for reason in reasons), reasons


def test_the_harness_reads_commands_and_what_they_print(tmp_path: Path, run: Run) -> None:
    page = tmp_path / "page.md"
    page.write_text(
        "```console\n$ echo a  # says a\na\n$ echo b \\\n    c\n```\n<!-- not run: for a reason -->\n```sh\nx\n```\n"
    )
    first, second = blocks_of(page)
    assert list(first.commands) == [("echo a", "a"), ("echo b      c", "")]
    assert second.reason == "for a reason"
    run_shell(first, run)
    page.write_text("```console\n$ echo a\nb\n```\n")
    with pytest.raises(AssertionError):
        run_shell(blocks_of(page)[0], run)
