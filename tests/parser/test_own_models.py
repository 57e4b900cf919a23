"""Where models of one's own are, and how they get there."""

from __future__ import annotations

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


def package(site: Path, name: str, *, entry: str, files: list[str]) -> None:
    """Write what pip leaves of a package beside its files: its name, its entry point and the list of its files."""
    about = site / f"{name}-1.0.dist-info"
    about.mkdir(parents=True)
    (about / "METADATA").write_text(f"Metadata-Version: 2.4\nName: {name}\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text(f"[h3n.models]\n{entry}\n")
    (about / "RECORD").write_text("".join(f"{file},,\n" for file in files))


def test_packages_bring_models_and_are_not_imported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    site = tmp_path / "site"
    model(site / "h3n_en_large")
    model(site / "others" / "deep" / "fr")
    for folder in (site / "h3n_en_large", site / "others", site / "others" / "deep"):
        (folder / "__init__.py").write_text("raise RuntimeError('imported')\n")
    package(site, "h3n_en_large", entry="en-large = h3n_en_large", files=["h3n_en_large/parser.json"])
    package(site, "others", entry="fr = others.deep", files=["others/deep/fr/parser.json"])
    package(site, "gone", entry="gone = gone", files=["gone/parser.json"])
    package(site, "sly", entry="sly = h3n_en_large", files=["sly/parser.json"])  # the files of another
    monkeypatch.syspath_prepend(str(site))
    assert models.locate("en-large") == site / "h3n_en_large"
    assert models.locate("fr") == site / "others" / "deep" / "fr"
    assert not {"gone", "sly"} & set(models.installed())


def test_a_model_of_ours_that_is_not_installed_is_named_with_its_package() -> None:
    with pytest.raises(InputError, match=r"^model 'en-large' comes as a package of its own: pip install h3n-en-large$"):
        models.locate("en-large")
