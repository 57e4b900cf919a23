"""Where models of one's own are, and how they get there."""

from __future__ import annotations

from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

from h3n import models
from h3n.errors import InputError, UsageError

ABOUT = '{"version": 1, "config": {}, "vocabulary": {}}'


def model(folder: Path) -> Path:
    folder.mkdir(parents=True)
    (folder / "parser.json").write_text(ABOUT)
    return folder


@pytest.fixture(autouse=True)
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("H3N_MODELS", str(tmp_path / "own"))
    return tmp_path / "own"


def test_a_model_is_kept_under_a_name(own: Path, tmp_path: Path) -> None:
    run = tmp_path / "runs" / "mine"
    model(run / "model")
    assert models.add(run, "mine") == own / "mine"
    assert models.locate("mine") == own / "mine"
    assert (own / "mine" / "parser.json").read_text() == ABOUT
    with pytest.raises(UsageError, match="there is a model 'mine' already"):
        models.add(run, "mine")
    with pytest.raises(UsageError, match=r"name '\.\./x': letters"):
        models.add(run, "../x")


def test_the_folder_of_a_run_stands_for_its_model(tmp_path: Path) -> None:
    model(tmp_path / "run" / "model")
    assert models.locate(tmp_path / "run") == tmp_path / "run" / "model"
    assert models.locate(model(tmp_path / "other")) == tmp_path / "other"


def test_no_name_is_not_the_current_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model(tmp_path / "here")
    monkeypatch.chdir(tmp_path / "here")
    with pytest.raises(InputError, match="no model ''; expected a name"):
        models.locate("")


def test_packages_bring_models(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model(tmp_path / "site" / "h3n_en_large")
    (tmp_path / "site" / "h3n_en_large" / "__init__.py").write_text("raise RuntimeError('imported')\n")
    monkeypatch.syspath_prepend(str(tmp_path / "site"))
    entries = [
        EntryPoint("en-large", "h3n_en_large", "h3n.models"),
        EntryPoint("gone", "no_such_package", "h3n.models"),
    ]
    monkeypatch.setattr(models, "entry_points", lambda *, group: entries if group == "h3n.models" else [])
    assert models.locate("en-large") == tmp_path / "site" / "h3n_en_large"
    assert "gone" not in models.installed()
