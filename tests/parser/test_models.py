"""Models by name: bundled, in a folder, on the hub."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import huggingface_hub
import pytest
import torch

import h3n
from h3n import models
from h3n.errors import InputError, UnknownName, UsageError


def test_importing_the_package_imports_nothing_heavy() -> None:
    code = "import sys, h3n; dir(h3n); h3n.__version__; sys.exit(bool({'torch', 'numpy', 'typer'} & set(sys.modules)))"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_a_bundled_model_is_found_by_name(tiny_model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copytree(tiny_model, tmp_path / "en")
    (tmp_path / "notes").mkdir()
    monkeypatch.setattr(models, "BUNDLED", tmp_path)
    assert models.bundled() == {"en": tmp_path / "en"}
    (result,) = h3n.load("en").parse("Oslo found a dog.")
    assert len(result.heads) == 5


def test_an_unknown_name_lists_what_there_is(tiny_model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(models, "BUNDLED", tmp_path)
    with pytest.raises(InputError, match=r"no model 'xx'.*none is bundled with this version"):
        h3n.load("xx")
    shutil.copytree(tiny_model, tmp_path / "de")
    with pytest.raises(InputError, match=r"no model 'xx'; expected a name \(known: de\), a folder, or owner"):
        h3n.load("xx")


@pytest.mark.parametrize(("name", "revision"), [("someone/parser", None), ("someone/parser@v1.0", "v1.0")])
def test_a_name_on_the_hub_is_downloaded(
    tiny_model: Path, monkeypatch: pytest.MonkeyPatch, name: str, revision: str | None
) -> None:
    asked: list[Any] = []

    def download(repository: str, *, revision: str | None, allow_patterns: list[str]) -> str:
        asked.append((repository, revision))
        assert {"parser.json", "model.safetensors", "encoder/*.json"} <= set(allow_patterns)
        return str(tiny_model)

    monkeypatch.setattr(huggingface_hub, "snapshot_download", download)
    assert len(list(h3n.load(name).parse("Oslo found a dog."))) == 1
    assert asked == [("someone/parser", revision)]


def test_a_folder_wins_over_the_hub(tiny_model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(huggingface_hub, "snapshot_download", lambda *_, **__: pytest.fail("asked the hub"))
    shutil.copytree(tiny_model, tmp_path / "runs" / "model")
    h3n.load("runs/model")


@pytest.mark.parametrize("error", [OSError("no route to host\nmore"), ValueError("no such thing"), OSError()])
def test_what_the_hub_says_is_one_line(monkeypatch: pytest.MonkeyPatch, error: Exception) -> None:
    def download(*_: Any, **__: Any) -> str:
        raise error

    monkeypatch.setattr(huggingface_hub, "snapshot_download", download)
    with pytest.raises(InputError, match="no folder 'a/b', and the hub does not give") as said:
        h3n.load("a/b")
    assert "\n" not in str(said.value)


def test_damaged_folders(tiny_model: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"parser.json: cannot be read.*is .* a saved parser"):
        h3n.load(tmp_path)
    (tmp_path / "parser.json").write_text("{")
    with pytest.raises(InputError, match="not JSON"):
        h3n.load(tmp_path)
    (tmp_path / "parser.json").write_text(json.dumps({"version": 99}))
    with pytest.raises(InputError, match="another version of h3n"):
        h3n.load(tmp_path)
    (tmp_path / "parser.json").write_text(json.dumps({"version": 1, "config": {}}))
    with pytest.raises(InputError, match=r"parser.json: vocabulary is missing; expected what h3n wrote there"):
        h3n.load(tmp_path)
    shutil.copy(tiny_model / "parser.json", tmp_path)
    (tmp_path / "model.safetensors").write_bytes(b"nothing")
    with pytest.raises(InputError, match="the weights cannot be read"):
        h3n.load(tmp_path)
    with pytest.raises(InputError, match="no such folder"):
        models.read_about(tmp_path / "missing")


def test_devices_and_threads(tiny_model: Path) -> None:
    with pytest.raises(UsageError, match="device 'gpu' cannot be used; accepted: auto, cpu, cuda, cuda:1, mps"):
        h3n.load(tiny_model, device="gpu")
    with pytest.raises(UsageError, match="0 threads"):
        h3n.load(tiny_model, threads=0)
    before = torch.get_num_threads()
    try:
        assert h3n.load(tiny_model).threads == 1
        assert torch.get_num_threads() == before
        assert h3n.load(tiny_model, device="auto", threads=2).threads == 2
        assert torch.get_num_threads() == 1
    finally:
        torch.set_num_threads(before)


def test_int8_is_nearly_the_same(tiny_model: Path) -> None:
    plain, rounded = h3n.load(tiny_model, precision="float32"), h3n.load(tiny_model, precision="int8")
    text = "This dog saw the old house near Oslo. Oslo found every telescope. The teacher saw a tall dog."
    one, other = list(plain.parse(text)), list(rounded.parse(text))
    same = sum(a == b for x, y in zip(one, other, strict=True) for a, b in zip(x.heads, y.heads, strict=True))
    assert same >= 0.9 * sum(map(len, one))
    sure = [arc.confidence for result in one for arc in result.arcs]
    other_sure = [arc.confidence for result in other for arc in result.arcs]
    assert sure != other_sure
    assert sum(abs(a - b) for a, b in zip(sure, other_sure, strict=True)) < 0.05 * len(sure)


def test_int8_does_not_depend_on_the_batch(tiny_model: Path) -> None:
    parser = h3n.load(tiny_model, precision="int8")
    given = [["this", "dog", "saw", "Oslo"], ["the", "old", "old", "old", "house", "."], ["a"]]
    together = list(parser.parse(given))
    for words, result in zip(given, together, strict=True):
        (alone,) = parser.parse(words=words)
        assert [a.confidence for a in alone.arcs] == pytest.approx([a.confidence for a in result.arcs], abs=1e-4)


def test_wrong_precision(tiny_model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UnknownName, match="unknown precision 'int4'; known: auto, float32, int8"):
        h3n.load(tiny_model, precision="int4")
    with monkeypatch.context() as patch:
        patch.setattr("h3n.parser.loading._device", lambda _: "cuda")  # as where there is one
        with pytest.raises(UsageError, match="precision int8 with device cuda; it is for cpu alone"):
            h3n.load(tiny_model, device="cuda", precision="int8")
    monkeypatch.setattr("h3n.engine.native._layers", None)
    with pytest.raises(UsageError, match="8-bit layers are not built for this platform; accepted: float32"):
        h3n.load(tiny_model, precision="int8")
