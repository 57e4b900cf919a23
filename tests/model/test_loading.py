"""What loading a model does, watched by Python itself: files it opens, modules it imports, code it runs."""

from __future__ import annotations

import json
import pickle
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import torch

from h3n.model import build_network
from h3n.model.model import Model
from h3n.model.network import fill_network, unfilled_network
from tests.model.test_encoders import options, vocabulary

# Everything is imported by the parse of a first model; then the hook is set and a second one is loaded and used.
WATCH = """
import json, sys
import h3n
next(h3n.load(sys.argv[1]).parse("The parser saw it."))
events = []
WATCHED = ("open", "import", "exec", "compile", "pickle.find_class", "marshal.loads", "subprocess.Popen", "os.system",
           "os.exec", "os.posix_spawn", "os.fork", "socket.connect", "ctypes.dlopen")

def watch(event, arguments):
    if event in WATCHED:
        file = getattr(arguments[0], "co_filename", arguments[0]) if arguments else ""
        events.append((event, str(file), str(arguments[1]) if event == "import" else ""))

sys.addaudithook(watch)
next(h3n.load(sys.argv[2]).parse("The parser saw it."))
print(json.dumps(list(events)))
"""
READ = {"parser.json", "model.safetensors", "encoder", "README.md"}
READ |= {f"encoder/{name}.json" for name in ("config", "tokenizer", "tokenizer_config", "special_tokens_map", "vocab")}
RUNS = {"pickle.find_class", "marshal.loads", "subprocess.Popen", "os.system", "os.exec", "os.posix_spawn", "os.fork"}
RUNS |= {"socket.connect"}


class Trap:
    def __reduce__(self) -> tuple[object, tuple[str]]:
        return print, ("unpickled",)


def set_traps(folder: Path) -> None:
    """Put beside a model what careless loading would run."""
    for place in (folder, folder / "encoder"):
        place.mkdir(exist_ok=True)
        for name in ("__init__.py", "modeling_own.py", "sitecustomize.py", "h3n.py", "conftest.py"):
            (place / name).write_text("raise SystemExit('executed')\n", encoding="utf-8")
        for name in ("pytorch_model.bin", "model.pkl", "model.pt", "optimizer.pt", "training_args.bin"):
            (place / name).write_bytes(pickle.dumps(Trap()))
        (place / "libown.so").write_bytes(b"\x7fELF")


@pytest.fixture(params=["attentive", "bert"])
def saved(request: pytest.FixtureRequest, tiny_encoder: Callable[[str], Path], tmp_path: Path) -> Path:
    kind = request.param
    encoder = {"kind": "pretrained", "name": str(tiny_encoder(kind))} if kind != "attentive" else {"kind": kind}
    config = options(**encoder)
    Model(build_network(config, vocabulary()), vocabulary(), config).save(tmp_path / "saved")
    return tmp_path / "saved"


def test_loading_reads_data_alone(saved: Path, tmp_path: Path) -> None:
    trapped = tmp_path / "trapped"
    trapped.mkdir()
    for file in saved.rglob("*"):
        if file.is_file():
            target = trapped / file.relative_to(saved)
            target.parent.mkdir(exist_ok=True)
            target.write_bytes(file.read_bytes())
    set_traps(trapped)
    command = [sys.executable, "-c", WATCH, str(saved), str(trapped)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=tmp_path, timeout=300)
    events = json.loads(done.stdout)
    assert {event for event, _, _ in events} & RUNS == set()
    opened = {Path(file) for event, file, _ in events if event == "open" and file.startswith(str(trapped))}
    assert {str(path.relative_to(trapped)) for path in opened} <= READ
    assert trapped / "parser.json" in opened
    for event, file, source in events:
        if event in ("exec", "compile", "import", "ctypes.dlopen"):
            assert str(trapped) not in file + source, (event, file, source)


def test_loading_starts_no_compiler(saved: Path) -> None:
    """Random weights on the device meta would import torch's compiler: a second and 70 MB for nothing."""
    program = "import sys; from h3n.model.model import Model; Model.load(sys.argv[1]); print(*sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", program, str(saved)], check=True, capture_output=True, text=True, timeout=300
    )
    modules = set(done.stdout.split())
    assert "torch" in modules
    assert not modules & {"torch._dynamo", "sympy"}


def test_a_network_that_lacks_a_part_after_loading_is_built_for_use(saved: Path) -> None:
    model = Model.load(saved)
    state = model.network.state_dict()
    folder = saved / "encoder" if (saved / "encoder").is_dir() else None
    unfilled = unfilled_network(model.config, model.vocabulary, folder=folder)
    assert all(parameter.is_meta for name, parameter in unfilled.named_parameters() if "linear" in name)
    assert fill_network(unfilled, dict(state))
    assert all(torch.equal(value, state[name]) for name, value in unfilled.state_dict().items())
    unfilled.register_buffer("unsaved", torch.zeros(1, device="meta"), persistent=False)
    assert not fill_network(unfilled, dict(state))
