"""Imports go down only, and light commands stay light."""

from __future__ import annotations

import ast
import importlib
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

import h3n
from h3n.errors import MissingExtra

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
    "parser",
    "corpus",
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


# What an installation for parsing does not have, and what takes long to import.
HEAVY = (
    "torch",
    "transformers",
    "pandas",
    "pyarrow",
    "matplotlib",
    "huggingface_hub",
    "httpx",
    "fsspec",
    "scipy",
    "sympy",
)
USES = {
    "parse": ["parse", "--text", "She sleeps."],
    "picture": ["parse", "--text", "She sleeps.", "-o", "she.svg"],
    "constraints in Python": None,
    "models": ["model", "list"],
    "model": ["model", "verify", "en"],
    "speed of decoders": ["bench", "decode", "--lengths", "3", "--json"],
}


@pytest.mark.parametrize("arguments", USES.values(), ids=USES)
def test_parsing_imports_nothing_heavy(tmp_path: Path, arguments: list[str] | None) -> None:
    """By what `python -X importtime` lists: everything that was imported, whoever asked for it."""
    program = ["-m", "h3n", *arguments] if arguments is not None else ["-c", IN_PYTHON]
    done = subprocess.run(
        [sys.executable, "-X", "importtime", *program], cwd=tmp_path, check=True, capture_output=True, text=True
    )
    imported = {line.rpartition("|")[2].strip().partition(".")[0] for line in done.stderr.splitlines()}
    assert "numpy" in imported or arguments == USES["models"]
    assert not imported & set(HEAVY)


IN_PYTHON = """
import h3n
parser = h3n.load("en", precision="float32", threads=2)
(tree,) = parser.parse("The old man saw her duck.", constraints=h3n.Constraints(require_spans=((3, 6),)))
tree.conllu(), tree.json(), tree.pretty(), tree.spans, tree.arcs
"""

# A finder that refuses what an installation for parsing lacks.
WITHOUT = """
import sys

class Missing:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in ("torch", "transformers"):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Missing())
sys.argv[0] = "h3n"
from h3n.cli import main
main()
"""


def without_torch(tmp_path: Path, *arguments: str) -> tuple[int, str]:
    done = subprocess.run([sys.executable, "-c", WITHOUT, *arguments], cwd=tmp_path, capture_output=True, text=True)
    return done.returncode, done.stderr


def test_without_torch_one_line_says_what_to_install(tmp_path: Path) -> None:
    line = "h3n: networks of torch need the extra 'train', which is not installed: pip install 'h3n[train]'\n"
    config = '[[data.train]]\nfiles = ["a.ptb"]\n[[data.dev]]\nfiles = ["a.ptb"]\n'
    (tmp_path / "config.toml").write_text(config, encoding="utf-8")
    (tmp_path / "a.ptb").write_text("(TOP (S (NP (DT the) (NN dog)) (VP (VBZ barks))))\n", encoding="utf-8")
    assert without_torch(tmp_path, "train", "config.toml") == (2, line)
    assert without_torch(tmp_path, "parse", "--text", "She sleeps.", "--device", "cuda") == (2, line)
    assert without_torch(tmp_path, "parse", "--text", "She sleeps.", "--device", "auto")[0] == 0


def test_parsing_needs_five_packages() -> None:
    project = tomllib.loads((CONTRIBUTING.parent / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    names = {re.split(r"[^\w-]", line)[0] for line in project["dependencies"]}
    assert names == {"numpy", "tokenizers", "safetensors", "typer", "tqdm"}


def test_a_client_without_httpx_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "httpx", None)
    monkeypatch.delitem(sys.modules, "h3n.client", raising=False)
    with pytest.raises(MissingExtra, match=r"clients of the service need the extra 'client'.*h3n\[client\]"):
        importlib.import_module("h3n.client")


def test_an_encoder_that_only_transformers_knows_names_both_ways_out(tmp_path: Path) -> None:
    from h3n.model import Model, build_network
    from tests.model.test_encoders import options, vocabulary
    from tests.model.tiny import save_encoder

    save_encoder("xlnet", tmp_path / "encoder")
    config = options(kind="pretrained", name=str(tmp_path / "encoder"))
    Model(build_network(config, vocabulary()), vocabulary(), config).save(tmp_path / "model")
    code, said = without_torch(tmp_path, "parse", "--text", "She sleeps.", "--model", "model")
    assert code == 2
    assert said.count("\n") == 1
    assert "model_type 'xlnet' is not known to the engine; install h3n[train] (torch and transformers)" in said
    assert "or take a model with one of the encoders bert, roberta" in said


def test_an_installation_without_native_code_says_so_in_one_line(tmp_path: Path) -> None:
    program = "import sys; sys.modules['h3n.engine._layers'] = None; from h3n.cli import main; main()"
    arguments = [sys.executable, "-c", program, "parse", "--text", "She sleeps.", "--to", "brackets"]
    done = subprocess.run(arguments, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout == "(ROOT (S (NP (PRP She)) (VP (VBZ sleeps)) (. .)))\n"
    assert done.stderr == "h3n: installed without native code: the network is run in numpy, which is slower\n"
