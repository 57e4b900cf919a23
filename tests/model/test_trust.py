"""A model is data: whatever lies in its folder, nothing of it is executed, and nobody is asked whether it may be."""

from __future__ import annotations

import ast
import io
import json
import os
import pickle
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

import h3n
from h3n.config import config_of
from h3n.errors import InputError
from h3n.model import build_network
from h3n.model.model import Model
from tests.model.test_encoders import options, vocabulary

MODULE = """
from pathlib import Path
Path({mark!r}).write_text("executed")
from transformers import {base}
class Own({base}):
    model_type = "own"
"""


@pytest.fixture
def mark(tmp_path: Path) -> Path:
    """Return a file that is there if code of the model was executed."""
    return tmp_path / "executed"


def with_code(folder: Path, mark: Path, *, kind: str) -> None:
    """Make the encoder in a folder one that asks for Python code beside it: as a model, or as a tokenizer."""
    base = {"config": "PretrainedConfig", "tokenizer": "PreTrainedTokenizerFast"}[kind]
    (folder / "own.py").write_text(MODULE.format(mark=str(mark), base=base))
    file = folder / ("config.json" if kind == "config" else "tokenizer_config.json")
    table = json.loads(file.read_text())
    if kind == "config":
        table |= {"model_type": "own", "architectures": ["Own"]}
        table["auto_map"] = {"AutoConfig": "own.Own", "AutoModel": "own.Own"}
    else:
        table |= {"tokenizer_class": "OwnFast", "auto_map": {"AutoTokenizer": [None, "own.Own"]}}
        (folder / "config.json").write_text((folder / "config.json").read_text().replace('"gelu"', '"relu"'))
    file.write_text(json.dumps(table))


def copied(source: Path, target: Path) -> Path:
    target.mkdir(parents=True)
    for file in source.iterdir():
        (target / file.name).write_bytes(file.read_bytes())
    return target


@pytest.fixture
def saved(tiny_encoder: Callable[[str], Path], tmp_path: Path) -> Path:
    config = options(kind="pretrained", name=str(tiny_encoder("bert")))
    Model(build_network(config, vocabulary()), vocabulary(), config).save(tmp_path / "saved")
    return tmp_path / "saved"


def test_code_beside_a_saved_encoder_is_not_run(saved: Path, mark: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with_code(saved / "encoder", mark, kind="config")
    monkeypatch.setattr(sys, "stdin", io.StringIO("y\n" * 100))
    with pytest.raises(InputError) as raised:
        Model.load(saved)
    assert not mark.exists()
    assert "h3n never runs code of a model" in str(raised.value)
    assert "\n" not in str(raised.value)
    assert sys.stdin.read() == "y\n" * 100  # nobody was asked


def test_code_beside_an_encoder_to_train_on_is_not_run(
    tiny_encoder: Callable[[str], Path], mark: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = copied(tiny_encoder("bert"), tmp_path / "encoder")
    with_code(folder, mark, kind="config")
    monkeypatch.setattr(sys, "stdin", io.StringIO("y\n" * 100))
    with pytest.raises(InputError, match=r"encoder .* cannot be loaded: .* never runs code"):
        build_network(options(kind="pretrained", name=str(folder)), vocabulary())
    assert not mark.exists()


def test_code_of_a_tokenizer_is_not_run(saved: Path, mark: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with_code(saved / "encoder", mark, kind="tokenizer")
    monkeypatch.setattr(sys, "stdin", io.StringIO("y\n" * 100))
    with suppress(InputError):  # the library may have a tokenizer of its own for the architecture
        Model.load(saved)
    assert not mark.exists()
    assert sys.stdin.read() == "y\n" * 100


def test_the_command_line_does_not_take_text_for_consent(saved: Path, mark: Path) -> None:
    with_code(saved / "encoder", mark, kind="config")
    command = [sys.executable, "-m", "h3n", "parse", "-", "--model", str(saved)]
    done = subprocess.run(command, input="y\n" * 100, capture_output=True, text=True)
    assert not mark.exists()
    assert done.returncode == 2
    assert len(done.stderr.splitlines()) == 1, done.stderr


def test_attention_that_is_fetched_from_the_hub_is_not_used(saved: Path) -> None:
    file = saved / "encoder" / "config.json"
    named = {"attn_implementation": "someone/kernel", "_attn_implementation": "someone/kernel"}
    # Another activation than BERT's own, so that the library loads it.
    file.write_text(json.dumps(json.loads(file.read_text()) | {"hidden_act": "relu"} | named))
    assert Model.load(saved).network.encoder.model.config._attn_implementation in {"sdpa", "eager"}


class Bomb:
    def __init__(self, mark: Path) -> None:
        self.mark = mark

    def __reduce__(self) -> tuple[object, tuple[str]]:
        return os.mkdir, (str(self.mark),)


def test_weights_are_never_unpickled(tiny_encoder: Callable[[str], Path], mark: Path, tmp_path: Path) -> None:
    folder = copied(tiny_encoder("bert"), tmp_path / "encoder")
    (folder / "model.safetensors").unlink()
    (folder / "pytorch_model.bin").write_bytes(pickle.dumps(Bomb(mark)))
    with pytest.raises(InputError, match="cannot be loaded"):
        build_network(config_of({"encoder": {"kind": "pretrained", "name": str(folder)}}), vocabulary())
    assert not mark.exists()


LOADS = {"pickle", "shelve", "marshal", "dill", "cloudpickle", "joblib"}


def test_no_module_reads_pickles_or_trusts_code() -> None:
    for file in Path(h3n.__file__).parent.rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            names += [str(node.module)] if isinstance(node, ast.ImportFrom) else []
            assert not LOADS & {name.split(".")[0] for name in names}, file
            if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
                continue
            called = ast.unparse(node.func)
            assert called not in {"torch.load", "torch.jit.load", "torch.hub.load"}, file
            if called.endswith((".from_pretrained", ".from_config")) and ".Auto" in called:
                given = {keyword.arg: ast.unparse(keyword.value) for keyword in node.keywords}
                assert given.get("trust_remote_code") == "False", f"{file}: {called}"
