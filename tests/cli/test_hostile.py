"""What comes from strangers: text that steers terminals, names that are not UTF-8, files that are not regular."""

from __future__ import annotations

import ast
import contextlib
import json
import os
import pty
import re
import shutil
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from h3n.cli.commands import COMMANDS
from h3n.draw.terminal import COLOURS
from h3n.files import is_regular, read_regular, shown_name

CLI = Path(__file__).parents[2] / "src" / "h3n" / "cli"
EVIL = "\x1b]0;owned\x07\x1b[31m\x9b31m\u202e\u2066"  # a title, a colour, the same in one byte, marks that turn writing
TREE = f"(TOP (S (NP-{EVIL} (PRP it{EVIL})) (VP (VBZ{EVIL} is))))\n"
ROWS = (
    f"# text = it{EVIL} is\n1\tit{EVIL}\t_\t_\tPRP{EVIL}\t_\t2\tnsubj{EVIL}\t_\t_\n"
    "2\tis\t_\t_\tVBZ\t_\t0\troot\t_\t_\n\n"
)
# Command -> what it is run with; each shows something of the files on the terminal.
SHOWN: dict[str, list[list[str]]] = {
    "bench": [["bench", "decode", "--lengths", EVIL]],
    "check": [["check", "a.ptb", "--dependencies", "a.conllu"]],
    "convert": [["convert", "a.conllu", "-", "--to", "conllu"], ["convert", "a.ptb", "-", "--to", "brackets"]],
    "corpus": [["corpus", "status", f"x{EVIL}"], ["corpus", "parse", f"x{EVIL}", "--out", "out"]],
    "diff": [["diff", "a.ptb", f"x{EVIL}.ptb"]],
    "draw": [
        ["draw", "a.ptb"],
        ["draw", "a.conllu"],
        ["draw", "a.ptb", "--to", "joint"],
        ["draw", "a.ptb", "--to", "forest"],
    ],
    "evaluate": [["evaluate", "a.ptb", "b.ptb"], ["evaluate", "a.conllu", "a.conllu", "--json"]],
    "experiments": [["experiments", "run", EVIL]],
    "find": [
        ["find", "*", "a.ptb", "a.conllu"],
        ["find", "*", "a.conllu", "--to", "jsonl"],
        ["find", "*", f"x{EVIL}.ptb"],
    ],
    "model": [["model", "info", "model"], ["model", "info", "model", "--json"], ["model", "verify", "model"]],
    "parse": [["parse", "a.txt", "-m", "model", "--to", to] for to in ("pretty", "conllu", "brackets", "jsonl")],
    "preannotate": [["preannotate", "a.txt", "-m", "model", "-o", "draft.conllu"]],
    "prepare": [["prepare", EVIL, "source", "out"]],
    "serve": [["serve", "-m", f"x{EVIL}"]],
    "stats": [["stats", "a.ptb", "a.conllu"], ["stats", "a.conllu", "--json"]],
    "train": [["train", f"x{EVIL}.toml"]],
    "validate": [["validate", "bad.ptb", "bad.conllu"]],
}
RUNS = [pytest.param(run, id=f"{name}-{number}") for name, runs in SHOWN.items() for number, run in enumerate(runs)]


@pytest.fixture
def folder(tmp_path: Path, tiny_model: Path) -> Path:
    files = {
        "a.ptb": TREE,
        "b.ptb": TREE.replace("PRP", "XX"),
        "a.conllu": ROWS,
        "a.txt": f"It{EVIL}is. So\u202eit is.\n",
    }
    damaged = {"bad.ptb": f"(TOP (S{EVIL}\n", "bad.conllu": ROWS.replace("\t2\t", f"\t{EVIL}\t")}
    for name, text in (files | damaged).items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    shutil.copytree(tiny_model, tmp_path / "model")
    (tmp_path / "model" / "README.md").write_text(f"# A card{EVIL}\n\nlanguage: xx{EVIL}\n", encoding="utf-8")
    return tmp_path


def environment() -> dict[str, str]:
    return os.environ | {"OMP_NUM_THREADS": "1", "PYTHONIOENCODING": "utf-8", "HF_HUB_OFFLINE": "1", "COLUMNS": "80"}


def on_terminal(folder: Path, *arguments: str) -> bytes:
    """Return all that a command sends to a terminal, as output and as messages."""
    main, terminal = pty.openpty()
    shown: list[bytes] = []

    def collect() -> None:
        with contextlib.suppress(OSError):  # the end, on Linux
            while part := os.read(main, 1 << 16):
                shown.append(part)

    reader = threading.Thread(target=collect)
    reader.start()
    command = [sys.executable, "-m", "h3n", *arguments]
    subprocess.run(
        command, cwd=folder, env=environment(), stdin=subprocess.DEVNULL, stdout=terminal, stderr=terminal, timeout=120
    )
    os.close(terminal)
    reader.join()
    os.close(main)
    return b"".join(shown)


def test_every_command_is_tried() -> None:
    assert sorted(SHOWN) == sorted(COMMANDS)


