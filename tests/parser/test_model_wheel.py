"""A model as a package: a wheel of files alone, found by its name once it is installed."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

pytest.importorskip("build", reason="needs build")
pytest.importorskip("scikit_build_core", reason="needs scikit-build-core")
ROOT = Path(__file__).parents[2]
PROGRAM = ROOT / "models" / "wheel.py"
pytestmark = pytest.mark.skipif(not PROGRAM.is_file(), reason="the folder models is not in every copy of the source")


def build(model: Path, dist: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(PROGRAM), str(ROOT / "models" / "en-large"), str(model), str(dist)]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)


def test_a_wheel_brings_the_large_model(tiny_model: Path, tmp_path: Path) -> None:
    model = shutil.copytree(tiny_model, tmp_path / "model")
    (model / "README.md").write_text("# en-large\n\n- Language: English\n", encoding="utf-8")
    (model / "code.py").write_text("raise RuntimeError\n", encoding="utf-8")
    built = build(model, tmp_path / "dist")
    assert built.returncode == 0, built.stdout + built.stderr
    (wheel,) = (tmp_path / "dist").glob("*.whl")
    assert wheel.name == "h3n_en_large-0.1.0-py3-none-any.whl"
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        metadata = archive.read("h3n_en_large-0.1.0.dist-info/METADATA").decode()
    assert not [name for name in names if name.endswith(".py")]
    assert "License-Expression: Apache-2.0 AND CC-BY-SA-4.0\n" in metadata
    for licence in ("LICENSE-MODELS", "LICENSES/CC-BY-SA-4.0.txt", "LICENSES/Apache-2.0.txt"):
        assert f"License-File: {licence}\n" in metadata
        assert f"h3n_en_large-0.1.0.dist-info/licenses/{licence}" in names

    site = tmp_path / "site"
    with zipfile.ZipFile(wheel) as archive:  # which is what pip does with a wheel of files alone
        archive.extractall(site)
    environment = os.environ | {"PYTHONPATH": str(site), "OMP_NUM_THREADS": "1", "H3N_MODELS": str(tmp_path / "own")}
    run = [sys.executable, "-m", "h3n"]
    said = subprocess.run([*run, "model", "list"], env=environment, capture_output=True, text=True, timeout=120)
    assert "en-large" in said.stdout, said.stderr
    asked = [*run, "parse", "--model", "en-large", "--to", "brackets", "--text", "The dog sees the house."]
    said = subprocess.run(asked, env=environment, capture_output=True, text=True, timeout=120)
    assert "(NN house)" in said.stdout, said.stderr
    load = "import h3n; print(h3n.load('en-large').source.folder)"
    said = subprocess.run([sys.executable, "-c", load], env=environment, capture_output=True, text=True, timeout=120)
    assert said.stdout.strip() == str(site / "h3n_en_large"), said.stderr


def test_a_model_without_a_card_is_not_published(tiny_model: Path, tmp_path: Path) -> None:
    model = shutil.copytree(tiny_model, tmp_path / "model")
    (model / "README.md").unlink(missing_ok=True)
    built = build(model, tmp_path / "dist")
    assert built.returncode == 2
    assert "a model without a card" in built.stderr
