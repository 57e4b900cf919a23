"""The notebooks in examples/ run from top to bottom, without warnings, and show what their text talks about."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

nbformat = pytest.importorskip("nbformat", reason="the notebooks need nbformat")
nbclient = pytest.importorskip("nbclient", reason="the notebooks need nbclient")
pytest.importorskip("ipykernel", reason="the notebooks need ipykernel")

EXAMPLES = Path(__file__).parents[1] / "examples"
NOTEBOOKS = sorted(EXAMPLES.glob("*.ipynb"))
# What each needs of the extras, how many pictures it shows, and words of its output that its text relies on.
NEEDS = {"five-minutes": "pandas", "train-on-your-treebank": "matplotlib", "decoders-and-head-scores": "matplotlib"}
PICTURES = {"five-minutes": 4, "train-on-your-treebank": 3, "decoders-and-head-scores": 5}
SAYS = {
    "five-minutes": ["head: making", "nsubj    of making", "1\tShe\t"],
    "train-on-your-treebank": ["200 of 200 sentences agree", "epoch  8 ", "LAS"],
    "decoders-and-head-scores": [
        "hpsg                 gone ",
        "h3n      soft        gone ",
        "h3n      tree        chased ",
    ],
}


def outputs_of(notebook: Any) -> list[Any]:
    return [output for cell in notebook.cells for output in cell.get("outputs", [])]


def test_there_are_three() -> None:
    assert {path.stem for path in NOTEBOOKS} == set(PICTURES)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebooks_are_kept_without_outputs(path: Path) -> None:
    notebook = nbformat.read(path, as_version=4)
    nbformat.validate(notebook)
    assert not outputs_of(notebook)
    assert all(cell.execution_count is None for cell in notebook.cells if cell.cell_type == "code")


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebooks_run(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip(NEEDS[path.stem], reason=f"{path.name} needs {NEEDS[path.stem]}")
    for name in ("IPYTHONDIR", "JUPYTER_RUNTIME_DIR", "MPLCONFIGDIR", "TMPDIR"):
        (tmp_path / name).mkdir()
        monkeypatch.setenv(name, str(tmp_path / name))
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    monkeypatch.setenv("JUPYTER_PLATFORM_DIRS", "1")
    shutil.copytree(EXAMPLES / "treebank", tmp_path / "treebank")
    notebook = nbformat.read(path, as_version=4)
    client = nbclient.NotebookClient(notebook, timeout=300, resources={"metadata": {"path": str(tmp_path)}})
    client.execute()
    outputs = outputs_of(notebook)
    printed = "".join(output.text for output in outputs if output.output_type == "stream" and output.name == "stdout")
    assert not [output.text for output in outputs if output.output_type == "stream" and output.name == "stderr"]
    pictures = [output for output in outputs if {"image/svg+xml", "image/png"} & set(output.get("data", {}))]
    assert len(pictures) >= PICTURES[path.stem]
    missing = [words for words in SAYS[path.stem] if words not in printed]
    assert not missing, printed