@pytest.mark.parametrize("arguments", RUNS)
def test_nothing_from_a_stranger_steers_the_terminal(folder: Path, arguments: list[str]) -> None:
    shown = on_terminal(folder, *arguments).decode()
    assert shown
    assert "Traceback" not in shown
    for colour in COLOURS:  # those of our own drawings
        shown = shown.replace(colour, "")
    assert not re.search("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", shown), shown


def test_drawings_have_their_colours(folder: Path) -> None:
    (folder / "c.ptb").write_text("(TOP (S (NP (PRP it)) (VP (VBZ is))))\n", encoding="utf-8")
    assert COLOURS[0].encode() in on_terminal(folder, "draw", "c.ptb")
    shown = on_terminal(folder, "parse", "a.txt", "-m", "model")
    assert COLOURS[0].encode() in shown
    assert b"\x1b[31m" not in shown


def test_pipes_and_files_get_every_byte(folder: Path) -> None:
    command = [sys.executable, "-m", "h3n", "convert", "a.conllu"]
    piped = subprocess.run([*command, "-", "--to", "conllu"], cwd=folder, capture_output=True, check=True, timeout=120)
    assert piped.stdout == ROWS.encode()
    subprocess.run([*command, "c.conllu"], cwd=folder, check=True, timeout=120)
    assert (folder / "c.conllu").read_bytes() == ROWS.encode()


def test_a_card_in_another_encoding_is_shown(folder: Path) -> None:
    (folder / "model" / "README.md").write_bytes("# Für alle\n".encode("latin-1"))
    done = run(folder, "model", "info", "model")
    assert done.returncode == 0
    assert b"# F\\xfcr alle" in done.stdout


def test_only_what_we_make_ourselves_goes_past_the_guard() -> None:
    """The guard holds all that goes through the standard streams: nothing else may write to a terminal."""
    allowed = {"streams.py", "terminal.py", "progress.py"}
    for file in sorted(CLI.glob("*.py")):
        names = {
            getattr(node, "attr", getattr(node, "id", getattr(node, "name", "")))
            for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
            if isinstance(node, ast.Attribute | ast.Name | ast.alias)
        }
        past = names & {"steering", "unguarded", "__stdout__", "__stderr__", "tqdm", "fdopen", "ctermid"}
        assert not past or file.name in allowed, (file.name, past)
        assert "/dev/tty" not in file.read_text(encoding="utf-8")


def run(folder: Path, *arguments: str | bytes) -> subprocess.CompletedProcess[bytes]:
    command: list[str | bytes] = [sys.executable, "-m", "h3n", *arguments]
    return subprocess.run(
        command, cwd=folder, env=environment(), stdin=subprocess.DEVNULL, capture_output=True, check=False, timeout=120
    )


# A file of these names is there in place of `NAME`; those that are not UTF-8 only where the system has such.
NAMES = [b"n\xff\xe9", b"n::m", b"n\x1b[31m", "n\u202e".encode(), b"n\nm", b"-n"]
NAMED: dict[str, list[str]] = {
    "check": ["check", "--", "NAME.jsonl"],
    "convert": ["convert", "--to", "jsonl", "--", "NAME.ptb", "-"],
    "convert to": ["convert", "--", "NAME.ptb", "NAME2.conllu"],
    "corpus": ["corpus", "parse", "--model", "model", "--workers", "1", "--to", "conllu", "--out", "out", "--", "NAME"],
    "corpus table": ["corpus", "parse", "--model", "model", "--workers", "1", "--out", "out", "--", "NAME"],
    "diff": ["diff", "-o", "page.html", "--", "NAME.ptb", "NAME.ptb"],
    "draw": ["draw", "-o", "page.html", "--", "NAME.ptb"],
    "evaluate": ["evaluate", "--json", "--", "NAME.ptb", "NAME.ptb"],
    "model": ["model", "info", "--json", "--", "NAME.model"],
    "parse": ["parse", "-m", "model", "-o", "page.html", "--", "NAME.txt"],
    "stats": ["stats", "--json", "--", "NAME.ptb"],
    "train": ["train", "--", "NAME.toml"],
    "validate": ["validate", "--", "NAME.ptb", "NAME.bad.ptb"],
}


@pytest.mark.parametrize("name", NAMES, ids=ascii)
@pytest.mark.parametrize("arguments", NAMED.values(), ids=NAMED)
def test_any_name_is_read_or_refused_in_one_line(
    tmp_path: Path, tiny_model: Path, name: bytes, arguments: list[str]
) -> None:
    plain = "(TOP (S (NP (PRP it)) (VP (VBZ is))))\n"
    texts = {b".ptb": plain, b".txt": "It is.\n", b".bad.ptb": "(TOP (S\n", b".toml": "x = 1\n", b".jsonl": "{}\n"}
    root = os.fsencode(tmp_path) + b"/"
    try:
        Path(os.fsdecode(root + name)).mkdir()
        for ending, text in ({b"/" + name + b".txt": texts[b".txt"]} | {b"": ""} | texts).items():
            if ending:
                Path(os.fsdecode(root + name + ending)).write_text(text, encoding="utf-8")
    except (OSError, UnicodeError):
        pytest.skip("this system has no such names")
    shutil.copytree(tiny_model, tmp_path / "model")
    shutil.copytree(tiny_model, os.fsdecode(root + name + b".model"))
    done = run(tmp_path, *(os.fsencode(part).replace(b"NAME", name) for part in arguments))
    said = done.stderr.decode()
    assert "Traceback" not in said
    assert done.returncode == {"check": 2, "train": 2, "validate": 1}.get(arguments[0], 0), said
    assert all(line.startswith("h3n: ") for line in said.splitlines()) or arguments[0] == "corpus", said
    if arguments[0] == "corpus":
        assert "1 sentence in 1 shard" in done.stdout.decode()
        manifest = json.loads((tmp_path / "out" / "manifest.json").read_bytes())
        assert shown_name(os.fsdecode(name)) in str(manifest["inputs"][0]["name"])
    for page in tmp_path.glob("*.html"):
        page.read_text(encoding="utf-8")
    if "--json" in arguments:
        json.loads(done.stdout)


def test_a_name_is_shown_with_its_bytes() -> None:
    assert shown_name(os.fsdecode(b"a\xff\xc3\xa9")) == "a\\xffé"
    assert shown_name("a\ud800") == "a\\ud800"
    assert shown_name("a::b é") == "a::b é"


def test_what_is_not_regular_is_left_out_of_a_folder(tmp_path: Path, tiny_model: Path) -> None:
    texts = tmp_path / "texts"
    texts.mkdir()
    (texts / "a.txt").write_text("It is.\n", encoding="utf-8")
    os.mkfifo(texts / "b.txt")
    (texts / "c.txt").symlink_to("/dev/zero")
    for given in ("texts", "texts/*.txt"):
        out = f"out{len(given)}"
        done = run(tmp_path, "corpus", "parse", given, "--out", out, "--model", str(tiny_model), "--workers", "1")
        assert done.returncode == 0, done.stderr
        left_out = [line for line in done.stderr.decode().splitlines() if line.startswith("h3n: ")]
        assert left_out == [f"h3n: texts/{name}.txt: not a regular file; left out" for name in "bc"]
        assert b"1 sentence in 1 shard" in done.stdout
    done = run(tmp_path, "corpus", "parse", "texts/b.txt", "--out", "other", "--model", str(tiny_model))
    assert done.returncode == 2
    assert done.stderr.decode() == "h3n: texts/b.txt: a pipe or device, not a regular file; h3n parse reads those\n"


@pytest.mark.parametrize("file", ["parser.json", "model.safetensors", "README.md", "encoder/tokenizer.json"])
@pytest.mark.parametrize("kind", ["pipe", "device"])
def test_a_model_of_pipes_and_devices_is_refused(tmp_path: Path, tiny_model: Path, file: str, kind: str) -> None:
    model = tmp_path / "model"
    shutil.copytree(tiny_model, model)
    (model / "README.md").write_text("# A card\n", encoding="utf-8")
    (model / file).parent.mkdir(exist_ok=True)
    (model / file).unlink(missing_ok=True)
    os.mkfifo(model / file) if kind == "pipe" else (model / file).symlink_to("/dev/zero")
    (tmp_path / "a.txt").write_text("It is.\n", encoding="utf-8")
    uses = (
        ["model", "info", "model"],
        ["model", "verify", "model"],
        ["model", "export", "model", "copy"],
        ["model", "push", "model", "me/mine", "--folder", "ready"],
        ["parse", "a.txt", "-m", "model"],
        ["corpus", "parse", "a.txt", "-m", "model", "--out", "out"],
    )
    for arguments in uses:
        done = run(tmp_path, *arguments)
        said = done.stderr.decode()
        assert done.returncode == 2, (arguments, said)
        assert said.count("\n") == 1, (arguments, said)
        assert f"{file}: not a regular file" in said, (arguments, said)


def test_one_model_that_cannot_be_read_does_not_hide_the_others(
    tmp_path: Path, tiny_model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("H3N_MODELS", str(tmp_path))
    for name in ("good", "bad"):
        shutil.copytree(tiny_model, tmp_path / name)
    (tmp_path / "bad" / "parser.json").unlink()
    os.mkfifo(tmp_path / "bad" / "parser.json")
    done = run(tmp_path, "model", "list")
    assert done.returncode == 0
    assert b"good" in done.stdout
    assert done.stderr.decode().count("\n") == 1
    assert "not a regular file" in done.stderr.decode()


def test_regular_files(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"abc")
    os.mkfifo(tmp_path / "b")
    assert is_regular(tmp_path / "a")
    assert not any(map(is_regular, (tmp_path, tmp_path / "b", tmp_path / "none", "/dev/zero", "a\x00b")))
    assert read_regular(tmp_path / "a") == b"abc"
    with pytest.raises(Exception, match="3 bytes; a file of this name may have 2"):
        read_regular(tmp_path / "a", largest=2)
    with pytest.raises(Exception, match="not a regular file"):
        read_regular(tmp_path / "b")
